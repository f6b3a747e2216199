"""Find where to cut boxes of tuples, and deal the tuples out to the pieces.

All open boxes are handled in one call. A box is a slice `starts[i]:starts[i + 1]` of `order`, which lists parts; part p
is `part_counts[p]` rows of tuple `part_tuples[p]`. Columns' trees come packed one after the other (`PackedTrees`).
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled

_NARROWEST = 1e-300


@compiled
def rank_columns(
    codes, part_tuples, order, starts, boxes, positions, spans, offsets, sizes, numeric, tight, ranked, widths
):  # fmt: skip
    """Find the occupied range of every column in each listed box, and rank columns by normalized width.

    `tight[box]` holds the ranges of the box that this one was cut from: a column that was constant there still is.
    """
    columns = codes.shape[1]
    varying = np.empty(columns, dtype=np.int64)
    for index in range(len(boxes)):
        box = boxes[index]
        first = part_tuples[order[starts[box]]]
        many = 0
        for column in range(columns):
            if tight[box, column, 0] != tight[box, column, 1]:
                varying[many] = column
                many += 1
                tight[box, column, 0] = codes[first, column]
                tight[box, column, 1] = codes[first, column]
        for place in range(starts[box] + 1, starts[box + 1]):
            row = part_tuples[order[place]]
            for which in range(many):
                column = varying[which]
                code = codes[row, column]
                if code < tight[box, column, 0]:
                    tight[box, column, 0] = code
                elif code > tight[box, column, 1]:
                    tight[box, column, 1] = code
        for column in range(columns):
            low, high = tight[box, column, 0], tight[box, column, 1]
            if low == high:
                widths[box, column] = 0.0
            elif low == 0:
                widths[box, column] = 1.0  # missing beside values can only be shown as anything
            elif numeric[column]:
                # Divided once, so that columns of the same relative width tie exactly; and never 0 for two values
                # that are too close to tell apart on the line, or the column would pass for a constant one.
                width = (positions[offsets[column] + high] - positions[offsets[column] + low]) / spans[column]
                widths[box, column] = max(width, _NARROWEST)
            else:
                widths[box, column] = (high - low) / max(sizes[column] - 2, 1)
            # insertion sort; columns come in the order of their names, so ties do not depend on the caller's order
            place = column
            while place > 0 and widths[box, ranked[box, place - 1]] < widths[box, column]:
                ranked[box, place] = ranked[box, place - 1]
                place -= 1
            ranked[box, place] = column


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


@compiled
def propose_cuts(
    codes, part_tuples, part_counts, order, starts, sizes, min_group, relaxed,
    offsets, node_offsets, tree_sizes, heights, nodes, node_starts,
    tight, ranked, widths, attempts, cut_columns, cuts, quotas,
):  # fmt: skip
    """Find the next promising cut of every box.

    `attempts[box]` says where to go on: each column is tried along its hierarchy first (even attempts), then freely
    (odd ones). A cut is promising if both pieces keep at least `min_group` rows. `cut_columns[box]` becomes its column,
    or -1 where nothing is left to try; `cuts[box]` the first code of the right piece; `quotas[box]`, for relaxed cuts,
    how many rows with that very code go to the left all the same.
    """
    boxes = len(starts) - 1
    columns = codes.shape[1]
    widest = 0
    for column in range(columns):
        widest = max(widest, tree_sizes[column])
    longest = 0
    for box in range(boxes):
        longest = max(longest, starts[box + 1] - starts[box])
    scratch = np.zeros(widest, dtype=np.int64)
    found = np.empty(min(longest, widest) + 1, dtype=np.int64)
    found_counts = np.empty(min(longest, widest) + 1, dtype=np.int64)
    for box in range(boxes):
        cut_columns[box] = -1
        quotas[box] = 0
        total = sizes[box]
        while attempts[box] < 2 * columns and total >= 2 * min_group:
            column = ranked[box, attempts[box] // 2]
            low, high = tight[box, column, 0], tight[box, column, 1]
            if low == high:
                attempts[box] = 2 * columns  # columns are ranked: nothing behind this one is wider
                break
            free = attempts[box] % 2 == 1
            base, size, height = node_offsets[column], tree_sizes[column], heights[column]
            kinds = _count_codes(
                codes, part_tuples, part_counts, order, starts[box], starts[box + 1], column, low, high,
                scratch, found, found_counts,
            )  # fmt: skip
            top, bottom = -1, height + 2
            for kind in range(1, kinds):
                level = _boundary_level(nodes, base, size, height, found[kind - 1], found[kind])
                top = max(top, level)
                bottom = min(bottom, level)
            accepted = False
            if relaxed and (free or top <= height):
                # half of the rows to each side; those on the median's own code are shared out
                half, left, kind = total // 2, 0, 0
                while left + found_counts[kind] <= half and kind < kinds - 1:
                    left += found_counts[kind]
                    kind += 1
                quota = half - left
                if half >= min_group:
                    cuts[box] = found[kind]
                    quotas[box] = quota
                    accepted = True
            elif not free or bottom < top:  # where all borders are of one level, freely is no different
                best, best_kind, best_level, left = -1, -1, 0, 0
                for kind in range(1, kinds):
                    left += found_counts[kind - 1]
                    level = _boundary_level(nodes, base, size, height, found[kind - 1], found[kind])
                    if free or level == top:
                        distance = abs(2 * left - total)
                        if best < 0 or distance < best:
                            best, best_kind, best_level = distance, kind, level
                smaller = (total - best) // 2
                if smaller >= min_group:
                    code = found[best_kind]
                    cuts[box] = 1 if best_level > height else node_starts[base + (best_level - 1) * size + code]
                    accepted = True
            if accepted:
                cut_columns[box] = column
                break
            attempts[box] += 2 if not free and bottom == top and not relaxed else 1


@compiled
def deal_out(codes, part_tuples, part_counts, parts, order, starts, cut_columns, cuts, quotas, first_piece):
    """Give every part of every box that has a cut its piece; split the one part that straddles a relaxed cut.

    Arrays of parts have room for one new part per box with a quota. Return the new order, the piece of each of its
    places, and the number of parts. Box i has the pieces `first_piece[i]` and, if it is cut, the next one.
    """
    boxes = len(starts) - 1
    new_order = np.empty(len(order) + boxes, dtype=np.int64)
    piece_of = np.empty(len(order) + boxes, dtype=np.int64)
    written = 0
    for box in range(boxes):
        column, cut, quota, left = cut_columns[box], cuts[box], quotas[box], first_piece[box]
        for place in range(starts[box], starts[box + 1]):
            part, piece = order[place], left
            if column >= 0:
                code = codes[part_tuples[part], column]
                if code >= cut:
                    piece = left + 1
                if quota > 0 and code == cut:
                    if part_counts[part] <= quota:
                        quota -= part_counts[part]
                        piece = left
                    else:
                        part_tuples[parts] = part_tuples[part]
                        part_counts[parts] = part_counts[part] - quota
                        part_counts[part] = quota
                        new_order[written], piece_of[written] = part, left
                        written += 1
                        part, quota = parts, 0
                        parts += 1
            new_order[written], piece_of[written] = part, piece
            written += 1
    return new_order[:written], piece_of[:written], parts


@compiled
def sort_by_piece(order, piece_of, pieces):
    """Sort places by their piece, keeping the order within; return the new order and where each piece starts."""
    starts = np.zeros(pieces + 1, dtype=np.int64)
    for place in range(len(order)):
        starts[piece_of[place] + 1] += 1
    for piece in range(pieces):
        starts[piece + 1] += starts[piece]
    nxt = starts.copy()
    result = np.empty_like(order)
    for place in range(len(order)):
        piece = piece_of[place]
        result[nxt[piece]] = order[place]
        nxt[piece] += 1
    return result, starts


@compiled
def count_values(order, starts, boxes, part_tuples, part_counts, codes, values):
    """Count the sensitive codes of the listed boxes; return offsets, codes and counts, zeros left out."""
    offsets = np.zeros(len(boxes) + 1, dtype=np.int64)
    room = 0
    for index in range(len(boxes)):
        room += min(starts[boxes[index] + 1] - starts[boxes[index]], values)
    found = np.empty(room, dtype=np.int32)
    counts = np.empty(room, dtype=np.int64)
    place_of = np.full(values, -1, dtype=np.int64)
    used = 0
    for index in range(len(boxes)):
        box = boxes[index]
        first = used
        for place in range(starts[box], starts[box + 1]):
            part = order[place]
            code = codes[part_tuples[part]]
            if place_of[code] < 0:
                place_of[code] = used
                found[used] = code
                counts[used] = 0
                used += 1
            counts[place_of[code]] += part_counts[part]
        for entry in range(first, used):
            place_of[found[entry]] = -1
        offsets[index + 1] = used
    return offsets, found[:used], counts[:used]
