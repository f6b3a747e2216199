"""What a table shows while it is generalized: one line for tuples that show the same, for they do so ever after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.keys import numbers_to_add
from incrowd.methods.grouping import sum_up
from incrowd.methods.taxonomy import Cuts, group_values, number_groups


class ShownLines:
    """Lines with the codes of one of their tuples, their rows, and keys: lines that show the same have the same key."""

    def __init__(self, space: Cuts, cuts: Sequence[Ints], counts: Counts) -> None:
        from incrowd.kernels import keys

        self._kernel = keys
        self._numbers = numbers_to_add([len(taxonomy) for taxonomy in space.taxonomies])
        self.codes: Codes = np.stack(space.codes, axis=1)
        self.counts = counts
        self.keys = self.keys_of(cuts, space.codes)

    def __len__(self) -> int:
        return len(self.keys)

    def keys_of(self, cuts: Sequence[Ints], codes: Sequence[Codes]) -> Ints:
        """Return the keys of what some cuts show of each column's codes."""
        found = np.zeros(len(codes[0]), dtype=np.int64)
        for numbers, cut, own in zip(self._numbers, cuts, codes, strict=True):
            found += numbers[cut][own]
        return found

    def step(self, place: int, before: Ints, after: Ints) -> Ints:
        """Return what another cut of one column adds to a line's key, for each of the column's codes."""
        numbers = self._numbers[place]
        return np.asarray(numbers[after] - numbers[before])

    def moved_keys(self, place: int, step: Ints) -> Ints:
        """Return the keys after a step in one column."""
        return np.asarray(self.keys + step[self.codes[:, place]])

    def as_many(self, steps: Mapping[int, Ints], lines: Sequence[int]) -> Counts:
        """Return, for a step in each of some columns, how many rows then show the same as a given line."""
        rows, places = np.array(lines, dtype=np.int64), list(steps)
        added = [step[self.codes[row, place]] for row, (place, step) in zip(lines, steps.items(), strict=True)]
        wanted = self.keys[rows] + np.array(added, dtype=np.int64)
        return self._kernel.count_moved(self.keys, self.codes, self.counts, places, list(steps.values()), wanted)

    def merge(self) -> Ints:
        """Make one line of those that show the same by now; return where each line went."""
        line_of, lines = number_groups(self.keys)
        if lines < len(line_of):
            member = group_values(line_of, lines, np.arange(len(line_of)))
            self.codes, self.keys = self.codes[member], self.keys[member]
            self.counts = sum_up(line_of, lines, self.counts)
        return line_of
