"""Random queries: their true answers are those of naive counting, and their sizes are as asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import QueryError
from incrowd.metrics.workload.cells import Cells
from incrowd.metrics.workload.queries import draw_queries
from incrowd.metrics.workload.sized import SHARES, draw_workload, relative_errors
from tests.experiments.experiment_tables import counted, frames, naive_count, opened, people

CHECKED = settings(max_examples=18)


@CHECKED
@given(frame=frames, seed=st.integers(0, 5), sensitive=st.sampled_from(["ill", None]))
def test_true_answers_are_those_of_naive_counting(frame, seed, sensitive) -> None:
    tally = counted(opened(frame))
    workload = draw_queries(tally.trees, ("age", "place"), sensitive, 12, np.random.default_rng(seed))
    answers = Cells.of_tally(tally).answers(workload)
    for number, answer in enumerate(answers):
        assert answer == naive_count(frame, workload.query(number))


@pytest.mark.parametrize("size", list(SHARES))
def test_queries_are_as_large_as_asked(size) -> None:
    table = people()
    tally, frame = counted(table), ic.datasets.census(3000)
    workload, answers = draw_workload(
        tally, tuple(table.schema.quasi), "occupation", size, 60, np.random.default_rng(1)
    )
    assert len(workload) == len(answers) == 60
    assert answers.min() > 0
    shares = answers / tally.rows
    if size == "small":
        assert shares.max() < 0.01
    if size == "large":
        assert shares.min() > 0.1
    for number in range(5):
        assert naive_count(frame, workload.query(number)) == answers[number]


def test_one_seed_one_workload() -> None:
    table = people(500)
    drawn = [
        draw_workload(counted(table), ("age", "sex"), "occupation", "unbounded", 20, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert [drawn[0][0].query(number) for number in range(20)] == [drawn[1][0].query(number) for number in range(20)]
    assert not np.array_equal(drawn[0][1], drawn[2][1])


def test_what_queries_ask_for() -> None:
    table = people(2000)
    tally = counted(table)
    quasi = tuple(table.schema.quasi)
    workload = draw_queries(tally.trees, quasi, "occupation", 4000, np.random.default_rng(0))
    asked = workload.asked[:, :-1].sum(axis=1)
    assert workload.asked[:, -1].all()  # the sensitive column, always
    for number in range(1, len(quasi) + 1):  # each number of columns as likely as any other
        assert abs((asked == number).mean() - 1 / len(quasi)) < 0.04
    ages = workload.matches["age"][workload.asked[:, quasi.index("age")]]
    starts = np.diff(ages.astype(np.int8), axis=1, prepend=0) == 1
    assert (starts.sum(axis=1) == 1).all()  # a range, with no gaps
    races = workload.matches["race"][workload.asked[:, quasi.index("race")], 1:].sum(axis=1)
    assert races.min() == 1
    assert races.max() == tally.trees["race"].size - 2  # never all of them
    one_job = (workload.matches["occupation"].sum(axis=1) == 1).mean()
    assert 0.47 < one_job < 0.56
    assert not any(workload.matches[name][workload.asked[:, place], 0].any() for place, name in enumerate(quasi))


def test_ranges_are_not_aligned_with_nodes() -> None:
    table = people(2000)
    tally = counted(table)
    workload = draw_queries(tally.trees, ("age",), None, 500, np.random.default_rng(0))
    fives = {(value // 5) * 5 for value in range(120)}
    starts = [workload.query(number)["age"][0] for number in range(500)]
    assert np.mean([start in fives for start in starts]) < 0.4


def test_what_cannot_be_drawn_is_refused() -> None:
    tally = counted(people(60))
    with pytest.raises(QueryError, match=r"only 0 of 1 small queries were found among .* Hint: ask for fewer"):
        draw_workload(tally, ("age", "sex"), "occupation", "small", 1, np.random.default_rng(0))
    with pytest.raises(QueryError, match="at least one query, not 0"):
        draw_workload(tally, ("age", "sex"), "occupation", "small", 0, np.random.default_rng(0))


def test_relative_errors() -> None:
    assert relative_errors(np.array([4.0, 10.0, 1.0]), np.array([5.0, 10.0, 0.0])).tolist() == [0.25, 0.0, 1.0]
