"""What a release answers to a counting question, and how sure it is.

The true count lies between two bounds that no reading of the release can break. Between them it is taken to have a beta
distribution with the model's mean and variance: so an interval is skewed where the estimate is near
a bound, and never leaves them.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Protocol

from incrowd.common.records import dataclass
from incrowd.errors import QueryError

_REACH = NormalDist().inv_cdf(0.975)
_STEPS = 44
_CLOSE = 1e-12
_EDGE = 0.01
"""An estimate at a bound is taken to be this share of the way inside: what is assumed of open ends may be wrong."""


@dataclass(frozen=True)
class CountBounds:
    """What is known of a count of published rows: an estimate, the least and the most.

    `center` is where the true count is expected, given all that the release tells, and `variance` its squared error.
    """

    value: float
    least: float
    most: float
    variance: float
    center: float

    @property
    def error(self) -> float:
        """The standard error of the estimate."""
        return math.sqrt(max(self.variance, 0.0) + (self.value - self.center) ** 2)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval that holds the count with a probability; a point where the bounds meet."""
        room = self.most - self.least
        if room <= 0:
            return self.value, self.value
        mean = min(max((self.center - self.least) / room, _EDGE), 1 - _EDGE)
        most_spread = room * room * mean * (1 - mean)
        if self.variance <= 0:
            return self.value, self.value
        weight = max(most_spread / self.variance - 1, 0.05)
        tail = (1 - confidence) / 2
        low, high = (beta_quantile(share, weight * mean, weight * (1 - mean)) for share in (tail, 1 - tail))
        return min(self.least + room * low, self.value), max(self.least + room * high, self.value)


class SureCount(Protocol):
    """What is known of a count of published rows."""

    @property
    def value(self) -> float:
        """The estimate."""
        ...

    @property
    def error(self) -> float:
        """Its standard error."""
        ...

    @property
    def least(self) -> float:
        """The smallest number that it can be."""
        ...

    @property
    def most(self) -> float:
        """The largest."""
        ...

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval that holds the count with a probability."""
        ...


@dataclass(frozen=True)
class NoisyCount:
    """What noisy counts tell: an estimate that may be below 0, and how far around it 95 % of the truths are.

    Nothing is certain of a noisy count, but that people are not fewer than none.
    """

    center: float
    reach: float

    @property
    def value(self) -> float:
        """The estimate: never below 0."""
        return max(self.center, 0.0)

    @property
    def error(self) -> float:
        """Its standard error."""
        return self.reach / _REACH

    @property
    def least(self) -> float:
        """Nobody."""
        return 0.0

    @property
    def most(self) -> float:
        """Everybody there could be."""
        return math.inf

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval that holds the count with a probability; where all of it is below 0, half of its reach
        above 0.
        """
        reach = self.reach * NormalDist().inv_cdf((1 + confidence) / 2) / _REACH
        return max(self.center - reach, 0.0), max(self.center + reach, reach / 2)


@dataclass(frozen=True)
class CountEstimate:
    """How many rows satisfy a query, as far as a release tells.

    Parameters
    ----------
    value : the estimate: what `Release.count` returns.
    error : its standard error.
    low, high : the interval that holds the true number with the probability `confidence`, if what it `assumes` is so.
    least, most : bounds that hold whatever is behind the labels; `most` is infinite where only a sample is published.
    confidence : the probability of the interval.
    assumes : what error and interval rest on, in words.
    """

    value: float
    error: float
    low: float
    high: float
    least: float
    most: float
    confidence: float
    assumes: str

    @classmethod
    def of(cls, found: SureCount, *, rate: float, confidence: float, assumes: str) -> CountEstimate:
        """Return the estimate of a table of which a share was sampled, from what is known of the published rows."""
        if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
            raise QueryError("confidence is a number between 0 and 1, such as 0.95.")
        low, high = found.interval(confidence)
        if rate >= 1:
            return cls(found.value, found.error, low, high, found.least, found.most, confidence, assumes)
        value = found.value / rate
        by_sampling = max(value, 1.0) * (1 - rate) / rate
        reach = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 * by_sampling
        below = math.sqrt(((found.value - low) / rate) ** 2 + reach)
        above = math.sqrt(((high - found.value) / rate) ** 2 + reach)
        error = math.sqrt(found.error**2 / rate**2 + by_sampling)
        return cls(
            value,
            error,
            max(value - below, found.least),
            value + above,
            found.least,
            math.inf,
            confidence,
            f"{assumes} Rows were sampled with probability {rate:g}, each by itself.",
        )

    def __str__(self) -> str:
        return f"{self.value:,.0f} ({self.low:,.0f} to {self.high:,.0f})"


def beta_quantile(probability: float, first: float, second: float) -> float:
    """Return the value below which a beta variable lies with a probability.

    >>> [round(beta_quantile(p, 2, 3), 4) for p in (0.025, 0.5, 0.975)]
    [0.0676, 0.3857, 0.8059]
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if beta_probability(middle, first, second) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_probability(value: float, first: float, second: float) -> float:
    """Return the probability that a beta variable lies below a value, by the continued fraction of Lentz."""
    if value <= 0 or value >= 1:
        return 0.0 if value <= 0 else 1.0
    if value > (first + 1) / (first + second + 2):
        return 1 - beta_probability(1 - value, second, first)
    log_front = first * math.log(value) + second * math.log1p(-value) - math.log(first)
    log_front += math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    numerator, denominator = 1.0, 0.0
    fraction = 1.0
    for place in range(5000):
        half = place // 2
        if place == 0:
            step = 1.0
        elif place % 2:
            step = -(first + half) * (first + second + half) * value / ((first + place - 1) * (first + place))
        else:
            step = half * (second - half) * value / ((first + place - 1) * (first + place))
        denominator = 1 / _not_zero(1 + step * denominator)
        numerator = _not_zero(1 + step / numerator)
        fraction *= numerator * denominator
        if place and abs(numerator * denominator - 1) < _CLOSE:
            break
    return math.exp(log_front) * (fraction - 1)


def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
