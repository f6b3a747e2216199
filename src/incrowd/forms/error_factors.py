"""How wrong counts from noisy boxes are: what noise does is known, what spreading rows inside a box does is measured.

A box that a question is about in part, by a share s, would be wrong by n·√(s(1 − s)) if its n rows were all on one side
or the other by the toss of a coin. Nobody knows how near to that they are. So many random questions are asked, with a
small share of ε (`publishing/measuring_errors.py`), and the factor is found that makes 95 of 100 intervals hold the
truth: for one, two, and three or more conditions. Questions about whole boxes share the noise of few sums, which may
happen to be large or small in one release: that is measured too, where a release has enough noise to tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from statistics import NormalDist
from typing import Any

from incrowd.common.records import dataclass
from incrowd.core.estimate import NoisyCount
from incrowd.errors import SourceError

REACH = NormalDist().inv_cdf(0.975)
KINDS = 3
"""One condition, two, and three or more."""
UNMEASURED = 2.0
"""The factor that is taken where none was measured."""

MEASURED = (
    "Noise is known. How wrong it is to spread rows inside a box was measured on random questions about values that "
    "people have, with one to three conditions: others may be further off."
)
GUESSED = (
    "Noise is known. How wrong it is to spread rows inside a box was not measured, and is taken to be what it is in "
    "usual tables.  Hint: give the method an error_share above 0."
)
OF_A_MODEL = (
    "Rows come from a model of noisy counts. How wrong its answers are was not measured, and is taken to be what it is "
    "in usual tables: the interval is a guess.  Hint: give the method an error_share above 0."
)
NOISE_ONLY = "The noise of the counts is all that is unsure."


@dataclass(frozen=True)
class ErrorFactors:
    """What the errors of a release are multiplied with, by the number of conditions.

    `offsets` are added to them before, as squares, so that small errors need not be known as well as large ones.
    """

    factors: tuple[float, ...] = (UNMEASURED,) * KINDS
    offsets: tuple[float, ...] = (0.0,) * KINDS
    measured: bool = False
    noise: float = 1.0
    """How large the noise of whole boxes happens to be, next to what it is on average."""
    columns: Mapping[str, float] = field(default_factory=dict)
    """Where rows come from a model: the variance that noise gives to the count of one value of a column."""
    widths: Mapping[str, float] = field(default_factory=dict)
    """And from how many values of a range on more of them add little (`dp/marginals/told_variance.py`)."""
    rows: float = 0.0
    """The variance of all rows; 0 in older files."""
    dependence: float = 0.0
    """The correlation that a model is wrong by before it is measured (`model_errors.py`); 0 in older files."""
    by_class: bool = False
    """Whether a model knows every column by class, up to noise; not told in older files."""

    def count(self, center: float, noise: float, spread: float, conditions: int) -> NoisyCount:
        """Return a count with its interval: `noise` is a variance, `spread` a standard deviation if coins were tossed.

        Where nothing is spread, noise is all there is.
        """
        if spread <= 0:
            return NoisyCount(center, REACH * self.noise * math.sqrt(noise))
        kind = min(max(conditions, 1), KINDS) - 1
        return NoisyCount(center, self.factors[kind] * math.sqrt(noise + spread**2 + self.offsets[kind] ** 2))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for a file."""
        told = {"factors": list(self.factors), "offsets": list(self.offsets), "noise": self.noise}
        of_columns = {"columns": dict(self.columns), "widths": dict(self.widths)}
        of_model = {**of_columns, "rows": self.rows, "dependence": self.dependence, "by_class": self.by_class}
        return {**told, **of_model, "measured": self.measured}

    @classmethod
    def read(cls, told: object) -> ErrorFactors:
        """Read what a file tells; older ones tell nothing."""
        if told is None:
            return cls()
        wrong = SourceError("summary.json does not tell the errors of counts as they were written.")
        if not isinstance(told, Mapping):
            raise wrong
        numbers = []
        for name in ("factors", "offsets"):
            found = told.get(name)
            if not isinstance(found, list) or len(found) != KINDS or not all(map(_is_size, found)):
                raise wrong
            numbers.append(tuple(float(one) for one in found))
        sizes = noise, rows, dependence = told.get("noise", 1.0), told.get("rows", 0.0), told.get("dependence", 0.0)
        if not all(map(_is_size, sizes)):
            raise wrong
        by_name = []
        for found in (told.get("columns", {}), told.get("widths", {})):
            if not isinstance(found, Mapping) or not all(map(_is_size, found.values())):
                raise wrong
            by_name.append({str(name): float(one) for name, one in found.items()})
        columns, widths = by_name
        measured, by_class = (told.get(name) is True for name in ("measured", "by_class"))
        sure = float(rows), float(dependence), by_class
        return cls(numbers[0], numbers[1], measured, float(noise), columns, widths, *sure)


def _is_size(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and math.isfinite(number) and number >= 0
