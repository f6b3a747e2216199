"""Sampling before a private mechanism makes it more private.

If every row stays with probability β, an (ε, δ)-private mechanism becomes (ln(1 + β(e^ε − 1)), βδ)-private. Without δ
this is Li, Qardaji & Su (2012), theorem 3 and corollary 4; with δ, Balle, Barthe & Gaboardi (2018), theorem 8, for
tables of which one has one row more. Logarithms are computed to 60 digits and told with 15, rounded so that no more is
promised than holds.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache

from incrowd.common.exact import Exact, as_exact
from incrowd.dp.budget import Budget
from incrowd.dp.exact import as_decimal, many_digits, round_digits
from incrowd.errors import RecipeError

_DIGITS = 15
_ERROR = Fraction(1, 10**40)
"""Far more than is lost in 60 digits."""
_LARGE = 1000
"""From here on sampling lowers ε by at most ln(1/β), and nobody asks."""


def amplified(budget: Budget, rate: Exact, *, already: Exact = 1) -> Budget:
    """Return what a mechanism costs everybody in the table if it sees a sample.

    With `already`, the budget is what it costs with a sample at that rate, and `rate` is a smaller one.

    >>> from math import log
    >>> print(amplified(Budget(log(2)), 0.1), f"(ln 1.1 = {log(1.1):.6g})")
    ε = 0.0953102 (ln 1.1 = 0.0953102)
    """
    return _amplified(budget, _share(rate, already))


@lru_cache(maxsize=1024)  # each answer from a sample is asked for its price several times
def _amplified(budget: Budget, share: Fraction) -> Budget:
    if share == 1 or budget.epsilon > _LARGE:
        return Budget.computed(budget.epsilon, budget.delta * share)
    with many_digits():
        raised = 1 + as_decimal(share) * (as_decimal(budget.epsilon).exp() - 1)
        epsilon = Fraction(raised.ln()) * (1 + _ERROR)
    return Budget.computed(min(round_digits(epsilon, _DIGITS, ROUND_CEILING), budget.epsilon), budget.delta * share)


def budget_on_sample(budget: Budget, rate: Exact) -> Budget:
    """Return what a mechanism that sees a sample may spend, so that it costs everybody in the table `budget`.

    >>> print(budget_on_sample(Budget(0.1), 0.1))
    ε = 0.718673
    """
    share = _share(rate, 1)
    if share == 1 or budget.epsilon > _LARGE:
        return budget
    with many_digits():
        raised: Decimal = 1 + (as_decimal(budget.epsilon).exp() - 1) / as_decimal(share)
        epsilon = Fraction(raised.ln()) * (1 - _ERROR)
    delta = budget.delta / share
    if delta >= 1:
        raise RecipeError(f"δ = {float(budget.delta):g} is too large to be spent on a sample at rate {float(share):g}.")
    return Budget.computed(max(round_digits(epsilon, _DIGITS, ROUND_FLOOR), budget.epsilon), delta)


def _share(rate: Exact, already: Exact) -> Fraction:
    new, old = as_exact(rate, "a sampling rate"), as_exact(already, "a sampling rate")
    if not 0 < new <= old <= 1:
        raise RecipeError(
            "a sampling rate is above 0 and at most 1, and sampling more than before makes nothing more private: "
            f"got {float(new):g} after {float(old):g}."
        )
    return new / old
