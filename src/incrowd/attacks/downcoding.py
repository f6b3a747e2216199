"""Downcoding (Cohen, USENIX Security 2022): labels are made more specific from the release and the method alone.

A method that hides no more than it must shows the narrowest labels that hold its groups. So where a label could have
been narrower, somebody is at either end of it. The adversary replaces the labels of two rows of the group by these
ends, and needs no table of names for it. A range reaches from one cut of the release to another: the end is the piece
between the outermost cut and the next one. A node of a hierarchy that has two branches has people in both, or one of
the branches would have been shown; of a node with more, nobody knows in which. A level that all groups share is not the
narrowest label of each, and tells nothing here.

The baseline refines the same cells without knowing the method: members are anywhere in their label, so that a piece has
one with 1 − (1 − its share of the label)^members. Cost: one match of the table's tuples and the groups tried.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Bools, Counts, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.groups import Regions
from incrowd.core.labelled import Shown
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.hierarchies.tree import Tree
from incrowd.kernels.boxes_and_points_pairs import boxes_of_points


@dataclass(frozen=True)
class Downcoding(Attack):
    """Replace labels by more specific ones, by knowing that the method shows none that is wider than it must be.

    Parameters
    ----------
    max_groups : how many groups to try at most, chosen at random (default: 20000).

    Of each group and column, the labels of two rows are refined: to one end of the label, and to the other. A cell is
    right if a member of the group has a value there; which row is whose does not matter, as rows have no names. Groups
    are judged whose members are known: where labels of several groups hold for the same people, they are not.

    It needs labels and the table before. The baseline refines the same cells without knowing the method.

    Reference: Cohen (2022).
    """

    max_groups: int = 20_000
    name: ClassVar[str] = "downcoding"
    plain_name: ClassVar[str] = "making labels more exact"
    threat: ClassVar[Threat] = "inference"
    reaches_people: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_whole(self.name, "max_groups", self.max_groups, at_least=1)

    def lacks(self, target: Target) -> str | None:
        """Labels and the table before are needed."""
        if target.view.labels is None or target.form.private:
            return "the release has no labels to refine"
        return "the table before is needed" if target.truth is None else None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how many of the refined cells are right."""
        view = target.view.labels
        assert view is not None
        sizes = view.form.group_sizes
        chosen = np.sort(rng.permutation(len(sizes))[: self.max_groups])
        regions, members = view.regions.of(chosen), sizes[chosen]
        known = _Members.of(target, regions, members)
        refined = right = expected = narrowed = cells = 0.0
        for place, name in enumerate(regions.columns):
            tree = target.view.trees[name]
            lows, highs = regions.lows[:, place].astype(np.int64), regions.highs[:, place].astype(np.int64)
            cells += float(members[(highs - lows > 1) & known.known].sum())
            first, last, splits = _ends(view.form.written, tree, view.regions, place, lows, highs)
            tried = splits & known.known & (members >= 2)
            for low, high in ((lows, first), (last, highs)):
                share = np.divide(high - low, highs - lows, out=np.zeros(len(lows)), where=highs > lows)
                refined += float(tried.sum())
                right += float(known.has_between(name, low, high)[tried].sum())
                expected += float((1 - (1 - share[tried]) ** members[tried]).sum())
                narrowed += float((1 - share[tried]).sum())
        value = right / refined if refined else 0.0
        baseline = expected / refined if refined else 0.0
        share_refined = refined / cells if cells else 0.0
        return risk_of(
            self,
            value=value,
            baseline=baseline,
            people=int(members[known.known].sum()),
            trials=int(refined),
            against="the same cells, not knowing the method",
            says=f"{refined:,.0f} cells ({share_refined:.1%} of those with a range or set) can be made more specific "
            f"by knowing the method, and {value:.1%} of these are right; {baseline:.1%} would be without knowing it."
            if refined
            else "No label can be made more specific by knowing the method.",
            details={
                "cells refined": refined,
                "cells right": right,
                "share of cells refined": share_refined,
                "narrower by": narrowed / refined if refined else 0.0,
            },
        )


def _ends(written: Shown, tree: Tree, shown: Regions, place: int, lows: Ints, highs: Ints) -> tuple[Ints, Ints, Bools]:
    """Return where the first end of each label stops and the last one begins, and which labels have such ends."""
    if written == "level":
        return highs, lows, np.zeros(len(lows), dtype=bool)
    if written == "hierarchy":
        return _branches(tree, lows, highs)
    cuts = np.unique(np.concatenate([shown.lows[:, place], shown.highs[:, place]])).astype(np.int64)
    first = cuts[np.minimum(np.searchsorted(cuts, lows, side="right"), len(cuts) - 1)]
    last = cuts[np.maximum(np.searchsorted(cuts, highs, side="left") - 1, 0)]
    return first, last, (first > lows) & (first < highs)


def _branches(tree: Tree, lows: Ints, highs: Ints) -> tuple[Ints, Ints, Bools]:
    """Return the two branches of each node that has two: at the highest level at which it falls into several nodes."""
    first, last, split = highs.copy(), lows.copy(), np.zeros(len(lows), dtype=bool)
    for level in range(tree.height, -1, -1):
        ends, starts = (edges[level].astype(np.int64) for edges in (tree.ends, tree.starts))
        here = ~split & (ends[lows] < highs)
        first, last = np.where(here, ends[lows], first), np.where(here, starts[highs - 1], last)
        split |= here
    return first, last, split & (first == last)


@dataclass(frozen=True, eq=False)
class _Members:
    """Which tuples of the table are in which group, where that is known for certain."""

    target: Target
    crowd: Ints
    tuples: Ints
    known: Bools

    @classmethod
    def of(cls, target: Target, regions: Regions, sizes: Counts) -> _Members:
        truth = target.truth
        assert truth is not None
        codes = truth.codes_of(regions.columns)
        offsets, crowds = boxes_of_points(
            np.ascontiguousarray(regions.lows), np.ascontiguousarray(regions.highs), np.ascontiguousarray(codes)
        )
        person = np.repeat(np.arange(len(codes)), np.diff(offsets))
        meant = np.ones(len(crowds), dtype=bool)
        for place, name in enumerate(regions.columns):  # labels of sets: not all that lies between may be meant
            meant &= regions.means(name, crowds, codes[person, place])
        crowds, person = crowds[meant], person[meant]
        counted = np.bincount(crowds, truth.counts[person], len(sizes))
        return cls(target, crowds, person, counted == sizes)

    def has_between(self, name: str, lows: Ints, highs: Ints) -> Bools:
        """Return whether each group has a member with a code from low up to high."""
        assert self.target.truth is not None
        codes = self.target.truth.column(name)[self.tuples]
        inside = (codes >= lows[self.crowd]) & (codes < highs[self.crowd])
        found = np.zeros(len(self.known), dtype=bool)
        found[self.crowd[inside]] = True
        return found
