"""Sums, means, quantiles and groups of a private table: what a row changes, intervals, edges, a budget that lasts."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import noise_scale
from incrowd.dp.fixed_point import FixedPoint
from incrowd.dp.laplace_sums import half_widths
from incrowd.errors import BudgetSpent, QueryError, RecipeError
from incrowd.ledger import Ledger
from incrowd.publishing.private_table import PrivateTable
from incrowd.testing.mechanism_audit import audit_outcomes
from tests.ledger.side_by_side import side_by_side

AGES = ic.Intervals(widths=(5, 20), lower=0, upper=100)
SEXES = ic.Categories.from_tree({"any": {"a": ["F"], "b": ["M", "X"]}})
SURE = 10**6
NEAR = 5e-3
"""Noise of numbers up to 100 has the scale 1e-4 then: it is beyond this once in 10^21 draws."""
"""An ε with which there is no noise to speak of."""


def table(ages: list[Any], sexes: list[Any] | None = None, **how: Any) -> ic.Table:
    frame = pl.DataFrame(
        {"age": pl.Series(ages, dtype=pl.Float64), "sex": pl.Series(sexes or ["F"] * len(ages), dtype=pl.String)}
    )
    return ic.read(frame, quasi=["age", "sex"], hierarchies={"age": AGES, "sex": SEXES}, **how)


def private(ages: list[Any], sexes: list[Any] | None = None, **how: Any) -> PrivateTable:
    return PrivateTable(table(ages, sexes), **{"budget": 20 * SURE, "undeclared": "missing", **how})


ODD = [20.0, 31.5, None, -40.0, 250.0, 99.0, 0.0]


def test_without_noise_they_are_those_of_the_clipped_numbers() -> None:
    asked = private(ODD, ["F", "M", "M", "F", None, "X", "F"])
    clipped = [20, 31.5, 0, 100, 99, 0]
    assert asked.sum("age", epsilon=SURE).value == pytest.approx(sum(clipped), abs=NEAR)
    assert asked.mean("age", epsilon=SURE).value == pytest.approx(sum(clipped) / 6, abs=NEAR)
    assert asked.sum("age", {"sex": "F"}, epsilon=SURE).value == pytest.approx(20, abs=NEAR)
    assert asked.sum("age", bounds=(10, 30), epsilon=SURE).value == pytest.approx(20 + 30 + 10 + 30 + 30 + 10, abs=NEAR)
    median, top = asked.quantiles("age", (0.5, 0.99), epsilon=SURE)
    assert (median.value, top.value) == (20, 100)
    assert (median.price, top.price) == (Budget(SURE), Budget.nothing())
    groups = asked.count_by(["sex"], epsilon=SURE)
    assert groups.select("sex", "count").rows() == [(None, 1), ("F", 3), ("M", 2), ("X", 1)]
    coarse = asked.count_by(["sex", "age"], epsilon=SURE, levels={"sex": 1, "age": 2})
    assert coarse.filter(pl.col("count") > 0.5)["count"].sum() == 7
    assert coarse.filter(pl.col("sex") == "b", pl.col("age") == "[20, 40)")["count"].item() == 1
    assert asked.answers[-1].what == "counts by sex, age"
    assert "sum of age: " in str(asked.answers[0])


@pytest.mark.parametrize("ages", [[], [None, None], [0.0], [100.0] * 3, [math.inf, -math.inf, math.nan]], ids=str)
def test_edges(ages: list[Any]) -> None:
    asked = private(ages)
    known = [min(max(age, 0.0), 100.0) for age in ages if age is not None and not math.isnan(age)]
    assert asked.sum("age", epsilon=SURE).value == pytest.approx(sum(known), abs=NEAR)
    mean = asked.mean("age", epsilon=SURE)
    assert 0 <= mean.low <= mean.value <= mean.high <= 100
    if known:
        assert mean.value == pytest.approx(np.mean(known), abs=NEAR)
    else:
        unsure = [asked.mean("age", epsilon=1) for _ in range(41)]
        assert np.median([mean.high - mean.low for mean in unsure]) > 50  # of nobody, a mean may be anything
    median = asked.quantile("age", 0.5, epsilon=1)
    assert 0 <= median.low <= median.value <= median.high <= 100
    same = asked.sum("age", bounds=(7, 7), epsilon=SURE)
    assert same.value == pytest.approx(7 * len(known), abs=NEAR)
    assert asked.sum("age", bounds=(0, 0), epsilon=1).value == pytest.approx(0, abs=100)


WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any], type[Exception]]] = [
    ("sum", ("agee",), {}, QueryError),
    ("sum", ("sex",), {}, QueryError),
    ("mean", ("age",), {"bounds": (5, 1)}, QueryError),
    ("sum", ("age",), {"bounds": (0, math.inf)}, QueryError),
    ("sum", ("age",), {"bounds": "ab"}, QueryError),
    ("sum", ("age", {"sex": "Q"}), {}, QueryError),
    ("quantile", ("age", 0), {}, QueryError),
    ("quantile", ("age", 1), {}, QueryError),
    ("quantile", ("sex", 0.5), {}, QueryError),
    ("quantiles", ("age", ()), {}, QueryError),
    ("count_by", ([],), {}, QueryError),
    ("count_by", (["sex", "sex"],), {}, QueryError),
    ("count_by", ("sex",), {"levels": {"sex": 9}}, QueryError),
    ("count_by", ("sex",), {"levels": {"age": 1}}, QueryError),
    ("mean", ("age",), {"confidence": 95}, QueryError),
    ("estimate", ({},), {"confidence": 0}, QueryError),
    ("sum", ("age",), {"epsilon": 0}, RecipeError),
    ("mean", ("age",), {"epsilon": 2 * SURE * 20}, BudgetSpent),
]


@pytest.mark.parametrize(("method", "given", "how", "kind"), WRONG)
def test_what_is_refused_costs_nothing(method: str, given: Any, how: dict[str, Any], kind: type[Exception]) -> None:
    for ages in ([20.0, 30.0], []):  # whoever is there
        asked = private(ages)
        with pytest.raises(kind):
            getattr(asked, method)(*given, **{"epsilon": 1, **how})
        assert not asked.spent
        assert asked.answers == ()


def test_a_sample_tells_counts_only() -> None:
    asked = private([20.0] * 40, sample=0.5)
    for question in (lambda: asked.sum("age", epsilon=1), lambda: asked.quantile("age", 0.5, epsilon=1)):
        with pytest.raises(QueryError, match="only counts"):
            question()
    assert not asked.spent
    assert asked.count_by("sex", epsilon=100)["count"].sum() == pytest.approx(40, abs=40)


@pytest.mark.parametrize("bounds", [(0, 100), (-3.5, 2), (-100, -1), (0, "1/3"), (5, 5), (0, 0)])
@pytest.mark.parametrize("centered", [True, False])
def test_no_row_changes_a_sum_by_more_than_is_promised(bounds: Any, centered: bool) -> None:
    """By brute force: all tables of up to two rows out of odd numbers, and all rows that can be added.

    Rows of a table are added up one after the other, so that pairs are of numbers out of each region.
    """
    grid = FixedPoint.between(tuple(Fraction(bound) for bound in bounds), centered=centered)
    numbers = [
        -math.inf,
        -1e300,
        -100,
        -3.5,
        -0.1,
        0,
        1e-9,
        1 / 3,
        0.1 + 0.2,
        2,
        5,
        77.7,
        100,
        1e18,
        math.inf,
        math.nan,
    ]
    changes = []
    for size in range(3):
        for rows in itertools.combinations_with_replacement(numbers if size < 2 else numbers[::3], size):
            before = grid.total(np.array(rows, dtype=float), np.ones(size, dtype=np.int64))
            for added in numbers:
                after = grid.total(np.array([*rows, added]), np.ones(size + 1, dtype=np.int64))
                changes.append(abs(after - before))
    assert max(changes) <= grid.sensitivity
    ends = [abs(Fraction(bound) - grid.center) for bound in bounds]
    assert grid.sensitivity * grid.step <= max(max(ends) + grid.step, grid.step)
    assert max(changes) >= grid.sensitivity - 1 or grid.sensitivity == 1


def test_sums_have_the_noise_of_their_bounds_and_opendp_agrees() -> None:
    ages = [float(age) for age in range(60)]
    asked = private(ages, seed=1)
    found = [asked.sum("age", epsilon="1/2", bounds=(0, 80)) for _ in range(200)]
    noise = np.array([one.value for one in found]) - sum(ages)
    assert np.abs(noise).mean() == pytest.approx(80 / 0.5, rel=0.2)  # the mean size of Laplace noise is its scale
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 80))), dp.symmetric_distance()
    theirs = space >> dp.t.then_sum() >> dp.m.then_laplace(scale=80 / 0.5)
    assert theirs.map(d_in=1) == pytest.approx(0.5, rel=1e-6)
    assert float(noise_scale(Fraction(80), Fraction("1/2"))) == 160
    whole = dp.t.make_sum(*space)([int(age) for age in ages])
    assert whole == pytest.approx(private(ages).sum("age", bounds=(0, 80), epsilon=SURE).value, abs=0.01)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    ages = np.round(np.clip(rng.normal(40, 15, 400), 0, 100)).tolist()
    asked = private(ages, seed=2)
    runs, held = 100, dict.fromkeys(("count", "sum", "mean", "few", "median", "group"), 0)
    few = [age for age in ages if age >= 70]
    grouped = private(ages, (["F", "M"] * 200), seed=3)
    for _ in range(runs):
        count, total = (
            asked.estimate({}, epsilon="1/4", confidence=0.9),
            asked.sum("age", epsilon="1/4", confidence=0.9),
        )
        mean = asked.mean("age", epsilon="1/4", confidence=0.9)
        rare = asked.mean("age", {"age": (70, 100)}, epsilon="1/4", confidence=0.9)
        middle = asked.quantile("age", 0.5, epsilon="1/4", confidence=0.9)
        cell = grouped.count_by("sex", epsilon="1/4", confidence=0.9).row(1, named=True)
        held["count"] += count.low <= 400 <= count.high
        held["sum"] += total.low <= sum(ages) <= total.high
        held["mean"] += mean.low <= float(np.mean(ages)) <= mean.high
        held["few"] += rare.low <= float(np.mean(few)) <= rare.high
        held["median"] += middle.low <= sorted(ages)[199] <= middle.high
        held["group"] += cell["low"] <= 200 <= cell["high"]
    for name in held:
        assert held[name] / runs >= 0.9 - 3 * math.sqrt(0.09 / runs), name
    for name in ("count", "sum", "mean", "few", "group"):
        assert held[name] / runs <= 0.98, name


def test_two_laplace_variables_together() -> None:
    rng = np.random.default_rng(1)
    for first, second in [(1.0, 1.0), (3.0, 0.5), (1.0, 0.0), (2.0, 1.999999)]:
        drawn = np.abs(rng.laplace(0, first, 200_000) + rng.laplace(0, 1, 200_000) * second)
        for confidence in (0.5, 0.95):
            width = half_widths(np.array([first]), np.array([second]), confidence)[0]
            assert (drawn <= width).mean() == pytest.approx(confidence, abs=0.005)


def test_a_person_with_several_rows_pays_for_all_of_them() -> None:
    rows = pl.DataFrame({"who": [f"p{n // 4}" for n in range(400)], "age": [float(n % 90) for n in range(400)]})
    made = ic.read(rows, quasi=["age"], person="who", hierarchies={"age": AGES})
    asked = PrivateTable(made, budget=1000, most_rows=4, seed=1)
    errors = [asked.sum("age", epsilon=1, bounds=(0, 90)).error for _ in range(3)]
    alone = private([20.0], seed=1).sum("age", epsilon=1, bounds=(0, 90)).error
    assert errors == pytest.approx([4 * alone] * 3, rel=1e-3)
    assert asked.mean("age", epsilon=1).error > 0
    assert asked.spent == Budget(4)
    fewer = PrivateTable(made, budget=1000, most_rows=1, seed=1)
    total = fewer.sum("age", epsilon=900, bounds=(1, 1)).value
    assert total == pytest.approx(100, abs=2)  # one row of each


@pytest.mark.slow
def test_an_audit_finds_nothing_and_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours that differ in the largest number; noise for half of the bounds is caught."""
    few, middle = [10.0, 20.0], [50.0] * 12

    def outcomes(runs: int, question: Any, others: list[float] = few) -> list[list[float]]:
        found = []
        for ages in ([*others, 100.0], others):
            asked = private(ages, seed=len(ages))
            found.append([question(asked) for _ in range(runs)])
        return found

    # A fault of the size of that below, noise for a quarter of the bounds, shows in 100 runs.
    for question in (
        lambda asked: asked.sum("age", epsilon=1).value,
        lambda asked: asked.quantile("age", 0.9, epsilon=1).value,
        lambda asked: asked.count_by("sex", epsilon=1)["count"][1],
    ):
        assert not audit_outcomes(*outcomes(100, question)).contradicts(1)
    # A mean is told from a sum of distances from the middle: where all others are there, fewer runs are enough to
    # see that it lacks noise.
    assert not audit_outcomes(*outcomes(60, lambda asked: asked.mean("age", epsilon=1).value, middle)).contradicts(1)
    monkeypatch.setattr(FixedPoint, "sensitivity", property(lambda grid: int(grid.upper / grid.step) // 3))
    caught = outcomes(300, lambda asked: asked.sum("age", epsilon=1, bounds=(0, 300)).value)
    assert audit_outcomes(*caught).epsilon > 0  # the audit looks at the right thing
    monkeypatch.setattr(FixedPoint, "units", lambda grid, numbers: np.rint(numbers / float(grid.step)).astype(np.int64))
    monkeypatch.setattr(FixedPoint, "sensitivity", property(lambda grid: int(Fraction(25) / grid.step)))
    caught = outcomes(100, lambda asked: asked.sum("age", epsilon=1).value)
    assert audit_outcomes(*caught).contradicts(1)


# --- a budget that lasts ---


def spend(asked: PrivateTable) -> int:
    """Ask until nothing is left, and return how often there was an answer."""
    for answered in itertools.count():
        try:
            asked.sum("age", epsilon="0.02")
        except BudgetSpent:
            return answered
    raise AssertionError


def test_processes_cannot_spend_one_budget_twice(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=2)
    asked = PrivateTable(table([1.0, 2.0]), ledger=ledger)
    asked.mean("age", epsilon="0.3")
    assert asked.remaining == Budget("1.7")
    assert sum(side_by_side(4, lambda: spend(asked))) == 85
    assert asked.remaining == Budget.nothing()
    with pytest.raises(BudgetSpent):
        asked.count({}, epsilon="1e-6")
    again = PrivateTable(table([1.0]), ledger=Ledger(tmp_path / "book"))
    assert not again.remaining
    assert "ε = 0 of ε = 2 left" in repr(again)
    assert ledger.verify() == []
    entry = ledger.entries[1]
    assert (entry.told["answer"], entry.price) == ("mean of age", Budget("0.3"))


def test_without_a_budget_there_is_a_ledger_with_a_cap(tmp_path: Path) -> None:
    for ledger in (None, Ledger.create(tmp_path / "book")):
        with pytest.raises(RecipeError, match="budget"):
            PrivateTable(table([1.0]), ledger=ledger)
    capped = Ledger.create(tmp_path / "capped", cap=1)
    asked = PrivateTable(table([1.0]), budget="1/2", ledger=capped)
    asked.count({}, epsilon="1/4")
    assert asked.remaining == Budget("1/4")
    with pytest.raises(BudgetSpent):
        asked.count({}, epsilon="1/2")
    assert capped.remaining == Budget("3/4")
