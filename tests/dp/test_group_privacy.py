"""What rows cost a person, exactly: against sums term by term, and against mechanisms whose loss is known."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from incrowd.dp.accountant import Accountant
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.dp.group_privacy import price_of_person, share_of_row


def term_by_term(epsilon: Fraction, rows: int) -> Fraction:
    with localcontext() as context:
        context.prec = 80
        exact = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return Fraction(sum(((exact * place).exp() for place in range(rows)), start=Decimal(0)))


def test_without_delta_epsilon_is_divided_to_the_last_digit() -> None:
    for rows in (1, 2, 3, 7, 1000):
        row = share_of_row(Budget("1/3"), rows)
        assert row == Budget(Fraction(1, 3 * rows))
        assert price_of_person(row, rows) == Budget("1/3")


def test_one_row_is_a_person() -> None:
    budget = Budget("0.7", "1e-6")
    assert price_of_person(budget, 1) == share_of_row(budget, 1) == budget


@pytest.mark.parametrize("epsilon", ["1e-250", "1e-19", "1e-17", "1/1000", "1/4", "3"])
@pytest.mark.parametrize("rows", [2, 3, 50])
def test_delta_is_that_of_the_sum_and_rounded_to_the_safe_side(epsilon: str, rows: int) -> None:
    budget = Budget(epsilon, "1e-9")
    exact = budget.delta * term_by_term(budget.epsilon, rows)
    told = price_of_person(budget, rows)
    assert told.epsilon == budget.epsilon * rows
    assert exact <= told.delta <= exact * (1 + Fraction(1, 10**13))
    back = share_of_row(Budget.computed(budget.epsilon * rows, told.delta), rows)
    assert price_of_person(back, rows).delta <= told.delta * (1 + Fraction(1, 10**14))
    assert back.delta * term_by_term(budget.epsilon, rows) <= told.delta


def test_nothing_costs_nothing() -> None:
    assert not price_of_person(Budget.nothing(), 4)


def test_a_mechanism_that_reaches_the_price() -> None:
    """(ε, δ) for each row at the worst: with n rows, P[event] is the n-th of p → e^ε·p + δ. So it is for four rows."""
    budget, probability = Budget("1/4", "1/1000"), 0.0
    for _ in range(4):
        probability = math.exp(0.25) * probability + 0.001
    assert float(price_of_person(budget, 4).delta) == pytest.approx(probability, rel=1e-12)


def test_questions_by_person_add_up_and_nest() -> None:
    accountant = Accountant(limit=Budget(1))
    with accountant.by_person(4):
        accountant.spend("one", Budget("1/8"))
        accountant.spend("two", Budget("1/8"))
        assert accountant.total() == Budget(1)
    assert accountant.steps == (Budget(1),)
    assert accountant.rows()[0]["within"] == "at most 4 rows per person"
    accountant = Accountant()
    with accountant.by_person(3), accountant.sampled("1/10"):
        accountant.spend("one", Budget("1/2", "1e-9"))
    assert accountant.total() == price_of_person(amplified(Budget("1/2", "1e-9"), "1/10"), 3)
    accountant = Accountant()
    with accountant.by_person(None):
        accountant.spend("one", Budget(1))
    assert accountant.rows()[0]["within"] == ""
