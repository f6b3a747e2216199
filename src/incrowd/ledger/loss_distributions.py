"""What prices come to by privacy-loss distributions: the tightest sum there is, for prices that were fixed beforehand.

Any (ε, δ)-private release tells no more than a coin that gives all away with probability δ and is otherwise e^ε times
likelier to tell the truth (Kairouz, Oh & Viswanath 2015). What such coins tell is composed by `dp-accounting`, and
rounded to the safe side.

A cap that is held against running sums lets a price depend on what earlier releases showed. For that, this sum is not
known to hold. So it is told, and never decides (`spending.py` does).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from incrowd.common.extras import needing_extra
from incrowd.dp.budget import Budget

_STEP = 1e-4
"""Losses are rounded up to multiples of this."""


def cost_if_fixed(prices: Iterable[Budget], delta: Fraction) -> Budget:
    """Return the ε that prices come to at a δ, if nobody chose one of them by looking at earlier releases."""
    with needing_extra("accounting", "sums by privacy-loss distributions"):
        from dp_accounting.pld import privacy_loss_distribution as losses
        from dp_accounting.pld.common import DifferentialPrivacyParameters
    together = losses.identity(_STEP)
    for price, times in Counter(prices).items():
        epsilon = math.nextafter(float(price.epsilon), math.inf)
        one = losses.from_privacy_parameters(
            DifferentialPrivacyParameters(epsilon, float(price.delta)), value_discretization_interval=_STEP
        )
        together = together.compose(one.self_compose(times))
    found = together.get_epsilon_for_delta(float(delta))
    if not math.isfinite(found):
        raise ValueError("δ is smaller than the prices' own")
    return Budget.computed(Fraction(max(found, 0.0)), delta)
