"""What a table shows while it is generalized: one line for tuples that show the same, for they do so ever after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.keys import numbers_to_add
from incrowd.methods.grouping import sum_up
from incrowd.methods.taxonomy import NOBODY, Cuts, group_values, number_groups


class ShownLines:
    """Lines with the codes of one of their tuples, their rows, and keys: lines that show the same have the same key."""

    def __init__(self, space: Cuts, cuts: Sequence[Ints], counts: Counts) -> None:
        self._numbers = numbers_to_add([len(taxonomy) for taxonomy in space.taxonomies])
        self.codes, self.counts = space.codes, counts
        self._cuts, self._keys = list(cuts), self.keys_of(cuts, space.codes)
        self.show(cuts)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def smallest(self) -> int:
        """The rows of the smallest group."""
        return int(self.counts.min(initial=NOBODY))

    def keys_of(self, cuts: Sequence[Ints], codes: Sequence[Codes]) -> Ints:
        """Return the keys of what some cuts show of each column's codes."""
        found = np.zeros(len(codes[0]), dtype=np.int64)
        for numbers, cut, own in zip(self._numbers, cuts, codes, strict=True):
            found += numbers[cut][own]
        return found

    def grouped(self, cuts: Sequence[Ints]) -> tuple[Ints, Counts]:
        """Return the group of each line if these cuts are shown, and the rows of each group."""
        group_of, groups = number_groups(self._moved(cuts))
        return group_of, sum_up(group_of, groups, self.counts)

    def show(self, cuts: Sequence[Ints]) -> None:
        """Show other cuts, which are nowhere below those before: one line for each group from now on."""
        self._cuts, self._keys = list(cuts), self._moved(cuts)
        group_of, groups = number_groups(self._keys)
        if groups < len(group_of):
            member = group_values(group_of, groups, np.arange(len(group_of)))
            self.codes, self._keys = [codes[member] for codes in self.codes], self._keys[member]
            self.counts = sum_up(group_of, groups, self.counts)

    def _moved(self, cuts: Sequence[Ints]) -> Ints:
        """Return the keys that lines have with other cuts."""
        keys = self._keys.copy()
        for numbers, before, after, codes in zip(self._numbers, self._cuts, cuts, self.codes, strict=True):
            if before is not after:
                keys += (numbers[after] - numbers[before])[codes]
        return keys
