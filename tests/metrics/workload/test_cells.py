"""Many queries at once: the answers are those that the release gives to each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import Unsatisfiable
from incrowd.metrics.workload.cells import Cells, Runs
from incrowd.metrics.workload.queries import draw_queries
from tests.experiments.experiment_tables import counted, frames, opened, people

METHODS = [
    ic.Mondrian(),
    ic.Mondrian(labels="hierarchy"),
    ic.LocalRecoding(max_distortion=1.0),
    ic.FullDomain(max_withheld=0.2),
]


def assert_same_answers(release: ic.Release, number: int, seed: int = 0, sensitive: str | None = "ill") -> None:
    tally = release.generalized.tally
    quasi = tuple(release.generalized.schema.quasi)
    workload = draw_queries(tally.trees, quasi, sensitive, number, np.random.default_rng(seed))
    answers = Cells.of_release(release.generalized, rate=float(release.rate)).answers(workload)
    one_by_one = [release.form.count(workload.query(query)) / float(release.rate) for query in range(number)]
    assert answers == pytest.approx(one_by_one, rel=1e-9, abs=1e-9)


@settings(max_examples=22)
@given(
    frame=frames,
    method=st.sampled_from(METHODS),
    sample=st.sampled_from([1, 0.5]),
    sensitive=st.sampled_from(["ill", None]),
)
def test_answers_are_the_release_s_own(frame, method, sample, sensitive) -> None:
    try:
        release = ic.publish(opened(frame), ic.KAnonymity(2), method=method, sample=sample, seed=1)
    except Unsatisfiable:
        return  # a tiny sample
    assert_same_answers(release, 10, sensitive=sensitive)


def test_answers_about_many_people() -> None:
    release = ic.publish(
        people(), ic.ExpectedConfidence(), method=ic.LocalRecoding(min_levels={"age": 1}), sample=0.9, seed=3
    )
    assert_same_answers(release, 60, sensitive="occupation")


def test_several_sensitive_columns() -> None:
    frame = ic.datasets.census(800)
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["occupation", "salary"], others="drop")
    release = ic.publish(table, ic.KAnonymity(20))
    for sensitive in ("occupation", "salary"):
        assert_same_answers(release, 15, sensitive=sensitive)


@settings(max_examples=14)
@given(frame=frames, seed=st.integers(0, 3))
def test_histograms_are_answers_for_each_value(frame, seed) -> None:
    release = ic.publish(opened(frame), ic.KAnonymity(2))
    tally = counted(opened(frame))
    workload = draw_queries(tally.trees, ("age", "place"), None, 8, np.random.default_rng(seed))
    cells = Cells.of_release(release.generalized)
    found = cells.histograms(workload, "ill", tally.trees["ill"].size)
    for number in range(len(workload)):
        for code, value in enumerate(tally.trees["ill"].values.to_list()):
            expected = release.form.count({**workload.query(number), "ill": [value]})
            assert found[number, code] == pytest.approx(expected)
    assert found.sum(axis=1) == pytest.approx(cells.answers(workload))


def test_nothing_to_ask_about_and_nothing_asked() -> None:
    tally = counted(people(100))
    cells = Cells.of_tally(tally)
    assert cells.project(()).counts.tolist() == [100]
    nothing = draw_queries(tally.trees, ("age",), None, 3, np.random.default_rng(0)).take(np.empty(0, dtype=np.int64))
    assert cells.answers(nothing).tolist() == []
    assert cells.histograms(nothing, "occupation", 51).shape == (0, 51)


def test_blocks_leave_no_query_out() -> None:
    cells = Cells(("x",), (Runs(np.array([1]), np.array([2]), np.zeros(100_000, dtype=np.int64)),), np.ones(100_000))
    queries = np.arange(1000)
    blocks = cells.blocks(queries)
    assert max(map(len, blocks)) == 2
    assert np.concatenate(blocks).tolist() == queries.tolist()
