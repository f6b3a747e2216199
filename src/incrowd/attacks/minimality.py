"""Minimality (Wong, Fu, Wang & Pei 2007): the adversary knows the method, and that it never hides more than it must.
A crowd that is larger than its size requires was kept together because a part of it would have broken the requirement,
and that says who has which value.

The adversary knows everybody's quasi-identifiers. Of all ways in which a crowd's values may belong to its members, only
those are left in which no cut at the middle of a column would have been allowed: ways are drawn at random, and the
others struck out. The baseline takes all ways as likely. Cost: crowds tried × ways × columns.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.arrays import Floats, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.attack import Attack
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Model
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.kernels.boxes_and_points_pairs import boxes_of_points

_LARGEST = 64
"""Larger crowds are passed over: most of their cuts are allowed by any way."""


@renamed(crowds="max_groups")
@dataclass(frozen=True)
class Minimality(Attack):
    """Guess values by knowing that the method never hides more than it must: why was this group not cut?

    Parameters
    ----------
    max_groups : how many groups to try at most, of those that could have been cut by their sizes (default: 500).
    ways : how many ways to deal out each group's values to its members (default: 200).
    column : the sensitive column to infer (default: the only one).

    It needs labels, the table before, and a requirement on sensitive values. The baseline takes all ways as equally
    likely.

    Reference: Wong, Fu, Wang & Pei (2007).
    """

    max_groups: int = 500
    ways: int = 200
    column: str | None = None
    name: ClassVar[str] = "minimality"
    plain_name: ClassVar[str] = "reasoning from how it was made"
    threat: ClassVar[Threat] = "inference"
    knows_kept_columns: ClassVar[bool] = False
    stream: ClassVar[int | None] = 11
    per_column: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "max_groups", self.max_groups, at_least=1)
        require_whole(self.name, "ways", self.ways, at_least=1)

    def lacks(self, target: Target) -> str | None:
        """Labels, the table before, and a requirement on sensitive values are needed."""
        if target.view.labels is None or target.form.private:
            return "the release has no groups that a method cut"
        if target.truth is None:
            return "the table before is needed"
        missing = lacks_secret(target, self.column)
        if missing is not None:
            return missing
        if not _about_values(target.require, the_secret(self.name, target, self.column)):
            return "no model speaks of sensitive values, so where the method stopped says nothing of them"
        if the_secret(self.name, target, self.column) in target.changes.by_chance:
            return "the method looked at values that chance had changed, and where it stopped tells of these alone"
        return None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the guess is right among members of crowds that could have been cut."""
        column = the_secret(self.name, target, self.column)
        models = _about_values(target.require, column)
        least = max((model.min_group for model in target.require), default=1)
        right = before = people = tried = 0.0
        worst = 0.0
        size = target.view.trees[column].size
        for members, values in _crowds(target, column, least, self.max_groups, rng):
            sides = _cuts(members, least)
            if not len(sides):
                continue
            ways = rng.permuted(np.tile(values, (self.ways, 1)), axis=1)
            left = ways[_stopped(ways, sides, models, column, target)]
            if not len(left):
                continue
            beliefs = np.stack([(left == value).mean(axis=0) for value in range(size)], axis=1)
            shares = np.bincount(values, minlength=size) / len(values)
            right += _hits(beliefs, values).sum()
            before += _hits(np.tile(shares, (len(values), 1)), values).sum()
            worst = max(worst, float(beliefs[np.arange(len(values)), values].max()))
            people += len(values)
            tried += 1
        value = right / people if people else 0.0
        baseline = before / people if people else 0.0
        return risk_of(
            self,
            column=column,
            value=value,
            trials=int(tried),  # what is dealt to one member of a crowd, another does not get
            baseline=baseline,
            people=int(people),
            worst=worst,
            against="the same crowds, not knowing the method",
            says=f"In {tried:,.0f} crowds that their sizes would have let the method cut, knowing that it did not "
            f"raises right guesses of {column} from {percent(baseline)} to {percent(value)}."
            if tried
            else "There is no crowd that its size would have let the method cut, and where that would have failed.",
            details={"crowds": tried},
        )


def _about_values(require: tuple[Model, ...], column: str) -> list[Model]:
    """Return the models that look at a sensitive column's histogram, and at nothing else."""
    return [
        model
        for model in require
        if not model.counts_households
        and model.looks_at_values
        and not model.needs_table
        and not model.whole_table
        and model.column in (None, column)
    ]


def _crowds(
    target: Target, column: str, least: int, number: int, rng: np.random.Generator
) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Return the members (codes) and their values of some crowds that are large enough to be cut.

    A member is a person of the table whom the crowd's labels fit, as many as the crowd has rows.
    """
    view, truth = target.view.labels, target.truth
    assert view is not None
    assert truth is not None
    sizes = view.form.group_sizes
    chosen = rng.permutation(np.flatnonzero((sizes >= 2 * least) & (sizes <= _LARGEST)))[:number]
    regions = view.regions.of(chosen)
    known = truth.codes_of(view.columns)
    offsets, crowds = boxes_of_points(regions.lows, regions.highs, known)
    person = np.repeat(np.arange(len(known)), np.diff(offsets))
    order = np.argsort(crowds, kind="stable")
    starts = np.searchsorted(crowds[order], np.arange(len(chosen) + 1))
    found = []
    for crowd in range(len(chosen)):  # some hundreds at most
        tuples = person[order[starts[crowd] : starts[crowd + 1]]]
        rows = np.repeat(tuples, truth.counts[tuples])
        if len(rows) == sizes[chosen[crowd]]:  # where labels overlap, it is not known who is in it
            found.append((known[rows], truth.column(column)[rows]))
    return found


def _cuts(members: NDArray[np.int32], least: int) -> NDArray[np.bool_]:
    """Return, for each column that can be cut at its middle, who is on the lower side."""
    sides = []
    for codes in members.T:
        middle = np.sort(codes)[len(codes) // 2]
        below = codes < middle
        if least <= below.sum() <= len(codes) - least:
            sides.append(below)
    return np.array(sides, dtype=bool).reshape(len(sides), len(members))


def _stopped(ways: Ints, sides: NDArray[np.bool_], models: list[Model], column: str, target: Target) -> Ints:
    """Return the ways in which no cut is allowed: in each, one of its two sides breaks a model."""
    assert target.truth is not None
    size = target.view.trees[column].size
    # One group for each way, cut and side.
    halves = np.concatenate([sides, ~sides])
    group = np.arange(len(ways) * len(halves)).reshape(len(ways), len(halves))
    inside = np.broadcast_to(halves[None], (len(ways), *halves.shape))
    keys = (group[:, :, None] * size + ways[:, None, :])[inside]
    cells, counts = np.unique(keys, return_counts=True)
    offsets = np.searchsorted(cells, np.arange(group.size + 1) * size)
    sizes = np.tile(halves.sum(axis=1), len(ways)).astype(np.int64)
    entries = Histogram(offsets, (cells % size).astype(np.int32), counts.astype(np.int64))
    whole = {column: target.truth.value_counts(column)}
    groups = Groups(sizes, {column: entries}, whole, {column: target.view.trees[column]}, table=target.truth)
    good = np.ones(group.size, dtype=bool)
    for model in models:
        good &= model.satisfied(groups)
    allowed = np.all(good.reshape(len(ways), 2, len(sides)), axis=1)
    return np.flatnonzero(~np.any(allowed, axis=1))


def _hits(beliefs: Floats, values: NDArray[np.int32]) -> Floats:
    best = beliefs >= beliefs.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(best[np.arange(len(values)), values] / best.sum(axis=1))
