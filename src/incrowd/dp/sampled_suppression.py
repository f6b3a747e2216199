"""How private sampling and suppression are: Li, Qardaji & Su (2012), "Provably Private Data Anonymization", theorem 1.

Sample every row with probability β, generalize by a scheme that does not depend on the data, and withhold what is seen
fewer than k times. Then publishing is (ε, δ)-differentially private for every ε ≥ −ln(1−β), with

    δ = d(k, β, ε) = max over n ≥ ⌈k/γ⌉ − 1 of P[Bin(n, β) > γn],    γ = (e^ε − 1 + β)/e^ε.

n is how many people look alike, and γn the number of them in the sample above which one person's presence shows. The
probability grows with n until γn passes the next whole number j, so only the peaks n = ⌈j/γ⌉ − 1 matter, for j ≥ k. The
first is not always the highest. A Chernoff bound says when no later one can be: for all of them, P ≤ exp(−j·KL(γ‖β)/γ).

All in logarithms, for δ may be below 1e-300. γ − β is rounded down by one part in 1e15, more than any ε or β was
rounded when it was written down: where γn was meant to be a whole number, the larger δ is told. Cost: some dozen peaks,
each a sum of at most 60 terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from incrowd.common.exact import Exact, as_exact
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.dp.binomial import log_tail
from incrowd.dp.exact import as_decimal, many_digits
from incrowd.errors import RecipeError

SMALLEST_RATE = Fraction(1, 10**20)
_SMALLEST_EPSILON, _LARGEST_EPSILON = Fraction(1, 10**18), 1000
"""Beyond these, digits would be lost: such a sample has nobody in it, and such an ε promises all or nothing."""
_LARGEST_K = 2**31
_MOST_STEPS = 200_000
"""The worst case is within some hundred steps of k, unless ε is next to nothing or no more than β itself."""
_OWNER = "sampling with suppression"
_SHORTFALL = Fraction(1, 10**15)
_STOPPING_MARGIN = 1e-9


@dataclass(frozen=True)
class WorstCase:
    """The crowd in which one person shows most easily: `crowd` people look alike, `seen` of them in the sample."""

    crowd: int
    seen: int
    log_delta: float

    @property
    def delta(self) -> float:
        """The probability of this, to about twelve digits, and never 0."""
        return max(math.exp(self.log_delta), math.ulp(0.0))


def delta_of(k: int, rate: Exact, epsilon: Exact) -> float:
    """Return d(k, β, ε).

    >>> f"{delta_of(20, 0.1, 1):.3g}"
    '4.07e-14'
    """
    return worst_case(k, rate, epsilon).delta


def delta_curve(k: int, rate: Exact, epsilons: Iterable[Exact]) -> list[float]:
    """Return δ for each ε: the guarantees hold all at once.

    >>> [f"{delta:.2e}" for delta in delta_curve(20, "0.2", [0.25, 1, 2])]
    ['2.16e-03', '6.03e-09', '1.59e-12']
    """
    return [delta_of(k, rate, epsilon) for epsilon in epsilons]


def worst_case(k: int, rate: Exact, epsilon: Exact) -> WorstCase:
    """Return where the maximum of theorem 1 is.

    >>> worst = worst_case(20, 0.3, 1)
    >>> worst.crowd, worst.seen, f"{worst.delta:.4e}"
    (28, 21, '1.1761e-06')
    """
    beta, eps = checked(k, rate, epsilon)

    def peak(seen: int) -> WorstCase:
        crowd = peak_crowd(seen, beta, eps)
        return WorstCase(crowd, seen, log_tail(crowd, float(beta), seen))

    return highest_peak(k, beta, eps, peak)


def highest_peak(k: int, rate: Fraction, epsilon: Fraction, peak: Callable[[int], WorstCase]) -> WorstCase:
    """Return the highest of all peaks from k on, of which none at j is above exp(−j·`chernoff_exponent`)."""
    falls_by = chernoff_exponent(rate, epsilon)
    best = WorstCase(0, 0, -math.inf)
    seen = k
    while -falls_by * seen > best.log_delta * (1 + _STOPPING_MARGIN):
        if seen - k > _MOST_STEPS:
            raise RecipeError(
                f"{_OWNER}: with k = {k:,}, a sampling rate of {float(rate):g} and ε = {float(epsilon):g}, the worst "
                "case is too far to look for.  Hint: choose a larger ε, or sample less."
            )
        found = peak(seen)
        if found.log_delta > best.log_delta:
            best = found
        seen += 1
    return best


def peak_crowd(seen: int, rate: Fraction, epsilon: Fraction) -> int:
    """Return the largest crowd n with γn below `seen`."""
    gamma = _gamma(rate, epsilon)
    return (seen * gamma.denominator - 1) // gamma.numerator


@lru_cache(1024)  # a search for k asks for the same at every k
def chernoff_exponent(rate: Fraction, epsilon: Fraction) -> float:
    """Return c such that the peak at j is at most exp(−c·j): the divergence of γ from β, over γ."""
    with many_digits():
        beta, gamma = as_decimal(rate), as_decimal(_gamma(rate, epsilon))
        return float((gamma / beta).ln() + (1 - gamma) / gamma * ((1 - gamma) / (1 - beta)).ln())


def least_epsilon(rate: Exact) -> float:
    """Return −ln(1−β), rounded up: sampling at this rate is never more private than that.

    >>> least_epsilon(0.5)
    0.6931471805599454
    """
    exact = _exactly_least(as_rate(rate))
    with many_digits():
        rounded = float(exact)
        return rounded if Fraction(str(rounded)) >= Fraction(exact) else math.nextafter(rounded, math.inf)


@lru_cache(1024)  # a search for ε asks for the same at every ε
def _exactly_least(rate: Fraction) -> Decimal:
    with many_digits():
        return -(1 - as_decimal(rate)).ln()


def require_k(k: int) -> None:
    """Refuse what is no size of a crowd."""
    require_whole(_OWNER, "k", k, at_least=1, at_most=_LARGEST_K)


def as_rate(rate: Exact) -> Fraction:
    """Return a sampling rate β as a fraction, strictly between 0 and 1."""
    beta = as_exact(rate, f"{_OWNER}: the sampling rate β")
    if not SMALLEST_RATE <= beta < 1 or float(beta) == 1:
        raise RecipeError(
            f"{_OWNER}: the sampling rate β is between 0 and 1, not {float(beta):g}.  Hint: without sampling (β = 1), "
            "suppression alone is not differentially private."
        )
    return beta


def as_epsilon(epsilon: Exact) -> Fraction:
    """Return ε as a fraction above 0."""
    eps = as_exact(epsilon, f"{_OWNER}: ε")
    if not _SMALLEST_EPSILON <= eps <= _LARGEST_EPSILON:
        raise RecipeError(f"{_OWNER}: ε is above 0 and at most {_LARGEST_EPSILON}, not {float(eps):g}.")
    return eps


def as_delta(delta: Exact) -> Fraction:
    """Return δ as a fraction between 0 and 1."""
    exact = as_exact(delta, f"{_OWNER}: δ")
    if not 0 < exact < 1:
        raise RecipeError(
            f"{_OWNER}: δ is above 0 and below 1, not {float(exact):g}.  Hint: it is the probability that the promise "
            "fails for one person, and should be far below one divided by the number of rows."
        )
    return exact


def almost(delta: Exact) -> float:
    """Return δ with one in the twelfth digit more: what comes as close as that counts as equal."""
    return float(as_delta(delta)) * (1 + 1e-12)


def checked(k: int, rate: Exact, epsilon: Exact) -> tuple[Fraction, Fraction]:
    """Return β and ε as fractions, if theorem 1 speaks about them."""
    require_k(k)
    beta, eps = as_rate(rate), as_epsilon(epsilon)
    with many_digits():
        possible = as_decimal(eps) >= _exactly_least(beta)
    if not possible:
        raise RecipeError(
            f"{_OWNER}: at a sampling rate of {float(beta):g}, ε is at least −ln(1−β) = {least_epsilon(beta)!r}, not "
            f"{float(eps)!r}: one person more lowers the chance that nobody is sampled by the factor 1−β.  "
            "Hint: sample less, or accept a larger ε."
        )
    return beta, eps


@lru_cache(1024)  # every peak of a search asks for the same
def _gamma(rate: Fraction, epsilon: Fraction) -> Fraction:
    """Return γ = 1 − (1−β)e^−ε, a little less than it is, and still above β."""
    with many_digits():
        above_rate = Fraction((1 - as_decimal(rate)) * (1 - (-as_decimal(epsilon)).exp()))
    return rate + above_rate * (1 - _SHORTFALL)
