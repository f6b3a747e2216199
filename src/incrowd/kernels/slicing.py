"""Find out what the buckets that people match say about their secrets. Arrays are as in `slicing_matches.py`.

The loop is in `native/slicing.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints
    from incrowd.kernels.slicing_matches import Entries, Listed, Nodes

FINE, EXCEEDS, UNDECIDED = 0, 1, 2


def guess_secrets(
    most: int, listed: Listed, levels: Ints, trie: Nodes, starts: Ints, entries: Entries, columns: Ints,
    secret_levels: Ints, hidden_offsets: Ints, hidden: tuple[Ints, Codes, Counts, Counts, Counts], most_codes: int,
    numerator: int, denominator: int,
) -> tuple[Floats, Codes]:  # fmt: skip
    """Return how probable each leaf's likeliest value of each secret is, and whether that exceeds a bound.

    `hidden` are `hidden_starts`, `hidden_codes`, `hidden_counts`, `hidden_most` and `hidden_rows`: the rows behind
    entry e have the values `hidden_starts[h]:hidden_starts[h + 1]` of secret a, with h = `e + hidden_offsets[a]`, the
    most frequent of them is `hidden_most[h]` rows, and all of them are `hidden_rows[h]`. The bound is `denominator /
    numerator`. Verdicts are `FINE`, `EXCEEDS`, and `UNDECIDED` where rounding leaves it open. At most about `most`
    matches are held at once.
    """
    shape = len(secret_levels), levels[-1] - levels[-2]
    worst, verdicts = np.empty(shape), np.empty(shape, dtype=np.int32)
    call(
        "guess_secrets", most, *listed, levels, *trie, starts, *entries, columns, secret_levels, hidden_offsets,
        *hidden, most_codes, numerator, denominator, worst, verdicts, threads(),
    )  # fmt: skip
    return worst, verdicts
