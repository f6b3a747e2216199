"""Find the cuts of boxes that tell most about a class attribute. Boxes and trees are laid out as in `partition.py`."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled
from incrowd.kernels.old_partition import _boundary_level

_SAME_GAIN = 1e-9
"""Sums of logarithms differ by less than this for no other reason than rounding."""


@compiled
def _bits(count):
    return count * np.log2(count) if count > 0 else 0.0


@compiled
def _sort_members(codes, part_tuples, order, first, last, column, low, high, sorted_parts):
    """List a box's parts by their codes in a column; parts with the same code keep their order."""
    members = last - first
    if high - low < 8 * members + 64:
        nxt = np.zeros(high - low + 2, dtype=np.int64)
        for place in range(first, last):
            nxt[codes[part_tuples[order[place]], column] - low + 1] += 1
        for code in range(high - low + 1):
            nxt[code + 1] += nxt[code]
        for place in range(first, last):
            code = codes[part_tuples[order[place]], column] - low
            sorted_parts[nxt[code]] = order[place]
            nxt[code] += 1
        return
    own = np.empty(members, dtype=np.int64)
    for place in range(members):
        own[place] = codes[part_tuples[order[first + place]], column]
    by_code = np.argsort(own, kind="mergesort")
    for place in range(members):
        sorted_parts[place] = order[first + by_code[place]]


@compiled
def _best_cut(
    codes, part_tuples, part_counts, classes, parts, column, total, totals, min_group, base, size, height, nodes, lefts
):  # fmt: skip
    """Return the gain, first code to the right, and level of a column's best cut; a gain of -1 if there is none.

    A cut must leave `min_group` rows on either side. Only if none between the branches of the node that covers the box
    does, cuts inside them are looked at. Of cuts with equal gain, the one nearest to the median is the best.
    """
    top = -1
    for place in range(1, len(parts)):
        below, above = codes[part_tuples[parts[place - 1]], column], codes[part_tuples[parts[place]], column]
        if below != above:
            top = max(top, _boundary_level(nodes, base, size, height, below, above))
    best_gain, best_code, best_level, best_distance = -1.0, -1, 0, 0
    for inside in range(2):
        lefts[:] = 0
        left = np.int64(0)
        left_bits, right_bits, whole_bits = 0.0, 0.0, _bits(total)
        for index in range(len(totals)):
            right_bits += _bits(totals[index])
        unsplit = whole_bits - right_bits
        for place in range(len(parts) - 1):
            part = parts[place]
            own, count = classes[part_tuples[part]], part_counts[part]
            left_bits += _bits(lefts[own] + count) - _bits(lefts[own])
            right_bits += _bits(totals[own] - lefts[own] - count) - _bits(totals[own] - lefts[own])
            lefts[own] += count
            left += count
            below, above = codes[part_tuples[part], column], codes[part_tuples[parts[place + 1]], column]
            if below == above or min(left, total - left) < min_group:
                continue
            level = _boundary_level(nodes, base, size, height, below, above)
            if inside == 0 and level != top:
                continue
            gain = (unsplit - (_bits(left) - left_bits) - (_bits(total - left) - right_bits)) / total
            distance = abs(2 * left - total)
            if gain > best_gain + _SAME_GAIN or (gain > best_gain - _SAME_GAIN and distance < best_distance):
                best_gain, best_code, best_level, best_distance = gain, above, level, distance
        if best_code >= 0:
            break
    return best_gain, best_code, best_level


@compiled
def propose_gain_cuts(
    codes, part_tuples, part_counts, order, starts, sizes, classes, class_count, min_group,
    node_offsets, tree_sizes, heights, nodes, node_starts, tight, ranked, attempts, cut_columns, cuts,
):  # fmt: skip
    """Find, for every box, the best cut of the column with the most gain, or with the next most at a later attempt.

    Columns with equal gain are tried in the order of their widths, as `ranked` has them. Where no column is left that
    gains anything, `cut_columns[box]` is -1 and `attempts[box]` the number of columns.
    """
    columns = codes.shape[1]
    longest = 0
    for box in range(len(starts) - 1):
        longest = max(longest, starts[box + 1] - starts[box])
    sorted_parts = np.empty(longest, dtype=np.int64)
    local = np.full(class_count, -1, dtype=np.int64)
    met = np.empty(min(longest, class_count), dtype=np.int64)
    own_class = np.empty(len(classes), dtype=np.int64)
    gains = np.empty(columns)
    best_codes = np.empty(columns, dtype=np.int64)
    best_levels = np.empty(columns, dtype=np.int64)
    for box in range(len(starts) - 1):
        cut_columns[box] = -1
        if attempts[box] >= columns:
            continue
        first, last = starts[box], starts[box + 1]
        # Number the classes of this box alone, so that small boxes do not pay for rare classes elsewhere.
        kinds = 0
        for place in range(first, last):
            row = part_tuples[order[place]]
            if local[classes[row]] < 0:
                local[classes[row]] = kinds
                met[kinds] = classes[row]
                kinds += 1
            own_class[row] = local[classes[row]]
        totals = np.zeros(kinds, dtype=np.int64)
        for place in range(first, last):
            totals[own_class[part_tuples[order[place]]]] += part_counts[order[place]]
        for kind in range(kinds):
            local[met[kind]] = -1
        gains[:] = -1.0
        if kinds > 1 and sizes[box] >= 2 * min_group:
            lefts = np.zeros(kinds, dtype=np.int64)
            for column in range(columns):
                low, high = tight[box, column, 0], tight[box, column, 1]
                if low == high:
                    continue
                parts = sorted_parts[: last - first]
                _sort_members(codes, part_tuples, order, first, last, column, low, high, parts)
                gains[column], best_codes[column], best_levels[column] = _best_cut(
                    codes, part_tuples, part_counts, own_class, parts, column, sizes[box], totals, min_group,
                    node_offsets[column], tree_sizes[column], heights[column], nodes, lefts,
                )  # fmt: skip
        chosen = -1
        for _ in range(attempts[box] + 1):
            if chosen >= 0:
                gains[chosen] = -1.0
            chosen = -1
            for place in range(columns):
                column = ranked[box, place]
                if gains[column] > _SAME_GAIN and (chosen < 0 or gains[column] > gains[chosen] + _SAME_GAIN):
                    chosen = column
            if chosen < 0:
                break
        if chosen < 0:
            attempts[box] = columns
            continue
        base = node_offsets[chosen] + (best_levels[chosen] - 1) * tree_sizes[chosen]
        cut_columns[box] = chosen
        cuts[box] = 1 if best_levels[chosen] > heights[chosen] else node_starts[base + best_codes[chosen]]
