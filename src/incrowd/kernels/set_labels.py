"""Show one more label in as many sets as is safe: the inner loop of recoding by occurrence.

`labels[place]` is the label that is shown for the item at that place, 0 for none. Where several places of a set have
one label, `leads` marks one of them, so that a set's labels can be read without repetition. The loops are in
`native/set_labels.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Counts, Ints


def sets_lacking(
    starts: Ints, holders: Codes, places: Ints, labels: Codes, low: int, high: int, seen: Codes, stamp: int, alone: bool
) -> Ints:
    """Return the sets with an item from `low` to `high` that shows no label yet.

    With `alone`, leave out sets in which another item of the run shows a label. `seen` remembers by `stamp` who was
    met or left out.
    """
    members: Ints = call("sets_lacking", starts, holders, places, labels, low, high, seen, stamp, alone)
    return members


def write_labels(offsets: Ints, labels: Codes, leads: Bools, members: Ints) -> tuple[Ints, Codes]:
    """Write down the labels that these sets show, ascending."""
    new_offsets = np.zeros(len(members) + 1, dtype=np.int64)
    new_items = call("write_labels", offsets, labels, leads, members, new_offsets)
    return new_offsets, new_items


def give_label(
    offsets: Ints, items: Codes, labels: Codes, leads: Bools, members: Ints, low: int, high: int, label: int
) -> None:
    """Show a label in these sets, for all their items from `low` to `high` that show none yet."""
    call("give_label", offsets, items, labels, leads, members, low, high, label)


def peel(
    offsets: Ints, items: Codes, counts: Counts, sensitive: Codes, values: int, numbers: int, known: int, k: int,
    share: float, first: int,
) -> Bools:  # fmt: skip
    """Return which sets may show one more label, so that all combinations with that label are safe in them.

    All combinations of at most `known` - 1 other labels are counted over the sets that are still in; sets with an
    unsafe one go out, which may make others unsafe; so on until none is. `numbers` bounds the labels, and sensitive
    codes below `first` are missing values that are ignored.
    """
    inside = np.ones(len(counts), dtype=np.bool_)
    call("peel", offsets, items, counts, sensitive, values, numbers, known, k, float(share), first, inside)
    return inside
