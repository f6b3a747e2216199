"""Deal rows out to groups in which no sensitive value occurs twice (Xiao & Tao 2006), by counts of values.

Rows are places in a list that is sorted by segment and value: value v of a segment is a run `run_starts[v]:run_starts[v
+ 1]`, in random order already. Segments are dealt out each by itself; `run_order` lists the runs of each from the
longest to the shortest. The loops are in `native/anatomy.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Ints, Words


def deal_segments(
    run_starts: Ints, run_order: Ints, segment_starts: Ints, box_starts: Ints, each: int, together: int, words: Words
) -> tuple[Ints, int]:
    """Deal every segment out; segment i has the runs `segment_starts[i]:segment_starts[i + 1]`.

    A group takes one row of each of the `each` values of which most rows are left, again and again. The rows that are
    left in the end, fewer than `each`, go to groups that lack their value, by the chance of `words[i]`. No value may be
    more than one in `each` rows of a segment. Then, in each box of segments, every `together` groups are joined. Return
    each row's group, and how many groups there are.
    """
    group_of = np.empty(run_starts[-1], dtype=np.int64)
    groups = call(
        "deal_segments", run_starts, run_order, segment_starts, box_starts, each, together, words, group_of
    )  # fmt: skip
    return group_of, groups
