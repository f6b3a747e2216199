"""Count the rows that satisfy each of many questions, in one pass over the rows.

The loop is in `native/questions.cpp`: a row satisfies the questions that all of its codes satisfy, 64 at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incrowd.common.arrays import Bools, Codes, Ints


def count_questions(codes: Codes, counts: Ints, sizes: Sequence[int], questions: Sequence[Mapping[int, Bools]]) -> Ints:
    """Return how many rows satisfy each question: which codes of some columns it is about.

    `codes` are rows × columns, each below the column's size; `counts` says how many rows there are of each.
    """
    words = max(-(-len(questions) // 64), 1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    satisfied = np.zeros((int(starts[-1]), words * 64), dtype=bool)
    satisfied[:, : len(questions)] = True
    for number, question in enumerate(questions):
        for column, matches in question.items():
            satisfied[starts[column] : starts[column + 1], number] = matches
    packed = np.packbits(satisfied, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    found = np.zeros(words * 64, dtype=np.int64)
    call("count_questions", np.ascontiguousarray(codes), counts, packed, starts[:-1].copy(), found)
    return found[: len(questions)]
