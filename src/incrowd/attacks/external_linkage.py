"""Linkage with an external table: names are known for everybody in it, and every published row is given the name of one
of the people whom its labels fit (Sweeney 2002). The rate of success is the marketer's risk, its largest chance the
journalist's (El Emam & Dankar 2008).

An external table may be out of date or misspelt. With a `tolerance`, numbers and dates fit that are off by this share
of their column's span; with `levels`, so do names that are siblings so many levels up. Cost: see
`kernels/boxes_and_points.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Codes, Counts
from incrowd.common.parameters import require_number, require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import group_tuples
from incrowd.core.target import Target
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.boxes_and_points import points_in_boxes


@dataclass(frozen=True)
class ExternalLinkage(Attack):
    """Give each row the name of one of the external people who fit it, all equally likely.

    Parameters
    ----------
    tolerance : numbers and dates also fit that are off by this share of their column's span (default: 0).
    levels : names also fit that are siblings this many levels up the hierarchy (default: 0).

    It needs an external table, which may be out of date or misspelt.

    Reference: Sweeney (2002); El Emam & Dankar (2008).
    """

    tolerance: float = 0.0
    levels: int = 0
    name: ClassVar[str] = "external-linkage"
    plain_name: ClassVar[str] = "naming rows with an outside list"
    threat: ClassVar[Threat] = "linkability"
    stream: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        require_number(self.name, "tolerance", self.tolerance, at_least=0)
        require_whole(self.name, "levels", self.levels, at_least=0)

    def lacks(self, target: Target) -> str | None:
        """Labels, and an external table, are needed."""
        if target.external is None:
            return "no external table is given"
        if target.view.labels is None or target.form.private:
            return "no row has labels of its own"
        if not set(target.external.columns) & set(target.view.columns):
            return "the external table has none of the quasi-identifiers"
        return None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the name is right. Where the table before is known, it tells how many of the people who are
        published can be in the external table: as many as have the same values in both.
        """
        target = target.with_outsiders
        view, external = target.view.labels, target.external
        assert view is not None
        assert external is not None
        known = [name for name in external.columns if name in view.columns]
        lows, highs = [], []
        for name in known:
            place = view.columns.index(name)
            widened = self._widened(view.trees[name], view.regions.lows[:, place], view.regions.highs[:, place])
            lows.append(widened[0])
            highs.append(widened[1])
        boxes = np.stack(lows, axis=1), np.stack(highs, axis=1)
        points = np.stack([external.codes[:, external.columns.index(name)] for name in known], axis=1)
        fitting = points_in_boxes(*boxes, points, external.counts)
        sizes = view.form.group_sizes
        right, looked_up = sizes.astype(np.float64), target.truth is not None and not self._forgiving
        if looked_up:
            tuples, both = _in_both(target, known, points, external.counts)
            right = np.minimum(right, points_in_boxes(*boxes, tuples, both))
        chances = np.divide(1.0, fitting, out=np.zeros(len(fitting)), where=fitting > 0)
        rows = int(sizes.sum())
        value = float((right * chances).sum() / max(rows, 1))
        worst = float(chances[right > 0].max(initial=0.0))
        people = int(external.counts.sum())
        assumed = "" if looked_up else " This assumes that everybody who is published is in the external table."
        return risk_of(
            self,
            value=value,
            baseline=1 / max(people, 1),
            people=rows,
            worst=worst,
            exposed=float(right[fitting == 1].sum()),
            says=f"Of {people:,} people with names, a row gets the right one in {percent(value, 2)} of the cases "
            f"(marketer); for the easiest row the chance is {percent(worst)} (journalist).{assumed}",
            details={
                "marketer": value,
                "journalist": worst,
                "rows that one person fits": float(sizes[fitting == 1].sum() / max(rows, 1)),
                "rows that nobody fits": float(sizes[fitting == 0].sum() / max(rows, 1)),
                **({"rows whose person is in it, at most": float(right.sum() / max(rows, 1))} if looked_up else {}),
            },
        )

    @property
    def _forgiving(self) -> bool:
        """Whether people of the external table may have other values than in the table."""
        return bool(self.tolerance or self.levels)

    def _widened(self, tree: Tree, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        """Return runs of codes that hold what is nearly right, too."""
        known = lows > MISSING
        if tree.size == 1:  # missing is all that there is
            return lows, highs
        if tree.ordered and self.tolerance:
            reach = self.tolerance * tree.span
            positions = tree.positions[1:]
            low = np.searchsorted(positions, tree.positions[np.maximum(lows, 1)] - reach, side="left") + 1
            high = np.searchsorted(positions, tree.positions[highs - 1] + reach, side="right") + 1
            return np.where(known, low, lows).astype(np.int32), np.where(known, high, highs).astype(np.int32)
        if not tree.ordered and self.levels:
            level = min(self.levels, tree.height)
            low, high = np.maximum(tree.starts[level][np.maximum(lows, 1)], 1), tree.ends[level][highs - 1]
            return np.where(known, low, lows).astype(np.int32), np.where(known, high, highs).astype(np.int32)
        return lows, highs


def _in_both(target: Target, known: Sequence[str], points: Codes, counts: Counts) -> tuple[Codes, Counts]:
    """Return what people have in the table before, and how many of them may be in the external table, too."""
    truth = target.truth
    assert truth is not None
    table = truth.codes_of(known)
    number, first = group_tuples(
        np.concatenate([table, points]) + 1, [target.view.trees[name].size + 1 for name in known]
    )
    here = np.bincount(number[: len(table)], weights=truth.counts, minlength=len(first))
    there = np.bincount(number[len(table) :], weights=counts, minlength=len(first))
    return np.concatenate([table, points])[first], np.minimum(here, there).astype(np.int64)
