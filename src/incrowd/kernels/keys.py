"""Number distinct keys: grouping without sorting."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def number_keys(keys):
    """Return the number of each key, in the order in which they are first met, and how many there are."""
    bits = 1
    while (1 << bits) < 2 * len(keys):
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int64)
    first = np.empty(len(keys), dtype=np.int64)
    numbers = np.empty(len(keys), dtype=np.int64)
    found = 0
    for place in range(len(keys)):
        slot = np.int64((np.uint64(keys[place]) * _SPREAD) >> shift)
        while slots[slot] >= 0 and keys[first[slots[slot]]] != keys[place]:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = place
            found += 1
        numbers[place] = slots[slot]
    return numbers, found
