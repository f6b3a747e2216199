"""What a reader of a release takes a label for: the values that it may stand for.

A column's domain is its known values, and missing where the table misses any. `*` stands for all of it, although the
method may have known that nobody in the group misses the value: "any known value" is written alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.hierarchies.naming import Pieces


def domain(before: Tally, name: str) -> tuple[int, int]:
    """Return the run of codes that are a column's domain."""
    return 0 if before.has_missing(name) else 1, before.trees[name].size


def reach(before: Tally, release: Labelled, name: str) -> tuple[Codes, Codes]:
    """Return, for each group, the run of codes that its label in a column may stand for."""
    shown = release.shown
    place = shown.columns.index(name)
    anything = shown.stands_for_anything(name)
    first, last = domain(before, name)
    lows = np.where(anything, first, shown.lows[:, place]).astype(np.int32)
    highs = np.where(anything, last, shown.highs[:, place]).astype(np.int32)
    return lows, highs


@dataclass(frozen=True, eq=False)
class Meaning:
    """What the labels of groups may stand for in a column: the codes of a run, or of some pieces of it."""

    lows: Ints
    highs: Ints
    torn: Bools
    """Which groups have a label that leaves out codes between its first and its last."""
    label_of: Ints
    pieces: Pieces | None

    def mass(self, weights: NDArray[np.number]) -> NDArray[np.number]:
        """Return the sum of the weights of the codes that each group may stand for."""
        below = np.concatenate(([0], np.cumsum(weights)))
        found = below[self.highs] - below[self.lows]
        if self.pieces is not None:
            of_pieces = np.concatenate(([0], np.cumsum(below[self.pieces.highs] - below[self.pieces.lows])))
            of_labels = np.diff(of_pieces[self.pieces.offsets])
            found[self.torn] = of_labels[self.label_of[self.torn]]
        return found

    def widths(self, size: int) -> Ints:
        """Return how many codes each group may stand for, of so many that there are."""
        return self.mass(np.ones(size, dtype=np.int64)).astype(np.int64)

    def codes(self, groups: Ints, places: Ints) -> Ints:
        """Return the codes at some places among those that groups may stand for."""
        found = self.lows[groups] + places
        if self.pieces is not None:
            before = np.concatenate(([0], np.cumsum(self.pieces.highs - self.pieces.lows)))
            here = np.flatnonzero(self.torn[groups])
            wanted = before[self.pieces.offsets[self.label_of[groups[here]]]] + places[here]
            piece = np.searchsorted(before, wanted, side="right") - 1
            found[here] = self.pieces.lows[piece] + wanted - before[piece]
        return found


def meaning(before: Tally, release: Labelled, name: str) -> Meaning:
    """Return what the labels of a column may stand for, group by group."""
    shown = release.shown
    lows, highs = (ends.astype(np.int64) for ends in reach(before, release, name))
    if name not in shown.torn:
        nothing = np.zeros(len(shown), dtype=bool)
        return Meaning(lows, highs, nothing, np.empty(0, dtype=np.int64), None)
    label_of, pieces = shown.torn[name]
    return Meaning(lows, highs, ~shown.stands_for_anything(name), label_of, pieces)


@dataclass(frozen=True, eq=False)
class Boxes:
    """What groups may stand for, as boxes of codes: those of group g are `starts[g]:starts[g + 1]`.

    Names that are no neighbours make several boxes of a group; several such columns, each with each.
    """

    starts: Ints
    lows: Codes
    highs: Codes
    bits: Floats
    """How many combinations of codes a group may stand for, as a power of two."""


def boxes_of_groups(before: Tally, release: Labelled, columns: Sequence[str] | None = None) -> Boxes:
    """Return the boxes of all groups, in all columns that are shown or in some of them."""
    shown = release.shown
    columns = shown.columns if columns is None else columns
    meanings = [meaning(before, release, name) for name in columns]
    nothing = np.empty((len(shown), 0), dtype=np.int64)
    lows = np.stack([one.lows for one in meanings], axis=1) if meanings else nothing
    highs = np.stack([one.highs for one in meanings], axis=1) if meanings else nothing
    bits, group = np.zeros(len(shown)), np.arange(len(shown))
    for place, (name, meant) in enumerate(zip(columns, meanings, strict=True)):
        bits += np.log2(meant.widths(before.trees[name].size))
        if meant.pieces is None:
            continue
        pieces = meant.pieces
        label = meant.label_of[group]
        many = np.where(meant.torn[group], np.diff(pieces.offsets)[label], 1)
        index = np.repeat(np.arange(len(group)), many)
        piece = (np.arange(len(index)) - (np.cumsum(many) - many)[index]) + pieces.offsets[label][index]
        group, lows, highs = group[index], lows[index], highs[index]
        here = meant.torn[group]
        lows[here, place], highs[here, place] = pieces.lows[piece[here]], pieces.highs[piece[here]]
    starts = np.searchsorted(group, np.arange(len(shown) + 1))
    return Boxes(starts, lows.astype(np.int32), highs.astype(np.int32), bits)
