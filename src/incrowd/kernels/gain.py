"""Find the cuts of boxes that tell most about a class attribute. Boxes and trees are laid out as in `partition.py`.

The loops are in `native/gain.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Ints


def propose_gain_cuts(
    codes: Codes, part_tuples: Ints, part_counts: Ints, order: Ints, starts: Ints, sizes: Ints, classes: Ints,
    class_count: int, min_group: int, node_offsets: Ints, tree_sizes: Ints, heights: Ints, nodes: Codes,
    node_starts: Codes, tight: Codes, ranked: Ints, attempts: Ints, cut_columns: Ints, cuts: Codes,
) -> None:  # fmt: skip
    """Find, for every box, the best cut of the column with the most gain, or with the next most at a later attempt.

    Columns with equal gain are tried in the order of their widths, as `ranked` has them. Where no column is left that
    gains anything, `cut_columns[box]` is -1 and `attempts[box]` the number of columns.
    """
    call(
        "propose_gain_cuts", codes, part_tuples, part_counts, order, starts, sizes, classes, class_count, min_group,
        node_offsets, tree_sizes, heights, nodes, node_starts, tight, ranked, attempts, cut_columns, cuts, threads(),
    )  # fmt: skip
