"""How much purer boxes become if a column is specialized: all candidates of a column in one pass over the tuples.

A piece's purity is Σ n_class² / n, rounded down to whole numbers of 2**-20, piece by piece: sums of these are exact,
and one person changes one piece's only. Tuples come sorted by their box. Cost: tuples, and for splits of numbers boxes
× values besides.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def purity_units(squares, rows):
    """Return squares / rows in units, rounded down; both are far from filling 64 bits."""
    if rows == 0:
        return 0
    return (squares // rows) * 1048576 + ((squares % rows) * 1048576) // rows


@compiled
def gains_of_pieces(starts, codes, classes, counts, piece_of, run_of, runs, class_count):
    """Return the gain of each run that may be specialized; `piece_of[code]` is its piece, -1 if it is in none.

    `starts` are where each box's tuples begin, and one more; `run_of[piece]` is the run that the piece is of. All
    tuples of a box are in the same run.
    """
    pieces = len(run_of)
    by_class = np.zeros((pieces, class_count), dtype=np.int64)
    in_box = np.zeros(class_count, dtype=np.int64)
    squares = np.zeros(pieces, dtype=np.int64)
    rows = np.zeros(pieces, dtype=np.int64)
    gains = np.zeros(runs, dtype=np.int64)
    for box in range(len(starts) - 1):
        first, last = starts[box], starts[box + 1]
        if first == last or piece_of[codes[first]] < 0:
            continue
        run = run_of[piece_of[codes[first]]]
        box_squares, box_rows = 0, 0
        for place in range(first, last):
            piece, kind, count = piece_of[codes[place]], classes[place], counts[place]
            squares[piece] += count * (2 * by_class[piece, kind] + count)
            box_squares += count * (2 * in_box[kind] + count)
            by_class[piece, kind] += count
            in_box[kind] += count
            rows[piece] += count
            box_rows += count
        gains[run] -= purity_units(box_squares, box_rows)
        for place in range(first, last):
            piece, kind = piece_of[codes[place]], classes[place]
            gains[run] += purity_units(squares[piece], rows[piece])
            squares[piece], rows[piece] = 0, 0
            by_class[piece, kind] = 0
            in_box[kind] = 0
    return gains


@compiled
def gains_of_points(starts, codes, classes, counts, low, high, class_count):
    """Return the gain of splitting the run [low, high) of a column of numbers at each point from low + 1 on."""
    gains = np.zeros(high - low - 1, dtype=np.int64)
    first_with = np.full(high - low, -1, dtype=np.int64)
    next_with = np.full(len(codes), -1, dtype=np.int64)
    left = np.zeros(class_count, dtype=np.int64)
    right = np.zeros(class_count, dtype=np.int64)
    for box in range(len(starts) - 1):
        first, last = starts[box], starts[box + 1]
        if first == last or not low <= codes[first] < high:
            continue
        first_with[:] = -1
        right_squares, right_rows, left_squares, left_rows = 0, 0, 0, 0
        for place in range(first, last):
            kind, count, value = classes[place], counts[place], codes[place] - low
            next_with[place] = first_with[value]
            first_with[value] = place
            right_squares += count * (2 * right[kind] + count)
            right[kind] += count
            right_rows += count
        before = purity_units(right_squares, right_rows)
        gain = 0
        for value in range(high - low - 1):
            place = first_with[value]
            moved = place >= 0
            while place >= 0:
                kind, count = classes[place], counts[place]
                left_squares += count * (2 * left[kind] + count)
                left[kind] += count
                left_rows += count
                right_squares -= count * (2 * right[kind] - count)
                right[kind] -= count
                right_rows -= count
                place = next_with[place]
            if moved:
                after = purity_units(left_squares, left_rows) + purity_units(right_squares, right_rows)
                gain = after - before
            gains[value] += gain
        for place in range(first, last):
            left[classes[place]] = 0
            right[classes[place]] = 0
    return gains
