"""Two ways to pay for noisy counts and choices: in pure ε, or in ρ of zero-concentrated privacy.

All amounts are shares of one budget; what a share buys depends on the way. In ε, noise is the discrete Laplace
distribution's and choices are those of permute-and-flip; in ρ, noise is the discrete Gaussian's and choices are those
of the exponential mechanism. Everything is written down before it is asked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.dp.accountant import Accountant, Purse
from incrowd.dp.budget import Budget
from incrowd.dp.concentrated import epsilon_of_choice, price_of_choice
from incrowd.dp.discrete_gaussian import gaussian_counts, gaussian_deviation, gaussian_variance, price
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.dp.selection import exponential_mechanism, permute_and_flip


class Payment(ABC):
    """What is left of a budget, as a share of all of it, and what shares buy."""

    choices: Fraction
    """The share of a round's price that its choice gets; the rest is for counting."""
    evenness: float
    """Counts with n cells get shares in proportion to n to this power: so the sum of all noise is least."""

    def __init__(self, rng: np.random.Generator, accountant: Accountant) -> None:
        self.left = Fraction(1)
        self._rng, self._accountant = rng, accountant

    def count(self, what: str, true: Ints, share: Fraction) -> tuple[Ints, float]:
        """Return counts with noise, and its variance; everybody is in one of the counts."""
        self._take(share)
        return self._count(what, true, share)

    def choose(self, what: str, scores: Ints, share: Fraction, *, sensitivity: Fraction, unit: Fraction) -> int:
        """Return the place of one of the largest scores."""
        self._take(share)
        return self._choose(what, scores, share, sensitivity, unit)

    def _take(self, share: Fraction) -> None:
        if not 0 < share <= self.left:
            raise ValueError("a share is above 0, and no more than is left")
        self.left -= share

    @abstractmethod
    def mean_noise(self, share: Fraction) -> float:
        """Return how far from the truth a count is on average."""

    @abstractmethod
    def _count(self, what: str, true: Ints, share: Fraction) -> tuple[Ints, float]: ...

    @abstractmethod
    def _choose(self, what: str, scores: Ints, share: Fraction, sensitivity: Fraction, unit: Fraction) -> int: ...


class PayInEpsilon(Payment):
    """Shares of ε."""

    choices = Fraction(1, 4)
    evenness = 1 / 2

    def __init__(self, budget: Budget, rng: np.random.Generator, accountant: Accountant) -> None:
        super().__init__(rng, accountant)
        self._budget = budget

    def mean_noise(self, share: Fraction) -> float:
        """Return the noise's scale, which it about is."""
        return float(1 / (self._budget.epsilon * share))

    def _count(self, what: str, true: Ints, share: Fraction) -> tuple[Ints, float]:
        epsilon = self._budget.epsilon * share
        self._accountant.spend(what, Budget(epsilon))
        return noisy_counts(self._rng, true, epsilon=epsilon), variance(noise_scale(Fraction(1), epsilon))

    def _choose(self, what: str, scores: Ints, share: Fraction, sensitivity: Fraction, unit: Fraction) -> int:
        epsilon = self._budget.epsilon * share
        self._accountant.spend(what, Budget(epsilon))
        return permute_and_flip(self._rng, scores, epsilon=epsilon, sensitivity=sensitivity, unit=unit)


class PayInRho(Payment):
    """Shares of ρ."""

    choices = Fraction(1, 10)
    evenness = 2 / 3

    def __init__(self, purse: Purse, rng: np.random.Generator, accountant: Accountant) -> None:
        super().__init__(rng, accountant)
        self._rho = purse.rho

    def mean_noise(self, share: Fraction) -> float:
        """Return √(2/π)·σ."""
        return math.sqrt(1 / (math.pi * float(self._rho * share)))

    def _count(self, what: str, true: Ints, share: Fraction) -> tuple[Ints, float]:
        deviation = gaussian_deviation(self._rho * share)
        self._accountant.spend_rho(what, price(deviation))
        return gaussian_counts(self._rng, true, deviation), gaussian_variance(deviation)

    def _choose(self, what: str, scores: Ints, share: Fraction, sensitivity: Fraction, unit: Fraction) -> int:
        epsilon = epsilon_of_choice(self._rho * share)
        self._accountant.spend_rho(what, price_of_choice(epsilon))
        return exponential_mechanism(self._rng, scores, epsilon=epsilon, sensitivity=sensitivity, unit=unit)
