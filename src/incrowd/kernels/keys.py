"""Pack tuples of codes into keys, and number distinct keys without sorting. The loops are in `native/keys.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Ints


def number_keys(keys: Ints) -> tuple[Ints, int]:
    """Return the number of each key, in the order in which they are first met, and how many there are."""
    numbers = np.empty(len(keys), dtype=np.int64)
    return numbers, call("number_keys", keys, numbers)


def pack_codes(codes: Codes, sizes: Ints) -> Ints:
    """Return a key for each tuple, in the order of tuples; `sizes[j]` bounds the codes of column j.

    The product of all sizes is at most 2^62.
    """
    keys = np.empty(len(codes), dtype=np.int64)
    call("pack_codes", codes, sizes, keys, threads())
    return keys
