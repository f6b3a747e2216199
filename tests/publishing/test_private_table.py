"""Interactive counts: noise around the truth, a budget that runs out, and questions that depend on nobody."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.budget import Budget
from incrowd.errors import BudgetSpent, EmptyTable, QueryError, RecipeError, SchemaError, UncoveredValue
from incrowd.publishing.noisy_counts import SEEDED
from incrowd.publishing.private_table import PrivateTable
from incrowd.testing.mechanism_audit import audit
from tests.publishing.read_once import read_once

AGES = ic.Intervals(widths=(5, 10), lower=0, upper=100)
SEXES = ic.Categories.from_tree(["F", "M"])
SURE = 10_000
"""An ε with which noise is 0."""


def table(frame: pl.DataFrame | None = None, **options: Any) -> ic.Table:
    if frame is None:
        frame = pl.DataFrame(
            {
                "age": [20.0, 20.0, 30.0, 31.0, None, 99.0, 150.0, -3.0, 40.5],
                "sex": ["F", "M", "F", "F", "M", None, "M", "F", "F"],
                "sick": ["flu"] * 9,
            }
        )
    declared = {"age": AGES, "sex": SEXES}
    return ic.read(frame, quasi=["age", "sex"], sensitive=["sick"], hierarchies=declared, **options)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 9),
        ({"sex": "F"}, 5),
        ({"sex": ["F", "M"]}, 8),
        ({"sex": None}, 1),
        ({"age": 20}, 2),
        ({"age": 20.0, "sex": "F"}, 1),
        ({"age": (20, 30)}, 3),
        ({"age": (None, None)}, 8),
        ({"age": (None, 0)}, 1),  # −3 counts as below the lower bound
        ({"age": (90, None)}, 2),  # 150 counts as from the upper bound on
        ({"age": 150}, 0),
        ({"age": (40, 40)}, 1),  # 40.5 counts as 40, the value at or below it
        ({"age": None}, 1),
    ],
)
def test_without_noise_to_speak_of_counts_are_those_of_the_rows(query: dict[str, Any], count: int) -> None:
    assert PrivateTable(table(), budget=SURE).count(query, epsilon=SURE) == count


def test_answers_have_discrete_laplace_noise() -> None:
    private = PrivateTable(table(), budget=1500, seed=1)
    answers = np.array([private.count({"sex": "F"}, epsilon="0.5") for _ in range(1500)])
    assert (answers == np.round(answers)).all()
    ratio = math.exp(-0.5)
    zero = (1 - ratio) / (1 + ratio)
    assert abs((answers == 5).mean() - zero) < 4 * math.sqrt(zero * (1 - zero) / 1500)
    assert abs(answers.mean() - 5) < 4 * private.answers[0].error / math.sqrt(1500)
    assert abs(answers.std() / private.answers[0].error - 1) < 0.1


def test_the_budget_runs_out_to_the_last_digit() -> None:
    private = PrivateTable(table(), budget="0.3")
    for _ in range(3):
        private.count({}, epsilon=0.1)  # three tenths, which floating-point numbers would not add up to
    assert private.remaining == Budget.nothing()
    assert private.spent == Budget("0.3")
    with pytest.raises(BudgetSpent, match="`remaining` tells what is left") as error:
        private.count({}, epsilon="1e-9")
    assert "ε = 0 of ε = 0.3 is left" in str(error.value)
    assert len(private.answers) == 3


def test_what_is_refused_costs_nothing() -> None:
    private = PrivateTable(table(), budget=1)
    wrong: list[tuple[Any, Any, type[Exception]]] = [
        ({"sexx": "F"}, 0.5, QueryError),
        ({"sex": ("A", "F")}, 0.5, QueryError),
        ({"age": (1, 2, 3)}, 0.5, QueryError),
        ({"sick": "flu"}, 0.5, SchemaError),  # whose values only the table can tell
        (["age"], 0.5, QueryError),
        ({}, 0, RecipeError),
        ({}, -1, RecipeError),
        ({}, "1e-290", RecipeError),
        ({}, 2, BudgetSpent),
    ]
    for query, epsilon, kind in wrong:
        with pytest.raises(kind):
            private.count(query, epsilon=epsilon)
    assert private.remaining == Budget(1)
    assert private.answers == ()


def test_what_is_refused_does_not_depend_on_the_table() -> None:
    empty_looking = pl.DataFrame({"age": ["20"], "sex": ["F"], "sick": ["1"]})
    for frame in (None, empty_looking, pl.DataFrame({"age": [None], "sex": [None], "sick": [None]})):
        private = PrivateTable(table(frame), budget=SURE)
        with pytest.raises(QueryError, match="holds names"):
            private.count({"sex": ("A", "F")}, epsilon=1)
        with pytest.raises(SchemaError, match="known from the data only"):
            private.count({"sick": "flu"}, epsilon=1)
        with pytest.raises(QueryError, match="has no value 'X'"):
            private.count({"sex": "X"}, epsilon=1)
        assert private.count({"age": (500, 600)}, epsilon=5000) == 0


def test_undeclared_names_can_be_missing_ones() -> None:
    odd = pl.DataFrame({"age": ["n/a", "20", "1e300", None], "sex": ["F", "Martian", "M", "F"], "sick": ["flu"] * 4})
    with pytest.raises(UncoveredValue):
        PrivateTable(table(odd), budget=1, undeclared="refuse")
    private = PrivateTable(table(odd), budget=9 * SURE)
    asked: dict[int, list[dict[str, Any]]] = {
        4: [{}],
        2: [{"sex": "F"}, {"age": None}],
        1: [{"sex": None}, {"age": (90, None)}, {"age": 20, "sex": None}],
    }
    for count, queries in asked.items():
        for query in queries:
            assert private.count(query, epsilon=SURE) == count
    with pytest.raises(QueryError, match="has no value 'Martian'"):  # although somebody has it
        private.count({"sex": "Martian"}, epsilon=SURE)
    with pytest.raises(RecipeError, match="undeclared"):
        PrivateTable(table(odd), budget=1, undeclared="ignore")  # type: ignore[arg-type]


def test_nobody_is_a_table_like_any_other() -> None:
    nobody = table(pl.DataFrame(schema={"age": pl.Int64, "sex": pl.String, "sick": pl.String}))
    with pytest.raises(EmptyTable):
        PrivateTable(nobody, budget=1, undeclared="refuse")
    for sample in (1, 0.5):
        private = PrivateTable(nobody, budget=2 * SURE, sample=sample)
        assert private.count({"sex": "F", "age": (20, None)}, epsilon=100) == 0
        with pytest.raises(SchemaError, match="known from the data only"):
            private.count({"sick": "flu"}, epsilon=1)


def test_answers_are_written_down() -> None:
    private = PrivateTable(table(), budget=1)
    query = {"sex": "F"}
    value = private.count(query, epsilon="1/4")
    query["sex"] = "M"
    (answer,) = private.answers
    assert (dict(answer.query), answer.value, answer.price, answer.note) == ({"sex": "F"}, value, Budget("1/4"), "")
    assert repr(private) == "PrivateTable(1 answers; ε = 0.75 of ε = 1 left)"


def test_one_seed_one_answer_and_not_for_publication() -> None:
    first, second = (PrivateTable(table(), budget=1, seed=3) for _ in range(2))
    assert first.count({}, epsilon="0.1") == second.count({}, epsilon="0.1")
    assert first.answers[0].note == SEEDED
    assert SEEDED in repr(first)
    with pytest.raises(RecipeError):
        PrivateTable(table(), budget=1, seed=-1)


# --- on a sample ---


def many(rows: int) -> ic.Table:
    return table(pl.DataFrame({"age": [30] * rows, "sex": ["F", "M"] * (rows // 2), "sick": ["flu"] * rows}))


def test_a_sample_costs_less_and_is_drawn_once() -> None:
    private = PrivateTable(many(1000), budget=math.log(1.1) + 1e-9, sample=0.1)
    private.count({}, epsilon=math.log(2))  # Li, Qardaji & Su: ln 2 on a tenth of the rows is ln 1.1
    assert float(private.spent.epsilon) == pytest.approx(math.log(1.1))
    sure = PrivateTable(many(1000), budget=5 * SURE, sample=0.1, seed=5)
    answers = {sure.count({}, epsilon=SURE) for _ in range(3)}
    assert len(answers) == 1
    assert answers.pop() % 10 == 0
    women, men, both = (sure.count({"sex": sex}, epsilon=SURE / 2) for sex in ("F", "M", ["F", "M"]))
    assert women + men == both


def test_questions_to_one_sample_add_up_before_they_cost_less() -> None:
    private = PrivateTable(many(100), budget=1, sample="0.2")
    for _ in range(4):
        private.count({}, epsilon="1/4")
    assert float(private.spent.epsilon) == pytest.approx(math.log(1 + 0.2 * (math.e - 1)))
    with pytest.raises(BudgetSpent, match=r"on a sample at rate 0\.2"):
        private.count({}, epsilon=2)


def test_answers_from_a_sample_estimate_the_table() -> None:
    answers, thousand = [], read_once(many(1000))
    for seed in range(200):
        private = PrivateTable(thousand, budget=1, sample=0.25, seed=seed)
        answers.append(private.count({"sex": "F"}, epsilon=1))
    error = math.sqrt(500 * 3 + 1.84 * 16)
    assert abs(np.mean(answers) - 500) < 4 * error / math.sqrt(200)
    assert abs(np.std(answers) / error - 1) < 0.25
    assert private.answers[0].error == pytest.approx(math.sqrt(answers[-1] * 3 + 1.84 * 16), rel=0.01)


def test_an_empty_sample_is_a_sample() -> None:
    private = PrivateTable(many(2), budget=SURE, sample=Fraction(1, 10**12))
    assert private.count({}, epsilon=20) == 0


# --- the promise ---


@pytest.mark.slow
def test_an_audit_finds_nothing_and_finds_noise_that_is_halved() -> None:
    nine = pl.DataFrame({"age": [30] * 9, "sex": ["F"] * 9, "sick": ["flu"] * 9})
    asked = {
        with_row: PrivateTable(table(nine[: 9 if with_row else 8]), budget=10**6, seed=with_row + 1)
        for with_row in (True, False)
    }
    honest, halved = (
        audit(
            lambda with_row, _, epsilon=epsilon: asked[with_row].count({}, epsilon=epsilon),  # type: ignore[misc]
            runs=runs,
            rng=np.random.default_rng(1),
        )
        for epsilon, runs in ((1, 1000), (2, 300))
    )
    assert not honest.contradicts(1)
    assert honest.contradicts(0.6)
    assert halved.contradicts(1)


@pytest.mark.slow
def test_an_audit_of_answers_from_samples() -> None:
    """Every run draws its own sample: ε = 2 on half of the rows is ln(1 + (e² − 1)/2) = 1.43 for everybody."""
    two = pl.DataFrame({"age": [30] * 2, "sex": ["F"] * 2, "sick": ["flu"] * 2})
    tables = {with_row: read_once(table(two[: 2 if with_row else 1])) for with_row in (True, False)}
    promised = math.log(1 + (math.exp(2) - 1) / 2)

    def run(with_row: bool, rng: np.random.Generator, epsilon: int) -> float:
        private = PrivateTable(tables[with_row], budget=100, sample=0.5, seed=int(rng.integers(0, 2**60)))
        answer = private.count({}, epsilon=epsilon)
        if epsilon == 2:
            assert float(private.spent.epsilon) == pytest.approx(promised)
        return answer

    honest, broken = (
        audit(partial(run, epsilon=epsilon), runs=500, rng=np.random.default_rng(1)) for epsilon in (2, 20)
    )
    assert not honest.contradicts(promised)
    assert honest.epsilon > 0.3  # the audit does see the row
    assert broken.contradicts(promised)  # with hardly any noise, only the sample hides the row
