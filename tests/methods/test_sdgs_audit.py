"""SDGS end to end, many times on tables that differ by one row: the promise holds, and broken variants are caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.progress import silent
from incrowd.core.sampling import draw_sample
from incrowd.dp.expected_rows import ExpectedRows
from incrowd.dp.sampled_suppression import worst_case
from incrowd.errors import Unsatisfiable
from incrowd.methods.k_dgs import KDGS
from incrowd.methods.sdgs import SDGS
from incrowd.testing.mechanism_audit import AuditResult, audit

HALF = Fraction(1, 2)
AGES = ic.Intervals(widths=(10,))
RUNS = 250
Method = Callable[[ic.Table], Any]


def table_of(ages: list[int]) -> ic.Table:
    return ic.read(pl.DataFrame({"age": ages}), quasi=["age"], hierarchies={"age": AGES})


def outcome(method: Any, table: ic.Table, tally: Any, rate: Fraction, rng: np.random.Generator) -> Any:
    """Return all that is published: the level, and how often each combination is there; nothing if that is nothing."""
    try:
        sample = tally if rate == 1 else draw_sample(tally, rate, rng).tally
        recoding = method.search(sample, table.schema, method.guarantees, rng=rng, progress=silent)
    except Unsatisfiable:
        return None
    shown = recoding.published
    sizes = np.bincount(recoding.groups[shown], weights=recoding.counts[shown]).astype(int)
    return (recoding.levels, tuple(zip(recoding.lows[:, 0].tolist(), sizes.tolist(), strict=True)))


def try_on(
    ages: list[int], one_more: int, method: Method, *, delta: float, rate: Fraction = HALF, runs: int = RUNS
) -> AuditResult:
    """Audit a method on some people and on one more of them, whose age others have too."""
    tables = {with_row: table_of([*ages, one_more] if with_row else ages) for with_row in (True, False)}
    tallies = {with_row: table.engine.count(table.schema).tally for with_row, table in tables.items()}
    methods = {with_row: method(table) for with_row, table in tables.items()}

    def run(with_row: bool, rng: np.random.Generator) -> Any:
        return outcome(methods[with_row], tables[with_row], tallies[with_row], rate, rng)

    return audit(run, runs=runs, rng=np.random.default_rng(11), delta=delta)


def promised(method: SDGS) -> tuple[float, float]:
    price = method.promise(HALF).price
    return float(price.epsilon), float(price.delta)


K = 5
EPSILON, DELTA = promised(SDGS(K, epsilon=1))
CROWD = worst_case(K, HALF, 1).crowd
"""Where one person shows most easily."""


def test_the_promise_holds_in_the_worst_crowd() -> None:
    found = try_on([20] * (CROWD - 1) + [40] * 8, 20, lambda _: SDGS(K, epsilon=1), delta=DELTA)
    assert not found.contradicts(EPSILON)


def test_without_its_delta_the_promise_would_not_hold() -> None:
    found = try_on([20], 20, lambda _: SDGS(2, epsilon=1), delta=0.0)
    assert found.contradicts(EPSILON)


def test_no_sampling_is_caught() -> None:
    found = try_on([20] * (K - 1) + [40] * 8, 20, lambda _: KDGS(K), delta=DELTA, rate=Fraction(1))
    assert found.contradicts(EPSILON)


def test_a_lower_threshold_is_caught() -> None:
    found = try_on([20] + [40] * 8, 20, lambda _: SDGS(2, epsilon=1), delta=DELTA, runs=2 * RUNS)
    assert found.contradicts(EPSILON)


def test_levels_looked_up_in_the_table_are_caught() -> None:
    """The lowest level at which everybody's crowd is K large: what ARX and its like publish."""

    def fitted(table: ic.Table) -> SDGS:
        smallest = table.engine.count(table.schema).tally.counts.min()
        return SDGS(K, levels={"age": 0 if smallest >= K else 1}, epsilon=1)

    found = try_on([20] * (K - 1) + [40] * 30, 20, fitted, delta=DELTA)
    assert found.contradicts(EPSILON)


def torn() -> tuple[int, int]:
    """Return how many people of two ages there are where one more makes single ages the better level."""
    expected = ExpectedRows(K, HALF)

    def better(first: int, second: int) -> bool:
        apart = 1000 * (expected.units(np.array([first])) + expected.units(np.array([second])))
        return apart > 500 * expected.units(np.array([first + second]))

    return next(
        (first, second)
        for first in range(2, 12)
        for second in range(2, 12)
        if better(first + 1, second) and not better(first, second)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("spent", "caught"), [("1/2", False), ("1000", True)])
def test_a_private_choice_of_levels_holds_and_a_certain_one_is_caught(spent: str, caught: bool) -> None:
    epsilon, delta = promised(SDGS(K, epsilon=1, scheme="chosen", scheme_epsilon="1/2"))
    first, second = torn()
    method = SDGS(K, epsilon=1, scheme="chosen", scheme_epsilon=spent)
    found = try_on([20] * first + [21] * second, 20, lambda _: method, delta=delta, runs=120)
    assert found.contradicts(epsilon) is caught
