"""Sums by privacy-loss distributions, held against the formula of optimal composition."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest

import incrowd as ic
from incrowd.dp.budget import Budget
from incrowd.ledger import Ledger
from incrowd.ledger.loss_distributions import cost_if_fixed
from incrowd.ledger.spending import added_up, cost_together
from tests.cli.command import incrowd


def optimal_delta(epsilon: float, times: int, at: float) -> float:
    """Return the least δ of so many equal pure prices at one ε (Kairouz, Oh & Viswanath 2015), outcome by outcome."""
    total = 0.0
    for lies in range(times + 1):
        true = math.comb(times, lies) * math.exp((times - lies) * epsilon) / (1 + math.exp(epsilon)) ** times
        other = math.comb(times, lies) * math.exp(lies * epsilon) / (1 + math.exp(epsilon)) ** times
        total += max(0.0, true - math.exp(at) * other)
    return total


@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 30), ("0.5", 8), ("0.01", 400), ("1", 1)])
@pytest.mark.parametrize("delta", ["1e-6", "1e-3"])
def test_it_is_safe_and_close_to_the_best_there_is(epsilon: str, times: int, delta: str) -> None:
    found = float(cost_if_fixed([Budget(epsilon)] * times, Fraction(delta)).epsilon)
    assert optimal_delta(float(epsilon), times, found) <= float(delta) * (1 + 1e-6)
    assert optimal_delta(float(epsilon), times, max(found - 0.002 * times**0.5 - 0.01, 0)) >= float(delta) * (1 - 1e-6)


def test_it_is_never_above_the_other_sums() -> None:
    prices = [Budget("0.25"), Budget("0.5", "1e-9"), Budget("0.1"), Budget("0.1")] * 6
    delta = Fraction("1e-5")
    found = cost_if_fixed(prices, delta)
    assert found.epsilon < cost_together(prices, delta).epsilon
    assert found.epsilon < added_up(prices).epsilon
    assert found.delta == delta


def test_a_ledger_tells_it_and_does_not_use_it(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "book", cap=Budget(2, "1e-6"))
    sexes = ic.Categories.from_tree(["Female", "Male"])
    table = ic.read(ic.datasets.census(50), quasi=["sex"], others="drop", hierarchies={"sex": sexes})
    answers = ic.PrivateTable(table, 2, ledger=ledger)
    for _ in range(30):
        answers.count({"sex": "Male"}, epsilon="0.05")
    assert ledger.spent_if_fixed is not None
    assert ledger.spent_if_fixed.epsilon < ledger.spent.epsilon
    assert ledger.spent == cost_together([Budget("0.05")] * 30, Fraction("1e-6"))
    done = incrowd("ledger", "show", tmp_path / "book")
    assert "privacy-loss distributions" in done.out
    assert Ledger.create(tmp_path / "other", cap=Budget(1)).spent_if_fixed is None


def test_prices_of_nothing_cost_nothing() -> None:
    assert cost_if_fixed([], Fraction("1e-6")).epsilon == 0


def test_a_delta_below_that_of_the_prices_cannot_be() -> None:
    with pytest.raises(ValueError, match="smaller"):
        cost_if_fixed([Budget("0.1", "1e-3")], Fraction("1e-6"))
