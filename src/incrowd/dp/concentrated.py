"""Zero-concentrated differential privacy (Bun & Steinke 2016): what it costs in terms of ε and δ.

A mechanism is ρ-zCDP if its Rényi divergence of every order α > 1 between neighbours is at most ρα. Prices add up; m
rows at once cost m²ρ; noise of the discrete Gaussian costs 1/(2σ²) (`discrete_gaussian.py`), and a choice by the
exponential mechanism with ε costs ε²/8 (Cesar & Rogers 2021; permute-and-flip has no such bound). A ρ-zCDP mechanism
is (ε, δ)-private (Canonne, Kamath & Steinke 2020, proposition 12) if for some α

    ln δ ≥ (α − 1)(αρ − ε) − ln(α − 1) + α·ln(1 − 1/α).

Any α is a proof. The best one is searched with floating-point numbers; what is told is computed from it with 60 digits,
and rounded so that no more is promised than holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import lru_cache

from incrowd.dp.budget import Budget
from incrowd.dp.exact import as_decimal, many_digits, round_digits
from incrowd.errors import RecipeError

_DIGITS = 15
_ERROR = Fraction(1, 10**40)
"""Far more than is lost in 60 digits."""
_HALVINGS = 120
_GOLDEN = (math.sqrt(5) - 1) / 2
_SMALLEST_LOG, _LARGEST_LOG = -30.0, 60.0
"""Where ln(α − 1) is looked for."""
_CHOICE_PARTS = 10**9


@lru_cache(maxsize=1024)  # runs of one method have the same budget
def rho_of(budget: Budget) -> Fraction:
    """Return the largest ρ, rounded down, that is (ε, δ)-private.

    >>> round(float(rho_of(Budget(1, "1e-9"))), 6)
    0.014973
    """
    if not budget.delta:
        raise ValueError("zero-concentrated privacy needs a δ above 0")
    epsilon, log_delta = float(budget.epsilon), _log(budget.delta)

    def rho(log_order: float) -> float:
        less = math.exp(log_order)
        return ((log_delta + _constant(log_order)) / less + epsilon) / (1 + less)

    order = _order(_best(rho))
    with many_digits():
        less, exact = as_decimal(order - 1), as_decimal(order)
        constant = less.ln() - exact * (less / exact).ln()
        found = Fraction(((as_decimal(budget.delta).ln() + constant) / less + as_decimal(budget.epsilon)) / exact)
    if found <= 0:
        raise RecipeError(f"ε is so small that noise for it would not fit 64 bits: {float(budget.epsilon):g}.")
    return round_digits(found * (1 - _ERROR), _DIGITS, ROUND_FLOOR)


@lru_cache(maxsize=1024)  # runs of one method pay the same prices, again and again
def price_of(rho: Fraction, delta: Fraction) -> Budget:
    """Return the smallest ε, rounded up, that a ρ costs with a δ.

    >>> print(price_of(Fraction("0.01"), Fraction("1e-9")))
    ε = 0.810174, δ = 1e-09
    """
    if rho <= 0:
        return Budget.nothing()
    log_delta, size = _log(delta), float(rho)

    def epsilon(log_order: float) -> float:
        less = math.exp(log_order)
        return size * (1 + less) - (log_delta + _constant(log_order)) / less

    order = _order(_best(lambda log_order: -epsilon(log_order)))
    with many_digits():
        less, exact = as_decimal(order - 1), as_decimal(order)
        constant = less.ln() - exact * (less / exact).ln()
        found = Fraction(exact * as_decimal(rho) - (as_decimal(delta).ln() + constant) / less)
    found = max(found, Fraction(0))
    return Budget.computed(round_digits(found + _ERROR * (1 + found), _DIGITS, ROUND_CEILING), delta)


def epsilon_of_choice(rho: Fraction) -> Fraction:
    """Return the ε, rounded down, of an exponential mechanism that costs ρ: √(8ρ).

    >>> epsilon_of_choice(Fraction(1, 200))
    Fraction(1, 5)
    """
    parts = _CHOICE_PARTS
    while True:
        root = math.isqrt(int(8 * rho * parts * parts))
        if root >= _CHOICE_PARTS // 1000:
            return Fraction(root, parts)
        parts *= 1000


def price_of_choice(epsilon: Fraction) -> Fraction:
    """Return what a choice by the exponential mechanism costs: ε²/8.

    >>> price_of_choice(Fraction(1, 5))
    Fraction(1, 200)
    """
    return epsilon**2 / 8


def _constant(log_order: float) -> float:
    """Return ln(α − 1) − α·ln(1 − 1/α), by ln(α − 1)."""
    less = math.exp(log_order)
    return log_order + (1 + less) * math.log1p(1 / less)


def _order(log_order: float) -> Fraction:
    return 1 + Fraction(math.exp(log_order))


def _log(number: Fraction) -> float:
    with many_digits():
        return float(as_decimal(number).ln())


def _best(worth: Callable[[float], float]) -> float:
    """Return about where a function with one top is largest: by the golden section."""
    low, high = _SMALLEST_LOG, _LARGEST_LOG
    for _ in range(_HALVINGS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if worth(left) >= worth(right):
            high = right
        else:
            low = left
    return (low + high) / 2
