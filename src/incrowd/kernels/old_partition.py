"""Two loops of partition.py that are still needed by others."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def _boundary_level(nodes, base, size, height, below, above):
    """Return the level of the lowest node that holds both codes; the border of missing counts as one above the root."""
    if below == 0:
        return height + 1
    for level in range(height + 1):
        if nodes[base + level * size + below] == nodes[base + level * size + above]:
            return level
    return height


@compiled
def _count_codes(codes, part_tuples, part_counts, order, first, last, column, low, high, scratch, found, found_counts):
    """List the distinct codes of one column in a box, ascending, with their row counts; return how many there are."""
    members = last - first
    kinds = 0
    if high - low < 8 * members + 64:
        for place in range(first, last):
            part = order[place]
            scratch[codes[part_tuples[part], column] - low] += part_counts[part]
        for code in range(low, high + 1):
            if scratch[code - low] > 0:
                found[kinds] = code
                found_counts[kinds] = scratch[code - low]
                scratch[code - low] = 0
                kinds += 1
        return kinds
    own = np.empty(members, dtype=np.int64)
    for place in range(members):
        own[place] = codes[part_tuples[order[first + place]], column]
    for place in np.argsort(own):
        if kinds == 0 or found[kinds - 1] != own[place]:
            found[kinds] = own[place]
            found_counts[kinds] = 0
            kinds += 1
        found_counts[kinds - 1] += part_counts[order[first + place]]
    return kinds
