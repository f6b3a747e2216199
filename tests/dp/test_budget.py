"""Budgets: exact, checked, and adding up."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.dp import Budget
from incrowd.errors import RecipeError

budgets = st.builds(
    Budget,
    st.fractions(min_value=Fraction(1, 10**6), max_value=100),
    st.fractions(min_value=0, max_value=Fraction(1, 100)),
)


def test_a_tenth_is_a_tenth() -> None:
    assert Budget(0.1) == Budget("0.1") == Budget("1/10") == Budget(Decimal("0.1")) == Budget(Fraction(1, 10))
    assert sum([Budget(0.1)] * 10, start=Budget.nothing()) == Budget(1)
    assert Budget(0.1, 1e-6).delta == Fraction(1, 10**6)


@pytest.mark.parametrize("wrong", [0, -1, "0.0", -0.1])
def test_epsilon_is_above_zero(wrong: float) -> None:
    with pytest.raises(RecipeError, match="ε is above 0"):
        Budget(wrong)


@pytest.mark.parametrize("wrong", [1, 1.5, "2", -1e-9])
def test_delta_is_at_least_zero_and_below_one(wrong: float) -> None:
    with pytest.raises(RecipeError, match="δ is at least 0 and below 1"):
        Budget(1, wrong)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "much", None, True, "1e99999"])
def test_a_budget_is_made_of_numbers(wrong: object) -> None:
    with pytest.raises(RecipeError, match="ε is a number"):
        Budget(wrong)  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match="δ is a number"):
        Budget(1, wrong)  # type: ignore[arg-type]


def test_a_budget_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Budget(1).epsilon = Fraction(2)  # type: ignore[misc]
    assert {Budget(1): "a"}[Budget("1.0")] == "a"


@given(budgets, budgets, budgets)
def test_adding_and_taking_the_larger_keep_their_rules(a: Budget, b: Budget, c: Budget) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Budget.nothing() == a == a.larger(Budget.nothing())
    assert (a + b).covers(a.larger(b))
    assert a.larger(b).covers(a)
    assert a.larger(b).covers(b)
    assert (a + b).less(b) == a
    assert a.less(a + b) == Budget.nothing()


@given(budgets, st.lists(st.fractions(min_value=Fraction(1, 100), max_value=100), min_size=1, max_size=6))
def test_shares_add_up_to_the_whole(budget: Budget, weights: list[Fraction]) -> None:
    shares = budget.split(weights)
    assert sum(shares, start=Budget.nothing()) == budget
    assert shares[0].epsilon / shares[-1].epsilon == weights[0] / weights[-1]


@given(budgets, st.integers(1, 1000))
def test_equal_shares_add_up_to_the_whole(budget: Budget, number: int) -> None:
    assert budget / number * number == budget == number * (budget / number)


@pytest.mark.parametrize("weights", [[], [0], [1, -1]])
def test_weights_are_above_zero(weights: list[int]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Budget(1).split(weights)


def test_nobody_pays_back() -> None:
    with pytest.raises(ValueError, match="pays back"):
        Budget(1) * -1
    for wrong in (0, -2):
        with pytest.raises(ValueError, match="shares"):
            Budget(1) / wrong


def test_nothing_is_false_and_everything_else_is_true() -> None:
    assert not Budget.nothing()
    assert Budget("1e-9")


def test_how_it_reads() -> None:
    assert str(Budget("0.1", "1e-6")) == "ε = 0.1, δ = 1e-06"
    assert str(Budget(1) / 3) == "ε = 0.333333"
    assert repr(Budget("1/3")) == "Budget(ε = 1/3)"
