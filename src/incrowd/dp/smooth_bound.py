"""f-smooth (ε0, δ0)-differential privacy: worse breaches are less likely (Li, Qardaji & Su 2012, section 6).

A mechanism that has it is (z·ε0, δ0·f(z))-private for every z ≥ 1 at once, with f(1) = 1 and f falling. Sampling with
suppression has it (theorem 6) with

    δ0·f(z) = exp(−k·(ln(γ/β) − (γ − β)/γ)),    γ = γ(z) = (e^(z·ε0) − 1 + β)/e^(z·ε0).

This Chernoff bound is never below d(k, β, z·ε0) of theorem 1. (In the paper's δ0, "γ(1−β)" is a slip for γ(1) − β.)
"""

from __future__ import annotations

import math
from fractions import Fraction

from incrowd.common.exact import Exact
from incrowd.common.records import dataclass
from incrowd.dp.sampled_suppression import checked


@dataclass(frozen=True)
class SmoothBound:
    """Sampling with suppression, or several of them one after the other: what it is bounded by at every ε from ε0 on.

    >>> bound = SmoothBound.of(20, rate=0.1, epsilon=0.5)
    >>> f"{bound.delta:.2e}", f"{bound.falls_to(2):.1e}"
    ('4.26e-07', '1.8e-03')
    """

    parts: tuple[tuple[int, Fraction, Fraction], ...]
    """k, β and ε0 of each."""

    @classmethod
    def of(cls, k: int, *, rate: Exact, epsilon: Exact) -> SmoothBound:
        """Return the bound of one mechanism."""
        return cls(((k, *checked(k, rate, epsilon)),))

    @property
    def epsilon(self) -> Fraction:
        """ε0."""
        return sum((epsilon for _, _, epsilon in self.parts), start=Fraction(0))

    @property
    def delta(self) -> float:
        """δ0."""
        return self.delta_at(1)

    def delta_at(self, times: float) -> float:
        """Return a δ that goes with `times`·ε0: the sum over the parts of δ0·f(times)."""
        return math.fsum(math.exp(_log_bound(*part, times)) for part in self.parts)

    def falls_to(self, times: float) -> float:
        """Return f(times): of the parts' functions the largest."""
        return math.exp(max(_log_bound(*part, times) - _log_bound(*part, 1) for part in self.parts))

    def __add__(self, other: SmoothBound) -> SmoothBound:
        """Return the bound of one mechanism after the other (theorem 5): ε0 and δ0 add up, f is the larger one."""
        return SmoothBound(self.parts + other.parts)


def _log_bound(k: int, rate: Fraction, epsilon: Fraction, times: float) -> float:
    if not times >= 1:
        raise ValueError("the bound speaks about ε0 and multiples of it that are larger")
    beta = float(rate)
    above = -math.expm1(-float(epsilon) * times) * (1 - beta)  # γ − β
    return -k * (math.log1p(above / beta) - above / (beta + above))
