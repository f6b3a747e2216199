"""Sets of a column's values, for people who have several: each set is a code of its own, behind those of the values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass
from incrowd.kernels.keys import rank_keys


@dataclass(frozen=True, eq=False)
class ValueSets:
    """Distinct sets of at least two codes: set i is `codes[offsets[i]:offsets[i + 1]]`, in ascending order."""

    offsets: NDArray[np.int64]
    codes: Codes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def unfold(self, codes: Codes, first_set: int) -> tuple[Ints, Codes]:
        """Return, for codes of values and sets, each single value with the place of the code that it comes from.

        Codes from `first_set` on are sets.
        """
        is_set = codes >= first_set
        chosen = np.where(is_set, codes - first_set, 0)
        lengths = np.where(is_set, self.offsets[chosen + 1] - self.offsets[chosen], 1)
        place = np.repeat(np.arange(len(codes)), lengths)
        nth = np.arange(len(place)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        within = np.minimum(self.offsets[chosen][place] + nth, max(len(self.codes) - 1, 0))
        single = np.where(is_set[place], self.codes[within], codes[place])
        return place, single.astype(np.int32)


def number_sets(owner: Ints, codes: Codes, size: int) -> tuple[Ints, ValueSets]:
    """Number the distinct sets of codes; return each owner's number.

    `owner` and `codes` are aligned, sorted by both and without repetitions; owners are 0, 1, 2, …, and codes are below
    `size`. The numbers depend on the sets alone, not on who has them. Cost: a sort per place within the longest set,
    each of those who have that many.
    """
    owners = int(owner[-1]) + 1 if len(owner) else 0
    starts = np.searchsorted(owner, np.arange(owners + 1))
    lengths = np.diff(starts)
    number = np.zeros(owners, dtype=np.int64)
    going_on = np.arange(owners)
    for nth in range(int(lengths.max(initial=0))):
        going_on = going_on[lengths[going_on] > nth]
        keys = number[going_on] * size + codes[starts[going_on] + nth]
        room = (int(number.max()) + 1) * size
        # Sets that have ended keep their numbers; those that go on get higher ones.
        number[going_on] = int(number.max()) + 1 + rank_keys(keys, room)[0]
    number, first = rank_keys(number, int(number.max(initial=0)) + 1)
    kept = lengths[first]
    offsets = np.concatenate(([0], np.cumsum(kept)))
    places = np.repeat(starts[first] - offsets[:-1], kept) + np.arange(offsets[-1])
    return number, ValueSets(offsets, codes[places].astype(np.int32))
