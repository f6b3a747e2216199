"""Compare what crowds show with what their people were expected to have, entry by entry of their histograms.

The loops are in `native/reweighing.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints


def add_up(
    offsets: Ints, crowds: Ints, weights: Floats, starts: Ints, values: Codes, known: Floats, people: Floats
) -> Floats:
    """Return, for each entry of a crowd's histogram, how many of its people were expected to have that value.

    Divided by how many people are expected in the crowd, so that only proportions matter.
    """
    expected = np.zeros(len(values))
    call("add_up_expected", offsets, crowds, weights, starts, values, np.ascontiguousarray(known), people, expected)
    return expected


def compare(
    offsets: Ints, crowds: Ints, weights: Floats, starts: Ints, values: Codes, counts: Counts, sizes: Counts,
    known: Floats, expected: Floats,
) -> Floats:  # fmt: skip
    """Return the belief in each value for each person; rows add up to 1."""
    beliefs = np.zeros(known.shape)
    call(
        "compare_with_expected", offsets, crowds, weights, starts, values, counts, sizes, np.ascontiguousarray(known),
        expected, beliefs,
    )  # fmt: skip
    return beliefs
