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

    from incrowd.common.arrays import Bools, Codes, Floats, Ints, Words

_MOST_CELLS = 1 << 28
"""Codes times questions that are looked at in one pass over the rows, at a byte each."""


def count_questions(
    codes: Codes, line_of: Ints, classes: Ints, counts: Ints, sizes: Sequence[int],
    questions: Sequence[Mapping[int, Bools]],
) -> Ints:  # fmt: skip
    """Return how many rows satisfy each question: which codes of some columns it is about.

    `codes` are lines × columns. Of line `line_of[i]` there are `counts[i]` rows with class `classes[i]`, which is one
    column more. Codes and classes are below the column's size.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = [np.ascontiguousarray(each) for each in (codes, line_of, classes, counts)]
    most = max(_MOST_CELLS // max(int(starts[-1]), 1) // 64, 1) * 64
    found = np.zeros(len(questions), dtype=np.int64)
    for first in range(0, len(questions), most):
        asked = questions[first : first + most]
        answers = np.zeros(-(-len(asked) // 64) * 64, dtype=np.int64)
        call("count_questions", *rows, _packed(asked, starts, len(answers)), starts[:-1].copy(), answers, threads())
        found[first : first + most] = answers[: len(asked)]
    return found


class Conditions:
    """The conditions of many questions side by side, to weigh the same questions several times."""

    def __init__(self, questions: Sequence[Mapping[str, Bools]]) -> None:
        numbers: dict[str, int] = {}
        conditions = [(numbers.setdefault(name, len(numbers)), each) for one in questions for name, each in one.items()]
        sizes = dict(conditions)
        self._sizes = np.array([len(sizes[number]) for number in range(len(numbers))], dtype=np.int64)
        self._satisfied = np.concatenate([np.zeros(0, dtype=bool), *(each for _, each in conditions)])
        self._column_of = np.array([number for number, _ in conditions], dtype=np.int64)
        self._places = np.cumsum(self._sizes[self._column_of]) - self._sizes[self._column_of]
        self._firsts = np.cumsum([0, *map(len, questions)], dtype=np.int64)

    def heaviest(self, weights: Floats) -> Floats:
        """Let each question weigh on the codes of one of its columns; return the weight of each column's heaviest code.

        One after the other, questions weigh on the column whose heaviest code becomes heavier by least, and of several
        on their first. A row satisfies no question but by all of its codes: what it satisfies together weighs no more
        than the heaviest codes of all columns.
        """
        found = np.zeros(len(self._sizes))
        given = self._satisfied, self._places, self._column_of, self._firsts, np.ascontiguousarray(weights)
        call("weigh_questions", *given, self._sizes, found)
        return found


def _packed(questions: Sequence[Mapping[int, Bools]], starts: Ints, number: int) -> Words:
    """Return which of so many questions each code of all columns is in, in bits of words."""
    satisfied = np.zeros((int(starts[-1]), number), dtype=bool)
    satisfied[:, : len(questions)] = True
    for place, question in enumerate(questions):
        for column, matches in question.items():
            satisfied[starts[column] : starts[column + 1], place] = matches
    return np.packbits(satisfied, axis=1, bitorder="little").view("<u8").astype(np.uint64)
