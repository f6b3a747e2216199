"""Tighter totals: never more than the sum, never less than what composition must cost."""

from __future__ import annotations

import math

import pytest
from incrowd.dp.tight_composition import tight_epsilon

from incrowd.dp import Accountant, Budget
from incrowd.errors import RecipeError

pytest.importorskip("dp_accounting")


def exact_delta(epsilon: float, times: int, allowed: float) -> float:
    """Return δ for so many randomized responses of ε at a total of `allowed`, by the definition."""
    high = math.exp(epsilon) / (1 + math.exp(epsilon))
    total = 0.0
    for truths in range(times + 1):
        ways = math.comb(times, truths)
        first = ways * high**truths * (1 - high) ** (times - truths)
        second = ways * (1 - high) ** truths * high ** (times - truths)
        total += max(0.0, first - math.exp(allowed) * second)
    return total


@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 50), ("0.01", 200), ("1", 5)])
def test_it_is_what_randomized_responses_come_to(epsilon: str, times: int) -> None:
    tight = tight_epsilon([Budget(epsilon)] * times, "1e-6")
    assert exact_delta(float(epsilon), times, tight) <= 1e-6 * (1 + 1e-9)
    assert exact_delta(float(epsilon), times, tight - 0.02 * float(epsilon) * times) > 1e-6
    assert tight <= float(epsilon) * times


def test_many_small_questions_cost_much_less_than_their_sum() -> None:
    assert tight_epsilon([Budget("0.01")] * 1000, "1e-6") < 1.5


def test_prices_may_differ() -> None:
    prices = [Budget("0.1"), Budget("0.003", "1e-8"), Budget("0.05")] * 30
    tight = tight_epsilon(prices, "1e-6")
    assert tight < 0.153 * 30
    assert tight > tight_epsilon([Budget("0.1")] * 30, "1e-6")


def test_one_question_costs_itself_and_none_nothing() -> None:
    assert 0.999 < tight_epsilon([Budget(1)], "1e-9") <= 1
    assert tight_epsilon([], "1e-6") == 0


def test_a_delta_below_that_of_the_questions_is_never_enough() -> None:
    assert tight_epsilon([Budget(1, "1e-3")], "1e-6") == math.inf


def test_steps_of_an_accountant_are_prices() -> None:
    accountant = Accountant()
    for _ in range(100):
        with accountant.parallel("leaves"):
            accountant.spend("left", Budget("0.02"))
            accountant.spend("right", Budget("0.02"))
    tight = tight_epsilon(accountant.steps, "1e-6")
    assert tight == tight_epsilon([Budget("0.02")] * 100, "1e-6")
    assert tight < accountant.total().epsilon


@pytest.mark.parametrize("wrong", [0, 1, -1])
def test_without_delta_there_is_nothing_to_gain(wrong: int) -> None:
    with pytest.raises(RecipeError, match="δ is above 0"):
        tight_epsilon([Budget(1)], wrong)
