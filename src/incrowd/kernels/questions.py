"""Count the rows that satisfy each of many questions, in one pass over the rows.

The loop is in `native/questions.cpp`: a row satisfies the questions that all of its codes satisfy, 64 at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incrowd.common.arrays import Bools, Codes, Ints


def count_questions(
    codes: Codes, line_of: Ints, classes: Ints, counts: Ints, sizes: Sequence[int],
    questions: Sequence[Mapping[int, Bools]],
) -> Ints:  # fmt: skip
    """Return how many rows satisfy each question: which codes of some columns it is about.

    `codes` are lines × columns. Of line `line_of[i]` there are `counts[i]` rows with class `classes[i]`, which is one
    column more. Codes and classes are below the column's size.
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
    rows = [np.ascontiguousarray(each) for each in (codes, line_of, classes, counts)]
    call("count_questions", *rows, packed, starts[:-1].copy(), found, threads())
    return found[: len(questions)]
