"""Grow and prune a decision tree on weighted rows: the loops of C4.5.

`codes[row, column]` is a value's code, and `values` has the number that each code of an ordered column stands for,
ascending, column after column (`starts`). Of a node, `splits` has its column (-1: a leaf) and the last code that goes
to its lower branch (-1: every code is a branch of its own); `branches` its parent and the code that leads to it, or 0
below and 1 above; `counts` the weights of the classes. Children follow each other. The loops are in
`native/decision_tree.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Floats, Ints


def grow_decision_tree(
    codes: Codes, classes: Codes, weights: Floats, values: Floats, starts: Ints, ordered: Bools, kinds: int,
    confidence: float, z: float,
) -> tuple[Ints, Ints, Floats]:  # fmt: skip
    """Return the splits, branches and counts of all nodes, parents before children; pruned ones are below a leaf.

    `confidence` is the share of a normal distribution above `z`: how pessimistic the errors of a leaf are.
    """
    splits, branches, counts = call(
        "grow_decision_tree", codes, classes, weights, values, starts, ordered, kinds, confidence, z
    )
    return splits, branches, counts.reshape(len(splits), kinds)


def pessimistic_errors(rows: float, wrong: float, confidence: float, z: float) -> float:
    """Return the errors that are expected on other rows of a leaf that has so many of these rows wrong."""
    return float(call("pessimistic_errors", float(rows), float(wrong), confidence, z))
