"""Composition (Ganta, Kasiviswanathan & Smith 2008): two releases about the same people, each safe by itself. What the
crowds of both have in common is left; often it is one value.

Releases are read by every rule that needs nothing but the files (`beliefs.py`) and joined in two ways; the best counts.
Beliefs are multiplied, and divided by the frequencies that they all start from, as if releases were independent; or
values that all crowds have are believed in as much as on average. The baseline is the best of the releases alone.
Releases may have other columns: the adversary knows of people what the table before has of them. Cost: that of
`beliefs.py` for each release and rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.attacks.beliefs import ROUNDING, best_way, hits, ways_to_believe
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target
from incrowd.core.view import DENSEST, EVERY_ROW, TIGHTEST, View
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text
from incrowd.kernels.beliefs import spread_shares

_UNLIKELY = 1e-12


@dataclass(frozen=True)
class Composition(Attack):
    """Guess by all releases together.

    Parameters
    ----------
    column : the sensitive column to infer (default: the only one).

    It needs an earlier release and the table before. The baseline is the best of the releases alone.

    Reference: Ganta, Kasiviswanathan & Smith (2008).
    """

    column: str | None = None
    name: ClassVar[str] = "composition"
    plain_name: ClassVar[str] = "combining several releases"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 10
    per_column: ClassVar[bool] = True

    def lacks(self, target: Target) -> str | None:
        """Another release and the table before are needed."""
        if not target.earlier:
            return "no earlier release is given"
        return "the table before is needed" if target.truth is None else lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the common guess is right."""
        column = the_secret(self.name, target, self.column)
        views = [view for form in target.earlier if column in (view := form.view()).sensitive]
        known, kind_of, first = _all_that_is_known(target, views)
        ways = {way.rule: way for way in ways_to_believe(target, column)}
        alone = ways[EVERY_ROW]
        baseline = max(way.rate(way.right) for way in ways.values())
        best: tuple[float, Floats, NDArray[np.bool_]] | None = None
        for rule in (EVERY_ROW, DENSEST, TIGHTEST):
            here = ways.get(rule, alone)
            others = [_beliefs_by(view, known, target, column, alone.prior, rule) for view in views]
            releases = [here.shares[here.kind_of[first]], *others]
            baseline = max(baseline, *(alone.rate(hits(shares, kind_of, alone.values)) for shares in releases))
            possible = np.all([shares > 0 for shares in releases], axis=0)
            # Where the crowds have nothing in common, one of the releases is about somebody else: nothing is ruled out.
            possible |= ~possible.any(axis=1, keepdims=True)
            for joined in (_multiplied(releases, alone.prior, possible), _averaged(releases, possible)):
                rate = alone.rate(hits(joined, kind_of, alone.values))
                if best is None or rate > best[0] + ROUNDING:
                    best = rate, joined, possible
        assert best is not None
        value, shares, possible = best
        own = shares[kind_of, alone.values]
        certain = alone.rate((possible.sum(axis=1) == 1)[kind_of] & (own > 0))
        by_rows = ""
        if target.joined is not None:
            linked, rate = best_way(ways_to_believe(target.joined, column), lambda way: way.rate(way.right))
            if rate > value + ROUNDING:
                value, own = rate, linked.own
                certain = linked.rate(linked.own >= 1 - ROUNDING)
                by_rows = f" Rows are joined by: {', '.join(target.joined.joined_by)}."
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=alone.people,
            worst=float(own.max(initial=0.0)),
            against="the best of the releases alone",
            says=f"{len(views) + 1} releases together give a person's {column} away in {percent(value)} of the "
            f"cases; the best of them alone in {percent(baseline)}. For {percent(certain)} only one value is left."
            + by_rows,
            exposed=certain * alone.people,
            details={"only one value left": certain, "without any release": alone.right_before},
        )


def _multiplied(releases: Sequence[Floats], prior: Floats, possible: NDArray[np.bool_]) -> Floats:
    logs = sum(np.log(np.maximum(shares, _UNLIKELY**2)) for shares in releases)
    logs = logs - (len(releases) - 1) * np.log(np.maximum(prior, _UNLIKELY))
    product = np.exp(logs - logs.max(axis=1, keepdims=True, where=possible, initial=-np.inf))
    return _normalized(np.where(possible, product, 0.0))


def _averaged(releases: Sequence[Floats], possible: NDArray[np.bool_]) -> Floats:
    return _normalized(np.where(possible, np.mean(releases, axis=0), 0.0))


def _normalized(shares: Floats) -> Floats:
    totals = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.where(totals > 0, totals, 1.0))


def _all_that_is_known(target: Target, views: Sequence[View]) -> tuple[dict[str, Codes], Ints, Ints]:
    """Return the codes of distinct people in all columns that any release has, by those of the table before.

    Beside them, which of these people each line is, and one line of each.
    """
    truth, people = target.truth, target.people
    assert truth is not None
    asked = {name for view in (target.view, *views) for name in view.columns} - set(target.view.sensitive)
    names = [name for name in truth.columns if name in asked]
    codes = np.stack([truth.column(name)[people.lines] for name in names], axis=1)
    kind_of, first = group_tuples(codes, [truth.trees[name].size for name in names])
    return {name: codes[first, place] for place, name in enumerate(names)}, kind_of, first


def _beliefs_by(
    view: View, known: Mapping[str, Codes], target: Target, column: str, prior: Floats, rule: str
) -> Floats:
    """Return what another release says about people, in terms of this one's values; what is usual, if it is silent.

    It is read by the same `rule` as this one, where the rule makes a difference.
    """
    truth = target.truth
    assert truth is not None
    unknown = frozenset(view.columns) - known.keys()
    view = view.without(unknown)
    number = len(next(iter(known.values())))
    people = np.full((number, len(view.columns)), -1, dtype=np.int32)
    for place, name in enumerate(view.columns):
        if name in known:
            people[:, place] = translated(truth.trees[name], view.trees[name])[known[name]]
    matches = view.match(np.maximum(people, 0), column)
    matches = view.readings(matches).get(rule, matches)
    crowds = view.crowds(column)
    entries = crowds.values
    theirs = spread_shares(
        matches.offsets, matches.crowds, matches.weights, entries.offsets, entries.values, entries.counts,
        crowds.sizes, view.trees[column].size,
    )  # fmt: skip
    ours = translated(view.trees[column], target.view.trees[column])
    shares = np.zeros((number, len(prior)))
    shares[:, ours[ours >= 0]] = theirs[:, ours >= 0]
    totals = shares.sum(axis=1, keepdims=True)
    told = (people >= 0).all(axis=1, keepdims=True) & (totals > 0)
    return np.where(told, shares / np.where(told, totals, 1.0), prior)


def translated(source: Tree, goal: Tree) -> Codes:
    """Return each code of a tree as the code of the same value in another one, or -1; missing stays missing."""
    if source is goal:
        return np.arange(source.size, dtype=np.int32)
    known = pl.DataFrame({"value": as_text(goal.values.slice(1)), "code": np.arange(1, goal.size, dtype=np.int32)})
    asked = pl.DataFrame({"value": as_text(source.values.slice(1))})
    found = asked.join(known, on="value", how="left", maintain_order="left")["code"].fill_null(-1)
    return np.concatenate(([0], found.to_numpy())).astype(np.int32)
