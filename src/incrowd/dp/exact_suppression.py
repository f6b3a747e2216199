"""The exact δ of sampling and suppression, in place of the bound that theorem 1 of Li, Qardaji & Su (2012) gives.

Sample every row with probability β, generalize by a scheme that does not depend on the data, withhold what is seen
fewer than k times. Of N people who look alike, j are published with probability P[Bin(N, β) = j] if j ≥ k, and none
otherwise. One person fewer makes that Bin(N−1, β), and changes nothing else. So for every ε ≥ −ln(1−β), the least δ is

    δ = max over N and j ≥ k of  P[Bin(N, β) ≥ j] − e^ε · P[Bin(N−1, β) ≥ j].

The other direction adds nothing: no outcome is more than 1/(1−β) times as likely without the person. For each j the
difference grows with N as long as γN < j−1, with the γ of theorem 1, and falls from there on; so one N is looked at for
each j, and its two neighbours, because γ is rounded. A peak is never above the tail that theorem 1 takes, so the same
Chernoff bound says when no later one can be higher. Cost: that of theorem 1, three sums in place of one.

Theorem 1 bounds more: how likely an outcome is whose odds leave [e^−ε, e^ε] at all (definition 2 of the paper). What is
told here is differential privacy as it is usually defined.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from incrowd.common.exact import Exact
from incrowd.dp.binomial import log_probability
from incrowd.dp.exact import as_decimal, many_digits
from incrowd.dp.sampled_suppression import WorstCase, checked, highest_peak, peak_crowd

_NEGLIGIBLE = 2.0**-60


def exact_delta(k: int, rate: Exact, epsilon: Exact) -> float:
    """Return the least δ of sampling and suppression, to about eleven digits.

    >>> f"{exact_delta(20, 0.1, 1):.3g}"
    '2.76e-15'
    """
    return exact_worst_case(k, rate, epsilon).delta


def exact_worst_case(k: int, rate: Exact, epsilon: Exact) -> WorstCase:
    """Return the crowd in which one person shows most easily: how many people, and how many seen from which on.

    >>> worst = exact_worst_case(20, 0.3, 1)
    >>> worst.crowd, worst.seen
    (26, 20)
    """
    return _worst_case(k, *checked(k, rate, epsilon))


@lru_cache(1024)  # what is promised is asked for when it is stated, searched, told and drawn
def _worst_case(k: int, beta: Fraction, eps: Fraction) -> WorstCase:
    with many_digits():
        times = as_decimal(eps).exp() / (1 - as_decimal(beta))

    def peak(seen: int) -> WorstCase:
        nearest = peak_crowd(seen - 1, beta, eps) + 1 if seen > 1 else 1
        crowds = (max(crowd, seen) for crowd in (nearest - 1, nearest, nearest + 1))
        return max(
            (WorstCase(crowd, seen, _log_excess(crowd, seen, beta, Fraction(times))) for crowd in crowds),
            key=lambda found: found.log_delta,
        )

    return highest_peak(k, beta, eps, peak)


def _log_excess(crowd: int, seen: int, rate: Fraction, times: Fraction) -> float:
    """Return log Σ max(P[Bin(crowd) = j] − e^ε·P[Bin(crowd−1) = j], 0), over all j from `seen` on.

    P[Bin(crowd−1) = j] is P[Bin(crowd) = j]·(crowd−j)/(crowd·(1−β)), so each outcome adds its own probability times
    1 − `times`·(crowd−j)/crowd. That grows with j in equal steps; what comes first may be next to nothing, and is
    computed exactly.
    """
    seen = max(seen, math.floor(crowd - crowd / times) + 1)  # before that, nothing is added
    share = float(1 - times * (crowd - seen) / crowd)
    step, odds = float(min(times / crowd, Fraction(1))), float(rate / (1 - rate))
    total, term, count = share, 1.0, seen
    while count < crowd:
        term *= (crowd - count) / (count + 1) * odds
        count += 1
        share = min(share + step, 1.0)
        total += term * share
        if term < _NEGLIGIBLE * total:
            break
    return log_probability(crowd, float(rate), seen) + math.log(total) if total > 0 else -math.inf
