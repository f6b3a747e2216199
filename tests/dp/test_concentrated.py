"""ρ as ε and δ: against the formula in plain floats, OpenDP, the exact Gaussian, and choices worked out whole."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from incrowd.dp import Accountant, Budget
from incrowd.dp.concentrated import epsilon_of_choice, price_of, price_of_choice, rho_of
from incrowd.errors import BudgetSpent, RecipeError

CASES = [("1", "1e-9"), ("0.1", "1e-9"), ("3", "1e-6"), ("0.01", "1e-12"), ("20", "1e-9"), ("1/3", "1e-5")]


def delta_by_formula(rho: float, epsilon: float) -> float:
    """Return the smallest δ of proposition 12 over a fine grid of orders."""
    less = np.exp(np.linspace(-15, 15, 200_001))
    order = 1 + less
    return float(np.exp((less * (order * rho - epsilon) - np.log(less) + order * np.log(less / order)).min()))


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_largest_rho_is_that_of_the_formula(epsilon: str, delta: str) -> None:
    rho = rho_of(Budget(epsilon, delta))
    assert delta_by_formula(float(rho), float(Fraction(epsilon))) == pytest.approx(float(Fraction(delta)), rel=1e-5)
    assert delta_by_formula(float(rho) * 1.0001, float(Fraction(epsilon))) > float(Fraction(delta))
    back = price_of(rho, Fraction(delta))
    assert float(back.epsilon) == pytest.approx(float(Fraction(epsilon)), rel=1e-12)
    assert rho > Fraction(epsilon) ** 2 / (4 * Fraction(-math.log(float(Fraction(delta)))) + 4 * Fraction(epsilon))


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_opendp_says_the_same(epsilon: str, delta: str) -> None:
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    domain, distance = opendp.atom_domain(T="i64"), opendp.absolute_distance(T="i64")
    rho = float(rho_of(Budget(epsilon, delta)))
    noise = opendp.m.make_gaussian(domain, distance, scale=math.sqrt(1 / (2 * rho)))
    theirs = opendp.c.make_zCDP_to_approxDP(noise).map(1).epsilon(float(Fraction(delta)))
    assert theirs == pytest.approx(float(Fraction(epsilon)), rel=1e-3)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_gaussian_itself_keeps_what_its_price_promises(epsilon: str, delta: str) -> None:
    """The exact δ of the Gaussian mechanism (Balle & Wang 2018) is smaller, and not by much."""
    mean = math.sqrt(2 * float(rho_of(Budget(epsilon, delta))))
    eps = float(Fraction(epsilon))
    exact = stats.norm.cdf(mean / 2 - eps / mean) - math.exp(eps) * stats.norm.cdf(-mean / 2 - eps / mean)
    assert 0.001 * float(Fraction(delta)) < exact < float(Fraction(delta))


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.data())
@settings(max_examples=15)
def test_a_choice_is_as_concentrated_as_it_costs(scores: list[float], data: st.DataObject) -> None:
    """Rényi divergences of the exponential mechanism, all outcomes added up, are below α·ε²/8."""
    epsilon = data.draw(st.floats(0.1, 5))
    moved = [score + data.draw(st.floats(-1, 1)) for score in scores]
    one, other = (np.exp(epsilon * np.array(some) / 2) for some in (scores, moved))
    one, other = one / one.sum(), other / other.sum()
    for order in (1.01, 1.5, 2.0, 5.0, 30.0):
        divergence = math.log(float((one**order * other ** (1 - order)).sum())) / (order - 1)
        assert divergence <= order * epsilon**2 / 8 + 1e-9


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10))
def test_the_epsilon_of_a_choice_is_never_too_large(rho: Fraction) -> None:
    epsilon = epsilon_of_choice(rho)
    assert price_of_choice(epsilon) <= rho
    assert float(price_of_choice(epsilon)) == pytest.approx(float(rho), rel=1e-4)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=30), st.integers(3, 30))
@settings(max_examples=10)
def test_what_is_told_is_on_the_safe_side(epsilon: Fraction, digits: int) -> None:
    delta = Fraction(1, 10**digits)
    rho = rho_of(Budget(epsilon, delta))
    assert rho > 0
    assert delta_by_formula(float(rho) * (1 - 1e-9), float(epsilon)) <= float(delta) * (1 + 1e-4)
    told = price_of(rho, delta)
    assert told.epsilon <= epsilon * (1 + Fraction(1, 10**10))
    assert price_of(rho / 2, delta).epsilon < told.epsilon


def test_without_delta_there_is_no_rho() -> None:
    with pytest.raises(ValueError, match="δ above 0"):
        rho_of(Budget(1))
    with pytest.raises(RecipeError, match="so small"):
        rho_of(Budget("1e-60", "1e-100"))
    assert price_of(Fraction(0), Fraction(1, 10**9)) == Budget.nothing()


# --- in the accountant ---


def test_questions_in_rho_cost_less_than_their_sum_and_never_more_than_the_limit() -> None:
    budget = Budget(1, "1e-9")
    accountant = Accountant(limit=budget)
    with accountant.concentrated(budget) as purse:
        for number in range(10):
            accountant.spend_rho(f"question {number}", purse.rho / 10)
            assert budget.covers(accountant.total())
        with pytest.raises(BudgetSpent, match="is left"):
            accountant.spend_rho("one more", Fraction(1, 10**9))
        with pytest.raises(ValueError, match="in ρ"):
            accountant.spend("one more", Budget(1))
    assert accountant.total() == budget
    assert accountant.steps == (budget,)
    assert sum(entry.price.epsilon for entry in accountant.entries) > 2  # by the sum of each alone
    assert sum(Fraction(row["ρ"]) for row in accountant.rows()) == purse.rho
    with pytest.raises(BudgetSpent):
        accountant.spend("afterwards", Budget("1e-9"))


def test_a_limit_holds_for_questions_in_rho_too() -> None:
    accountant = Accountant(limit=Budget("0.5", "1e-9"))
    with accountant.concentrated(Budget(1, "1e-9")) as purse:
        accountant.spend_rho("some", purse.rho / 10)
        with pytest.raises(BudgetSpent, match="would be spent"):
            accountant.spend_rho("most", purse.rho / 2)
    assert Budget("0.5", "1e-9").covers(accountant.total())
    with pytest.raises(ValueError, match="only inside"):
        accountant.spend_rho("outside", Fraction(1, 100))
    with accountant.concentrated(Budget(1, "1e-9")), pytest.raises(RecipeError, match="costs nothing"):
        accountant.spend_rho("nothing", Fraction(0))


def test_a_person_with_several_rows_pays_their_square() -> None:
    budget = Budget(1, "1e-9")
    accountant = Accountant(limit=budget)
    with accountant.concentrated(budget, most_rows=3) as purse:
        assert purse.rho == rho_of(budget) / 9
        accountant.spend_rho("all of it", purse.rho)
    assert accountant.total() == budget
