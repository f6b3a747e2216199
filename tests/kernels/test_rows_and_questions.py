"""Rows that satisfy questions, and values that are dealt to rows, against a loop over them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from incrowd.common.arrays import Ints, Words
from incrowd.common.threads import using
from incrowd.kernels import questions
from incrowd.kernels.dealing import deal_listed, deal_values


@pytest.mark.parametrize(("number", "threads", "rows"), [(0, 1, 9), (1, 1, 0), (64, 1, 200), (65, 2, 40_000)])
@pytest.mark.parametrize("most", [questions._MOST_CELLS, 0])
def test_questions_count_the_rows_that_satisfy_all_their_conditions(
    number: int, threads: int, rows: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_MOST_CELLS", most)
    rng = np.random.default_rng(number)
    sizes = (3, 5, 2)
    lines = np.stack([rng.integers(0, size, 200) for size in sizes[:-1]], axis=1).astype(np.int32)
    line_of, classes = rng.integers(0, 200, rows), rng.integers(0, sizes[-1], rows)
    codes = np.column_stack([lines[line_of], classes])
    counts = rng.integers(0, 2**40, rows)
    asked = [
        {int(column): rng.random(sizes[column]) < 0.5 for column in rng.permutation(3)[: rng.integers(0, 4)]}
        for _ in range(number)
    ]
    with using(threads):
        found = questions.count_questions(lines, line_of, classes, counts, sizes, asked)
    satisfied = [
        np.logical_and.reduce([matches[codes[:, column]] for column, matches in question.items()])
        if question
        else np.ones(rows, dtype=bool)
        for question in asked
    ]
    assert found.tolist() == [int(counts[which].sum()) for which in satisfied]


COUNTS = np.array([[2, 1, 0], [0, 3, 3]])


def by_lists(above: Ints, counts: Ints, words: Words) -> Ints:
    """Deal the same values, listed: 0 0 1 for the first line, and 1 1 1 2 2 2 for the second."""
    listed = np.concatenate([np.repeat(np.arange(3), line) for line in np.maximum(counts, 0)])
    return deal_listed(above, np.maximum(counts, 0).sum(axis=1), listed, words)


@pytest.mark.parametrize("dealt", [deal_values, by_lists])
def test_values_are_dealt_as_often_as_there_are_and_evenly(dealt: Callable[[Ints, Ints, Words], Ints]) -> None:
    rng = np.random.default_rng(3)
    above = np.array([0, 1, 1, 0, 1, 1, 0, 1, 1])
    runs, first = 4000, np.zeros((2, 3))
    for _ in range(runs):
        values = dealt(above, COUNTS, rng.integers(0, 2**64, 9, dtype=np.uint64, endpoint=False))
        for line in (0, 1):
            assert np.bincount(values[above == line], minlength=3).tolist() == COUNTS[line].tolist()
            first[line] += np.eye(3)[values[above == line][-1]]
    np.testing.assert_allclose(first / runs, COUNTS / COUNTS.sum(axis=1, keepdims=True), atol=0.04)
    with pytest.raises(RuntimeError, match="no value left"):
        dealt(above, COUNTS - 1, np.zeros(9, dtype=np.uint64))


def test_a_list_of_another_length_is_refused() -> None:
    with pytest.raises(RuntimeError, match="not as many values"):
        deal_listed(np.array([0]), np.array([2]), np.array([1]), np.zeros(1, dtype=np.uint64))
