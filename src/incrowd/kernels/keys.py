"""Number distinct keys, grouping without sorting, and count equal ones. The loops are in `native/keys.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.common.arrays import Codes, Counts, Ints


def number_keys(keys: Ints) -> tuple[Ints, int]:
    """Return the number of each key, in the order in which they are first met, and how many there are."""
    numbers = np.empty(len(keys), dtype=np.int64)
    return numbers, call("number_keys", keys, numbers)


def count_moved(
    keys: Ints, codes: Codes, counts: Counts, columns: Sequence[int], steps: Sequence[Ints], wanted: Ints
) -> Counts:
    """Return how many rows have a wanted key after each of some moves.

    A move adds `steps[move][code]` to a row's key, by its code in a column.
    """
    offsets = np.cumsum([0, *(len(step) for step in steps)])[:-1]
    found = np.zeros(len(columns), dtype=np.int64)
    together = np.concatenate([np.empty(0, dtype=np.int64), *steps])
    call("count_moved", keys, codes, counts, np.array(columns, np.int64), offsets, together, wanted, found, threads())
    return found
