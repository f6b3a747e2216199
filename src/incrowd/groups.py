"""Who hides together: the sizes of groups and what their members' sensitive values are. Models look at nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchies.tree import Tree
from incrowd.tally import Counts

Group = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each sensitive value occurs in each group, without the zeros.

    Group g has the entries `offsets[g]:offsets[g + 1]` of `values` (codes) and `counts` (all above 0).
    """

    offsets: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: Counts

    @cached_property
    def group_of(self) -> Group:
        """Group of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """Number of different values in each group."""
        return np.diff(self.offsets)

    @cached_property
    def largest(self) -> Counts:
        """Count of the most frequent value in each group."""
        largest = np.zeros(len(self.offsets) - 1, dtype=np.int64)
        np.maximum.at(largest, self.group_of, self.counts)
        return largest


@dataclass(frozen=True, eq=False)
class Groups:
    """Sizes of groups, and a histogram of each sensitive column over them.

    `whole[name]` counts the rows of the whole table by the column's codes, withheld ones included; where it is not
    given, the groups are the whole table. `trees` are the sensitive columns' hierarchies, for distances between values.
    `joint` counts the combinations of all sensitive columns together, each by any number of its own.
    """

    sizes: Counts
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    whole: Mapping[str, Counts] = field(default_factory=dict)
    trees: Mapping[str, Tree] = field(default_factory=dict)
    joint: Callable[[], Histogram] | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def shares(self, name: str) -> NDArray[np.float64]:
        """Return each value's share of the whole table, by code."""
        if name in self.whole:
            counts = self.whole[name].astype(np.float64)
        else:
            entries = self.sensitive[name]
            counts = np.bincount(entries.values, weights=entries.counts).astype(np.float64)
        total = counts.sum()
        return counts / total if total else counts


class LazyHistograms(Mapping[str, Histogram]):
    """Histograms that are counted when a model first asks for one: k-anonymity alone never does."""

    def __init__(self, names: tuple[str, ...], count: Callable[[str], Histogram]) -> None:
        self._names = names
        self._count = count
        self._counted: dict[str, Histogram] = {}

    def __getitem__(self, name: str) -> Histogram:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._counted:
            self._counted[name] = self._count(name)
        return self._counted[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def histogram(group_of: Group, codes: NDArray[np.int32], counts: Counts, groups: int) -> Histogram:
    """Count values per group; `group_of`, `codes` and `counts` are aligned, one entry per tuple."""
    size = int(codes.max(initial=0)) + 1
    key, index = np.unique(group_of * size + codes, return_inverse=True)
    totals = np.bincount(index, weights=counts, minlength=len(key)).astype(np.int64)
    offsets = np.searchsorted(key, np.arange(groups + 1, dtype=np.int64) * size)
    return Histogram(offsets, (key % size).astype(np.int32), totals)
