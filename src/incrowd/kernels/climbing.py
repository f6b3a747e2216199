"""Let rows climb their columns' hierarchies, each by itself, and number what they show.

`codes[row]`, `levels[row]` and `nodes[row]` tell of each column which value a row has, at which level it stands and
what it shows there. Steps of all columns are in one array: those of a column begin at `offsets[column]`, and its level
has `sizes[column]` codes. `above[step]` is the next level that shows more, or -1. The loops are in
`native/climbing.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.records import dataclass
from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """What the steps of all columns show, lose and lead to; `left` has a number for each level of each column."""

    offsets: Ints
    sizes: Ints
    above: Codes
    node: Codes
    loss: Floats
    climbed: Floats
    left: Floats
    left_offsets: Ints


def number_rows(one: Codes, other: Codes) -> tuple[Ints, int]:
    """Number the distinct rows of two tables side by side, as they are first met; return also how many there are."""
    numbers = np.empty(len(one), dtype=np.int64)
    return numbers, int(call("number_rows", one, other, numbers, threads()))


def climb(codes: Codes, levels: Codes, nodes: Codes, members: Ints, steps: Steps, *, by_loss: bool) -> Bools:
    """Let rows climb one step, in the column that loses least or has most `left`; return those that are at the top.

    Levels and nodes are changed where they are.
    """
    stuck = np.zeros(len(codes), dtype=np.bool_)
    call(
        "climb", codes, levels, nodes, members, steps.offsets, steps.sizes, steps.above, steps.node, steps.loss,
        steps.left, steps.left_offsets, by_loss, stuck, threads(),
    )  # fmt: skip
    return stuck


def add_up_climbed(codes: Codes, levels: Codes, steps: Steps) -> Floats:
    """Return how far each row has climbed, over all columns."""
    totals = np.empty(len(codes))
    call("add_up_climbed", codes, levels, steps.offsets, steps.sizes, steps.climbed, totals, threads())
    return totals
