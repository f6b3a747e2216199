"""What a private table answered, how sure that is, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import polars as pl

from incrowd.common.records import dataclass
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import half_width, variance
from incrowd.dp.fixed_point import FixedPoint
from incrowd.dp.laplace_sums import half_widths
from incrowd.errors import QueryError

_MEANS = 2001
"""How many means are held against two noisy sums, to find those that these allow."""


@dataclass(frozen=True)
class Answer:
    """One question, and what was answered: an estimate, its standard error, and an interval that holds the truth.

    Parameters
    ----------
    query : the conditions that rows satisfy.
    value : the estimate.
    error : its standard error: what noise adds, and what a sample adds if there is one.
    price : what the answer cost everybody by itself; on a sample, before it counts for less. Nothing for those that
        were answered together with one that was paid for.
    note : whether it was made with a seed.
    what : what was asked: "count", "sum of age", …
    low, high : the interval that holds the true number with the probability `confidence`.
    confidence : the probability of the interval.
    cells : the answers of all groups, where the question was about groups; the value is then their sum.
    """

    query: Mapping[str, object]
    value: float
    error: float
    price: Budget
    note: str = ""
    what: str = "count"
    low: float = math.nan
    high: float = math.nan
    confidence: float = 0.95
    cells: pl.DataFrame | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.value:,.6g} ({self.low:,.6g} to {self.high:,.6g})"


@dataclass(frozen=True)
class Found:
    """A noisy number: the estimate, its standard error and its interval."""

    value: float
    error: float
    low: float
    high: float


def require_confidence(confidence: object) -> None:
    """Refuse anything but a probability."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise QueryError("confidence is a number between 0 and 1, such as 0.95.")


def sure_count(noisy: int, scale: Fraction, rate: Fraction, confidence: float) -> Found:
    """Return what a noisy count says of the table's rows; a sample adds what it leaves out by chance."""
    share = float(rate)
    value = float(noisy / rate)
    sampling = max(value, 0.0) * (1 - share) / share
    reach = half_width(scale, confidence) / share
    if sampling:
        reach = math.sqrt(reach**2 + NormalDist().inv_cdf((1 + confidence) / 2) ** 2 * sampling)
    error = math.sqrt(variance(scale) / share**2 + sampling)
    return Found(value, error, min(max(value - reach, 0.0), value), max(value + reach, 0.0))


def sure_sum(noisy: int, scale: Fraction, grid: FixedPoint, confidence: float) -> Found:
    """Return what a noisy sum of so many steps says."""
    step = float(grid.step)
    value, reach = float(noisy * grid.step), half_width(scale, confidence) * step
    return Found(value, math.sqrt(variance(scale)) * step, value - reach, value + reach)


def sure_mean(
    noisy_sum: int, sum_scale: Fraction, noisy_count: int, count_scale: Fraction, grid: FixedPoint, confidence: float
) -> Found:
    """Return what a noisy sum, from the middle of the bounds, and a noisy count say of a mean.

    The interval holds the means for which the sum is that of the count, up to what noise may do to the two (Fieller
    1954). It is all that is within the bounds where the count may be none.
    """
    low, high, center = float(grid.lower), float(grid.upper), float(grid.center)
    total, step = float(noisy_sum * grid.step), float(grid.step)
    scales = float(sum_scale) * step, float(count_scale)
    value = min(max(center + total / noisy_count, low), high) if noisy_count > 0 else center
    means = np.linspace(low, high, _MEANS)
    reach = half_widths(np.full(_MEANS, scales[0]), np.abs(means - center) * scales[1], confidence)
    allowed = means[np.abs(total - (means - center) * noisy_count) <= reach]
    half = (high - low) / (_MEANS - 1)
    ends = (max(allowed[0] - half, low), min(allowed[-1] + half, high)) if allowed.size else (value, value)
    spread = variance(sum_scale) * step**2 + (value - center) ** 2 * variance(count_scale)
    error = min(math.sqrt(spread) / max(noisy_count, 1), (high - low) / 2)
    return Found(value, error, min(ends[0], value), max(ends[1], value))
