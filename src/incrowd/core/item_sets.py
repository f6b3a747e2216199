"""People and their sets of items, as counts of distinct sets: what a tally is for a table, this is for sets.

Sets lie one behind the other in two arrays. Everybody with the same set (and the same sensitive value, where there is
one) is counted in one entry, so that methods never see people. The order of the sets depends on nothing but the sets.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.hierarchies.tree import MISSING
from incrowd.kernels.set_arrays import hash_sets, number_sets, shown_sets, take_sets


@dataclass(frozen=True, eq=False)
class ItemSets:
    """Distinct sets, and how many people have each.

    Set s holds `items[offsets[s]:offsets[s + 1]]`, ascending and each once; `counts[s]` people have it. Items are codes
    of a tree, or numbers of its nodes where the sets are published ones. The number 0 is never among them. `sensitive`
    is the code of a sensitive value that these people have, where there is one; `parts` is the number of the group that
    they are in, where people are grouped by something else and each group is judged by itself. People with one set and
    two values, or in two groups, are two entries.
    """

    offsets: Ints
    items: Codes
    counts: Counts
    sensitive: Codes | None = None
    parts: Ints | None = None

    @classmethod
    def from_pairs(
        cls,
        person: Ints,
        item: Codes,
        *,
        people: int | None = None,
        sensitive: Codes | None = None,
        parts: Ints | None = None,
    ) -> tuple[ItemSets, Ints]:
        """Collect the sets of people numbered from 0; return them, and the entry of each person.

        A missing item (code 0) says nothing and is left out; so does having an item twice. `people` is how many there
        are, where the last ones may have no item at all; `sensitive` and `parts` have one entry per person.

        >>> sets, entry = ItemSets.from_pairs(np.array([0, 1, 0, 1, 2]), np.array([2, 1, 1, 2, 1]))
        >>> sets.counts[entry].tolist(), sets.people, sets.occurrences
        ([2, 2, 1], 3, 5)
        """
        number = _people(person, people, sensitive, parts)
        kept = item != MISSING
        bits = max(int(item.max(initial=0)), 1).bit_length()
        keys = np.sort((person[kept].astype(np.int64) << bits) | item[kept].astype(np.int64))
        if len(keys):
            keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
        offsets = np.zeros(number + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys >> bits, minlength=number), out=offsets[1:])
        items = (keys & ((1 << bits) - 1)).astype(np.int32)
        ones = np.ones(number, dtype=np.int64)
        values = None if sensitive is None else np.ascontiguousarray(sensitive, dtype=np.int32)
        groups = None if parts is None else np.ascontiguousarray(parts, dtype=np.int64)
        return cls(offsets, items, ones, values, groups).merged()

    def merged(self) -> tuple[ItemSets, Ints]:
        """Return the same people with equal sets in one entry, and the new entry of each old one."""
        apart = np.zeros(len(self), dtype=np.int64)  # what keeps people with equal sets apart
        if self.sensitive is not None:
            apart += self.sensitive.astype(np.int64) + 1
        if self.parts is not None:
            apart += self.parts * (int(apart.max(initial=0)) + 1)
        hashes = hash_sets(self.offsets, self.items, apart)
        order = np.argsort(hashes, kind="stable")
        entry, first = number_sets(self.offsets, self.items, apart, hashes, order)
        counts = np.zeros(len(first), dtype=np.int64)
        np.add.at(counts, entry, self.counts)
        return replace(self.take(first), counts=counts), entry

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def people(self) -> int:
        """How many people there are, those without any item included."""
        return int(self.counts.sum())

    @property
    def lengths(self) -> Ints:
        """How many items each set has."""
        return np.diff(self.offsets)

    @property
    def occurrences(self) -> int:
        """How many items all people have together."""
        return int((self.counts * self.lengths).sum())

    @property
    def owners(self) -> Ints:
        """The set that each place of `items` belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def item_counts(self, size: int) -> Counts:
        """Return how many people have each item below `size`."""
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, self.items, np.repeat(self.counts, self.lengths))
        return counts

    def take(self, chosen: Ints | Bools) -> ItemSets:
        """Return some of the sets, by their numbers or by a mask."""
        numbers = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else np.asarray(chosen, dtype=np.int64)
        offsets, items = take_sets(self.offsets, self.items, numbers)
        values = None if self.sensitive is None else self.sensitive[numbers]
        parts = None if self.parts is None else self.parts[numbers]
        return ItemSets(offsets, items, self.counts[numbers], values, parts)

    def shown_as(self, nodes: Codes) -> ItemSets:
        """Return what people show, entry by entry, where `nodes` has a node for each place of `items`, or 0 for none.

        Nodes that a set shows twice are one. Entries are not merged: they stay those of the original sets.
        """
        offsets, items = shown_sets(self.offsets, np.ascontiguousarray(nodes, dtype=np.int32))
        return replace(self, offsets=offsets, items=items)


def _people(person: Ints, people: int | None, sensitive: Codes | None, parts: Ints | None) -> int:
    """Return how many people there are, and refuse arrays that do not agree on it."""
    of_each = [len(array) for array in (sensitive, parts) if array is not None]
    most = int(person.max(initial=-1)) + 1
    number = max(most, *of_each, 0) if people is None else people
    if int(person.min(initial=0)) < 0 or most > number or any(length != number for length in of_each):
        raise ValueError("people are numbered from 0, and each has one sensitive value and one part where any has")
    return number
