"""Number distinct keys, grouping without sorting. The loop is in `native/keys.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Ints


def number_keys(keys: Ints) -> tuple[Ints, int]:
    """Return the number of each key, in the order in which they are first met, and how many there are."""
    numbers = np.empty(len(keys), dtype=np.int64)
    return numbers, call("number_keys", keys, numbers)
