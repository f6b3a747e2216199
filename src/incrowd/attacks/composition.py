"""Composition (Ganta, Kasiviswanathan & Smith 2008): two releases about the same people, each safe by itself. What the
crowds of both have in common is left; often it is one value.

Two rules are tried, and the better one counts: beliefs are multiplied, and divided by the frequencies that they all start
from, as if releases were independent; or values that all crowds have are believed in as much as on average. The
baseline is the best of the releases alone. Cost: that of `beliefs.py` for each release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.attacks.beliefs import Beliefs, beliefs_about, hits
from incrowd.attacks.columns import lacks_secret, the_secret
from incrowd.attacks.matches import Floats
from incrowd.attacks.risk import Risk, Threat
from incrowd.attacks.target import Target, view_of
from incrowd.hierarchies.tree import Codes, Tree
from incrowd.hierarchies.values import as_text

_UNLIKELY = 1e-12


@dataclass(frozen=True)
class Composition:
    """Guess by all releases together."""

    column: str | None = None
    name: ClassVar[str] = "composition"
    threat: ClassVar[Threat] = "inference"

    def lacks(self, target: Target) -> str | None:
        """Another release and the table before are needed."""
        if not target.earlier:
            return "no earlier release is given"
        return "the table before is needed" if target.truth is None else lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the common guess is right."""
        column = the_secret(self.name, target, self.column)
        beliefs = beliefs_about(target, column)
        others = _beliefs_of_earlier(target, column, beliefs)
        releases = [beliefs.shares, *(other.shares for other in others)]
        possible = np.all([shares > 0 for shares in releases], axis=0)
        # Where the crowds have nothing in common, one of the releases is about somebody else: nothing is ruled out.
        possible |= ~possible.any(axis=1, keepdims=True)
        rules = [_multiplied(releases, beliefs.prior, possible), _averaged(releases, possible)]
        rates = [beliefs.rate(hits(shares, beliefs.kind_of, beliefs.values)) for shares in rules]
        baseline = max(beliefs.rate(hits(shares, beliefs.kind_of, beliefs.values)) for shares in releases)
        value, shares = max(rates), rules[int(np.argmax(rates))]
        low, high = beliefs.interval(value)
        own = shares[beliefs.kind_of, beliefs.values]
        certain = beliefs.rate((possible.sum(axis=1) == 1)[beliefs.kind_of] & (own > 0))
        return Risk(
            attack=self.name,
            threat=self.threat,
            column=column,
            value=value,
            low=low,
            high=high,
            baseline=baseline,
            people=beliefs.people,
            worst=float(own.max(initial=0.0)),
            against="the best of the releases alone",
            says=f"{len(target.earlier) + 1} releases together give a person's {column} away in {value:.1%} of the "
            f"cases; the best of them alone in {baseline:.1%}. For {certain:.1%} only one value is left.",
            details={"only one value left": certain, "without any release": beliefs.right_before},
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


def _beliefs_of_earlier(target: Target, column: str, beliefs: Beliefs) -> list[Beliefs]:
    """Return what other releases say about the same people, in terms of this one's values."""
    from incrowd.kernels.beliefs import spread_shares

    found = []
    for form in target.earlier:
        view = view_of(form)
        if column not in view.sensitive:
            continue
        people = translate_people(target, view.columns, view.trees)
        known = (people >= 0).all(axis=1)
        crowds = view.crowds(column)
        matches = view.match(np.where(people < 0, 0, people).astype(np.int32), column)
        entries = crowds.values
        shares = spread_shares(
            matches.offsets, matches.crowds, matches.weights, entries.offsets, entries.values, entries.counts,
            crowds.sizes, view.trees[column].size,
        )  # fmt: skip
        ours = translated(view.trees[column], target.view.trees[column])
        here = np.zeros_like(beliefs.shares)
        np.add.at(here.T, ours[ours >= 0], shares[:, ours >= 0].T)
        here[~known | ~matches.matched] = beliefs.prior
        totals = here.sum(axis=1, keepdims=True)
        found.append(
            replace(beliefs, shares=np.where(totals > 0, here / np.where(totals > 0, totals, 1), beliefs.prior))
        )
    return found


def translate_people(target: Target, columns: tuple[str, ...], trees: Mapping[str, Tree]) -> Codes:
    """Return the people in terms of another release's columns and codes; -1 where it does not know a value."""
    people = target.people.tuples
    result = np.zeros((len(people), len(columns)), dtype=np.int32)
    for place, name in enumerate(columns):
        if name not in target.view.columns:
            result[:, place] = -1
            continue
        mine = target.view.columns.index(name)
        result[:, place] = translated(target.view.trees[name], trees[name])[people[:, mine]]
    return result


def translated(source: Tree, goal: Tree) -> Codes:
    """Return each code of a tree as the code of the same value in another one, or -1; missing stays missing."""
    if source is goal:
        return np.arange(source.size, dtype=np.int32)
    known = pl.DataFrame({"value": as_text(goal.values.slice(1)), "code": np.arange(1, goal.size, dtype=np.int32)})
    asked = pl.DataFrame({"value": as_text(source.values.slice(1))})
    found = asked.join(known, on="value", how="left", maintain_order="left")["code"].fill_null(-1)
    return np.concatenate(([0], found.to_numpy())).astype(np.int32)
