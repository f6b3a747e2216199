"""Noise (Kim 1986; Brand 2002): normal noise of a known variance is added to numbers, so that none is exactly the true
one, and analysts can correct for it.

Cost: two random words for each person.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.changes.change import Change, Column, shown_number, three_digits
from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_number
from incrowd.common.randomness import words
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError, SchemaError

_LARGEST = 2.0**62


@dataclass(frozen=True)
class Noise(Change):
    """Add normal noise to numbers.

    Parameters
    ----------
    sd : its standard deviation, in the units of the column.
    relative : in place of it, the same as a share of the column's own standard deviation, which is taken to three
        digits.

    Noise is drawn for each person independently and has the mean 0: means stay what they are, up to chance, and the
    variance grows by that of the noise, which `summary.json` tells. Whole numbers stay whole, which adds 1/12 to the
    variance; others get no more decimals than a hundredth of the deviation has. Where it is known whose a row is, rows
    of one person with the same value get the same noise, so that it cannot be averaged away. Numbers may become
    negative: `[Noise(500), BottomCoding(0)]` cuts them off, and moves the mean.

    >>> Noise(500).says()
    'by chance: with normal noise of standard deviation 500'

    Reference: Kim (1986), A Method for Limiting Disclosure in Microdata Based on Random Noise and Transformation;
    Brand (2002), Microdata Protection through Noise Addition.
    """

    sd: float | None = None
    relative: float | None = None
    name: ClassVar[str] = "noise"
    plain_name: ClassVar[str] = "numbers with noise"
    by_chance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.sd is None) == (self.relative is None):
            raise RecipeError(f"{self.name} needs either sd or relative.  Hint: sd=500, or relative=0.1.")
        name, value = ("sd", self.sd) if self.relative is None else ("relative", self.relative)
        require_number(self.name, name, value, above=0)

    @classmethod
    def examples(cls) -> tuple[Noise, ...]:
        """Return noise in units, and noise by the column's own deviation."""
        return (cls(2.0), cls(relative=0.2))

    @property
    def looks_at_data(self) -> bool:
        """Whether the deviation is taken from the table."""
        return self.sd is None

    def perturb(self, column: Column, rng: np.random.Generator) -> pl.Series:
        """Add noise to each entry."""
        deviation = self.deviation(column)
        numbers = column.require_numbers(self)[column.code_of]
        noisy = numbers + deviation * _normal(rng, len(numbers))
        if np.abs(noisy).max(initial=0.0) > _LARGEST:
            raise SchemaError(f"column '{column.name}': its numbers are too large for noise.")
        if column.whole:
            return pl.Series(np.rint(noisy).astype(np.int64))
        return pl.Series(noisy if deviation == 0 else np.round(noisy, _decimals(deviation)))

    def deviation(self, column: Column) -> float:
        """Return the standard deviation of the noise."""
        if self.sd is not None:
            return float(self.sd)
        numbers, people = column.require_numbers(self), column.people
        if not len(numbers):
            return 0.0
        mean = np.average(numbers, weights=people)
        return three_digits(float(self.relative or 0) * math.sqrt(np.average((numbers - mean) ** 2, weights=people)))

    def told(self, column: Column) -> dict[str, float]:
        """Return deviation and variance of what was added."""
        deviation = self.deviation(column)
        return {"sd": deviation, "variance": deviation**2 + (1 / 12 if column.whole else 0.0)}

    def says(self) -> str:
        """Say how much."""
        much = shown_number(self.sd) if self.sd is not None else f"{100 * (self.relative or 0):g} % of the column's"
        return f"by chance: with normal noise of standard deviation {much}"


def _normal(rng: np.random.Generator, number: int) -> Floats:
    """Return independent standard normal numbers, from words (Box & Muller 1958)."""
    even = (words(rng, 2 * number) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(np.sqrt(-2 * np.log1p(-even[:number])) * np.cos(2 * np.pi * even[number:]))


def _decimals(deviation: float) -> int:
    """Return how many decimals a hundredth of the deviation has.

    >>> _decimals(500.0), _decimals(0.5), _decimals(20.0)
    (0, 3, 1)
    """
    return max(2 - math.floor(math.log10(deviation)), 0)
