"""Budgets of differential privacy, as exact numbers: what a user wrote is what is spent, to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from incrowd.common.exact import Exact, as_exact
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError


@dataclass(frozen=True, init=False)
class Budget:
    """ε, and δ if there is one. Budgets of questions to the same people add up.

    >>> Budget(0.1) + Budget("0.2", "1e-6")
    Budget(ε = 3/10, δ = 1/1000000)
    >>> Budget(1) / 3
    Budget(ε = 1/3)
    >>> Budget(0)
    Traceback (most recent call last):
    ...
    incrowd.errors.RecipeError: ε is above 0, not 0.  Hint: the smaller it is, the more privacy; 0 would tell nothing.
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Exact, delta: Exact = 0) -> None:
        exact_epsilon, exact_delta = as_exact(epsilon, "ε"), as_exact(delta, "δ")
        if exact_epsilon <= 0:
            raise RecipeError(
                f"ε is above 0, not {epsilon}.  Hint: the smaller it is, the more privacy; 0 would tell nothing."
            )
        if not 0 <= exact_delta < 1:
            raise RecipeError(
                f"δ is at least 0 and below 1, not {delta}.  Hint: it is the probability that ε does not hold, and "
                "should be far below one divided by the number of rows."
            )
        self._set(exact_epsilon, exact_delta)

    def _set(self, epsilon: Fraction, delta: Fraction) -> None:
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    @classmethod
    def computed(cls, epsilon: Fraction, delta: Fraction) -> Budget:
        """Return what arithmetic came to: it may be nothing, and a sum may have a δ that promises nothing."""
        made = cls.__new__(cls)
        made._set(epsilon, delta)
        return made

    @classmethod
    def nothing(cls) -> Budget:
        """Return what has been spent before anything is asked; the one budget without ε."""
        return cls.computed(Fraction(0), Fraction(0))

    def __add__(self, other: Budget) -> Budget:
        """Return the price of one after the other (sequential composition)."""
        return self.computed(self.epsilon + other.epsilon, self.delta + other.delta)

    def __mul__(self, times: int | Fraction) -> Budget:
        """Return the price of the same several times, or a share of it."""
        if times < 0:
            raise ValueError("nobody pays back privacy")
        return self.computed(self.epsilon * times, self.delta * times)

    __rmul__ = __mul__

    def __truediv__(self, among: int | Fraction) -> Budget:
        """Return one of so many equal shares."""
        if among <= 0:
            raise ValueError("shares are more than none")
        return self * (1 / Fraction(among))

    def larger(self, other: Budget) -> Budget:
        """Return the price of both for people who are in only one of them (parallel composition)."""
        return self.computed(max(self.epsilon, other.epsilon), max(self.delta, other.delta))

    def less(self, spent: Budget) -> Budget:
        """Return what is left of both numbers after spending; never less than nothing."""
        nothing = Fraction(0)
        return self.computed(max(self.epsilon - spent.epsilon, nothing), max(self.delta - spent.delta, nothing))

    def covers(self, price: Budget) -> bool:
        """Whether a price is within it."""
        return price.epsilon <= self.epsilon and price.delta <= self.delta

    def split(self, weights: Sequence[int | Fraction]) -> tuple[Budget, ...]:
        """Return shares in proportion to weights; together they are exactly this budget.

        >>> Budget(1).split([1, 2])
        (Budget(ε = 1/3), Budget(ε = 2/3))
        """
        exact = [Fraction(weight) for weight in weights]
        if not exact or min(exact) <= 0:
            raise ValueError("there is a weight, and all are above 0")
        return tuple(self * (weight / sum(exact)) for weight in exact)

    def __bool__(self) -> bool:
        return self.epsilon > 0 or self.delta > 0

    def __repr__(self) -> str:
        delta = f", δ = {self.delta}" if self.delta else ""
        return f"Budget(ε = {self.epsilon}{delta})"

    def __str__(self) -> str:
        delta = f", δ = {float(self.delta):.6g}" if self.delta else ""
        return f"ε = {float(self.epsilon):.6g}{delta}"
