"""What a reader of a release takes a label for: the values that it may stand for.

A column's domain is its known values, and missing where the table misses any. `*` stands for all of it, although the
method may have known that nobody in the group misses the value: "any known value" is written alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.hierarchies import labels


def domain(before: Tally, name: str) -> tuple[int, int]:
    """Return the run of codes that are a column's domain."""
    return 0 if before.has_missing(name) else 1, before.trees[name].size


def reach(before: Tally, release: Labelled, name: str) -> tuple[Codes, Codes]:
    """Return, for each group, the run of codes that its label in a column may stand for."""
    shown = release.shown
    place = shown.columns.index(name)
    anything = (shown.labels[name] == labels.ANY).fill_null(value=False).to_numpy()
    first, last = domain(before, name)
    lows = np.where(anything, first, shown.lows[:, place]).astype(np.int32)
    highs = np.where(anything, last, shown.highs[:, place]).astype(np.int32)
    return lows, highs


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


def boxes_of_groups(before: Tally, release: Labelled) -> Boxes:
    """Return the boxes of all groups."""
    shown = release.shown
    runs = [reach(before, release, name) for name in shown.columns]
    lows, highs = (np.stack([run[side] for run in runs], axis=1) for side in (0, 1))
    bits, group = np.log2(highs - lows), np.arange(len(shown))
    for place, name in enumerate(shown.columns):
        if name not in shown.torn:
            continue
        label_of, pieces = shown.torn[name]
        torn = (shown.labels[name] != labels.ANY).fill_null(value=True).to_numpy()
        lengths = np.concatenate([[0], np.cumsum(pieces.highs - pieces.lows)])[pieces.offsets]
        bits[torn, place] = np.log2(np.diff(lengths)[label_of[torn]])
        label = label_of[group]
        many = np.where(torn[group], np.diff(pieces.offsets)[label], 1)
        index = np.repeat(np.arange(len(group)), many)
        piece = (np.arange(len(index)) - (np.cumsum(many) - many)[index]) + pieces.offsets[label][index]
        group, lows, highs = group[index], lows[index], highs[index]
        here = torn[group]
        lows[here, place], highs[here, place] = pieces.lows[piece[here]], pieces.highs[piece[here]]
    return Boxes(np.searchsorted(group, np.arange(len(shown) + 1)), lows, highs, bits.sum(axis=1))
