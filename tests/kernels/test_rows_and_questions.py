"""Rows that satisfy questions, what these weigh, tables that are raked, and values that are dealt to rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from incrowd.common.arrays import Floats, Ints, Words
from incrowd.common.threads import using
from incrowd.kernels import questions
from incrowd.kernels.dealing import deal_listed, deal_values
from incrowd.kernels.raking import rake
from incrowd.kernels.repeating import repeat, repeat_places


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


@pytest.mark.parametrize("number", [0, 1, 40, 300])
def test_questions_weigh_where_the_heaviest_code_becomes_heavier_by_least(number: int) -> None:
    rng = np.random.default_rng(number)
    sizes = {"a": 3, "b": 8, "c": 2, "d": 30}
    asked = [
        {
            str(name): rng.random(sizes[name]) < rng.random()
            for name in rng.permutation(list(sizes))[: rng.integers(1, 4)]
        }
        for _ in range(number)
    ]
    weights = rng.choice([0.25, 0.5, rng.random()], number)
    sums: dict[str, Floats] = {}
    for question, weight in zip(asked, weights, strict=True):
        more = {}
        for name, matches in question.items():
            before = sums.setdefault(name, np.zeros(sizes[name]))
            more[name] = (before + weight * matches).max() - before.max()
        sums[min(more, key=lambda name: more[name])] += weight * question[min(more, key=lambda name: more[name])]
    found = questions.Conditions(asked).heaviest(weights)
    np.testing.assert_allclose(found, [each.max() for each in sums.values()], rtol=1e-12)
    rows = [{name: rng.integers(0, size) for name, size in sizes.items()} for _ in range(50)]
    for row in rows:
        satisfied = [all(matches[row[name]] for name, matches in question.items()) for question in asked]
        assert weights[satisfied].sum() <= found.sum() * (1 + 1e-12)


def test_a_question_without_a_condition_weighs_on_nothing() -> None:
    with pytest.raises(RuntimeError, match="without a condition"):
        questions.Conditions([{}]).heaviest(np.ones(1))


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 2), (2, 4, 3, 2)])
def test_a_raked_table_has_the_sums_that_are_wanted(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    true, table = rng.random(shape), rng.random(shape)
    before, pairs = table.copy(), list(combinations(range(len(shape)), 2))
    wanted = [true.sum(axis=tuple(axis for axis in range(len(shape)) if axis not in pair)) for pair in pairs]
    raked = rake(table, pairs, wanted, 400, 1e-9)
    for pair, known in zip(pairs, wanted, strict=True):
        found = raked.sum(axis=tuple(axis for axis in range(len(shape)) if axis not in pair))
        np.testing.assert_allclose(found, known, rtol=1e-6)
    assert (table == before).all()
    once = table
    for (one, other), known in zip(pairs, wanted, strict=True):
        rest = tuple(axis for axis in range(len(shape)) if axis not in (one, other))
        once = once * np.expand_dims(known, rest) / once.sum(axis=rest, keepdims=True)
    np.testing.assert_allclose(rake(table, pairs, wanted, 1, 1e-9), once, rtol=1e-12)
    np.testing.assert_allclose(rake(0 * table, pairs, wanted, 1, 1e-9), 0)  # none, and not no number
    with pytest.raises(RuntimeError, match="not as many numbers"):
        rake(table, pairs, [wanted[0][1:], *wanted[1:]], 1, 1e-9)


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
    words = rng.integers(0, 2**64, (runs, 9), dtype=np.uint64, endpoint=False)
    values = np.stack([dealt(above, COUNTS, own) for own in words])
    for line in (0, 1):
        of_line = values[:, above == line]
        assert (np.sort(of_line, axis=1) == np.repeat(np.arange(3), COUNTS[line])).all()
        first[line] = np.bincount(of_line[:, -1], minlength=3)
    np.testing.assert_allclose(first / runs, COUNTS / COUNTS.sum(axis=1, keepdims=True), atol=0.04)
    with pytest.raises(RuntimeError, match="no value left"):
        dealt(above, COUNTS - 1, np.zeros(9, dtype=np.uint64))


def test_a_list_of_another_length_is_refused() -> None:
    with pytest.raises(RuntimeError, match="not as many values"):
        deal_listed(np.array([0]), np.array([2]), np.array([1]), np.zeros(1, dtype=np.uint64))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("number", [0, 1, 9, 100_000])
def test_items_are_repeated_as_numpy_does(number: int, threads: int) -> None:
    dice = np.random.default_rng(number)
    items, times = dice.integers(-9, 2**60, number), dice.integers(0, 4, number)
    with using(threads):
        assert np.array_equal(repeat(items, times), np.repeat(items, times))
        assert np.array_equal(repeat_places(times), np.repeat(np.arange(number), times))


def test_what_cannot_be_repeated_is_an_error_and_not_a_place_in_memory() -> None:
    with pytest.raises(RuntimeError, match="less than never"):
        repeat_places(np.array([3, -1, 2]))
    with pytest.raises(RuntimeError, match="other numbers"):
        repeat(np.array([3, 1]), np.array([1, 1, 1]))
