"""Find the unsafe combinations that a change of what is shown would bring: the inner loop of methods for sets.

A change replaces one node by others. Only sets with an item below that node change, and only combinations with a new
node can become unsafe; so the sets concerned are written down with their new nodes first, and only combinations that
begin with a new node are walked. The loops are in `native/set_conflicts.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Counts, Ints


def sets_with(starts: Ints, holders: Codes, low: int, high: int, seen: Codes, stamp: int) -> Ints:
    """Return the sets that have an item from `low` to `high`, each once; `seen` remembers by `stamp` who was met."""
    members: Ints = call("sets_with", starts, holders, low, high, seen, stamp)
    return members


def project(offsets: Ints, items: Codes, slots: Codes, members: Ints, low: int, high: int) -> tuple[Ints, Codes, Ints]:
    """Write down what these sets show: the slots of items from `low` to `high` first, then the others.

    `slots[item]` is -1 where nothing is shown. Slots ascend with items inside the run and outside of it, so that equal
    ones are neighbours. Sets that show none of the first kind are left out; return offsets, slots and the sets kept.
    """
    new_offsets, new_items, kept = call("shown_slots", offsets, items, slots, members, low, high)
    return new_offsets, new_items, kept


def without(offsets: Ints, items: Codes, kept: Ints, dropped: Bools, fresh: int) -> tuple[Ints, Codes, Ints]:
    """Take dropped slots out of sets that were written down; leave out sets that keep no slot below `fresh`."""
    new_offsets, new_items, new_kept = call("slots_without", offsets, items, kept, dropped, fresh)
    return new_offsets, new_items, new_kept


def find_conflicts(
    offsets: Ints, items: Codes, counts: Counts, sensitive: Codes, values: int, fresh: int, numbers: int, size: int,
    k: int, share: float, first: int, capacity: int,
) -> tuple[Codes, bool]:  # fmt: skip
    """Return unsafe combinations of exactly `size` slots, the first of them below `fresh`: at most `capacity` of them.

    Unsafe are fewer than k people, or a sensitive value of more than `share` of them; codes below `first` are missing
    values that are ignored. `numbers` bounds the slots; `counts` and `sensitive` are those of the sets written down.
    Return also whether there may be more.
    """
    conflicts, more = call(
        "find_conflicts", offsets, items, counts, sensitive, values, fresh, numbers, size, k, float(share), first,
        capacity,
    )  # fmt: skip
    return conflicts.reshape(-1, size), bool(more)
