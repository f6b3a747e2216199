"""Find where to cut boxes of tuples, and deal the tuples out to the pieces.

All open boxes are handled in one call. A box is a slice `starts[i]:starts[i + 1]` of `order`, which lists parts; part p
is `part_counts[p]` rows of tuple `part_tuples[p]`. Columns' trees come packed one after the other (`PackedTrees`).
The loops are in `native/partition.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats, Ints


def rank_columns(
    codes: Codes, part_tuples: Ints, order: Ints, starts: Ints, boxes: Ints, positions: Floats, spans: Floats,
    offsets: Ints, sizes: Ints, numeric: Bools, tight: Codes, ranked: Ints, widths: Floats,
) -> None:  # fmt: skip
    """Find the occupied range of every column in each listed box, and rank columns by normalized width.

    `tight[box]` holds the ranges of the box that this one was cut from: a column that was constant there still is.
    """
    call(
        "rank_columns", codes, part_tuples, order, starts, boxes, positions, spans, offsets, sizes, numeric, tight,
        ranked, widths, threads(),
    )  # fmt: skip


def propose_cuts(
    codes: Codes, part_tuples: Ints, part_counts: Ints, order: Ints, starts: Ints, sizes: Ints, min_group: int,
    relaxed: bool, node_offsets: Ints, tree_sizes: Ints, heights: Ints, nodes: Codes, node_starts: Codes,
    tight: Codes, ranked: Ints, attempts: Ints, cut_columns: Ints, cuts: Codes, quotas: Ints,
) -> None:  # fmt: skip
    """Find the next promising cut of every box.

    `attempts[box]` says where to go on: each column is tried along its hierarchy first (even attempts), then freely
    (odd ones). A cut is promising if both pieces keep at least `min_group` rows. `cut_columns[box]` becomes its column,
    or -1 where nothing is left to try; `cuts[box]` the first code of the right piece; `quotas[box]`, for relaxed cuts,
    how many rows with that very code go to the left all the same.
    """
    call(
        "propose_cuts", codes, part_tuples, part_counts, order, starts, sizes, min_group, relaxed, node_offsets,
        tree_sizes, heights, nodes, node_starts, tight, ranked, attempts, cut_columns, cuts, quotas, threads(),
    )  # fmt: skip


def deal_out(
    codes: Codes, part_tuples: Ints, part_counts: Ints, parts: int, order: Ints, starts: Ints, cut_columns: Ints,
    cuts: Codes, quotas: Ints, first_piece: Ints,
) -> tuple[Ints, Ints, int]:  # fmt: skip
    """Give every part of every box that has a cut its piece; split the one part that straddles a relaxed cut.

    Arrays of parts have room for one new part per box with a quota. Return the new order, the piece of each of its
    places, and the number of parts. Box i has the pieces `first_piece[i]` and, if it is cut, the next one.
    """
    new_order, piece_of = np.empty((2, len(order) + len(starts) - 1), dtype=np.int64)
    written, parts = call(
        "deal_out", codes, part_tuples, part_counts, parts, order, starts, cut_columns, cuts, quotas, first_piece,
        new_order, piece_of, threads(),
    )  # fmt: skip
    return new_order[:written], piece_of[:written], parts


def sort_by_piece(order: Ints, piece_of: Ints, pieces: int) -> tuple[Ints, Ints]:
    """Sort places by their piece, keeping the order within; return the new order and where each piece starts."""
    result, starts = np.empty_like(order), np.zeros(pieces + 1, dtype=np.int64)
    call("sort_by_piece", order, piece_of, result, starts, threads())
    return result, starts


def count_values(
    order: Ints, starts: Ints, boxes: Ints, part_tuples: Ints, part_counts: Ints, codes: Codes, values: int
) -> tuple[Ints, Codes, Ints]:
    """Count the sensitive codes of the listed boxes; return offsets, codes and counts, zeros left out."""
    room = int(np.minimum(starts[boxes + 1] - starts[boxes], values).sum())
    offsets = np.zeros(len(boxes) + 1, dtype=np.int64)
    found, counts = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    used = call(
        "count_values", order, starts, boxes, part_tuples, part_counts, codes, values, offsets, found, counts, threads()
    )
    return offsets, found[:used], counts[:used]


def box_sizes(order: Ints, starts: Ints, part_counts: Ints) -> Ints:
    """Return how many rows each box has."""
    sizes = np.empty(len(starts) - 1, dtype=np.int64)
    call("box_sizes", order, starts, part_counts, sizes, threads())
    return sizes
