"""Tighter totals for many questions: optimal composition by privacy loss distributions, through dp-accounting.

Adding up ε is exact but pessimistic once some δ is allowed. A question of which nothing but (ε, δ) is known is at worst
randomized response with those parameters; its privacy loss distribution composes exactly (Kairouz, Oh & Viswanath 2015;
Koskela, Jälkö & Honkela 2020), and the library rounds losses up. Cost: some seconds for thousands of questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from typing import Any

from incrowd.dp.budget import Budget
from incrowd.dp.exact import Exact, as_exact, float_at_least
from incrowd.errors import RecipeError

_MOST_PLACES = 1_000_000
"""Losses are rounded up to whole intervals; so many of them hold the largest."""


def tight_epsilon(prices: Iterable[Budget], delta: Exact) -> float:
    """Return an ε that goes with `delta` for questions to the same people, each with its price decided beforehand.

    `Accountant.steps` are such prices. What comes back is never more than their sum, as long as δ is not below theirs;
    if it is, no ε may be enough, and infinity comes back.
    """
    allowed = as_exact(delta, "δ")
    if not 0 < allowed < 1:
        raise RecipeError(f"δ is above 0 and below 1, not {float(allowed):g}.  Hint: without δ, prices just add up.")
    times = Counter(prices)
    if not times:
        return 0.0
    total = sum((price * number for price, number in times.items()), start=Budget.nothing())
    finest = min(1e-4, min(float(price.epsilon) for price in times) / 100)
    losses = _losses(max(finest, float(total.epsilon) / _MOST_PLACES))
    parts = [losses(price).self_compose(number) for price, number in times.items()]
    tight = float(reduce(lambda left, right: left.compose(right), parts).get_epsilon_for_delta(float(allowed)))
    if total.delta <= allowed:  # the library's rounding may cost more than it gains where there are few questions
        return min(tight, float_at_least(total.epsilon))
    return tight


def _losses(interval: float) -> Any:
    try:
        from dp_accounting.pld import common, privacy_loss_distribution  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise RecipeError(
            "tighter composition needs dp-accounting, which is not installed.  Hint: pip install 'incrowd[accounting]'."
        ) from None

    def losses(price: Budget) -> Any:
        parameters = common.DifferentialPrivacyParameters(float_at_least(price.epsilon), float_at_least(price.delta))
        return privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=interval)

    return losses
