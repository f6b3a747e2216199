"""What top coding and bottom coding share: a threshold, and what is shown of all who are beyond it.

No threshold and no mean is made of fewer than ten people, so that neither tells of the richest or the oldest one.
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal, get_args

import numpy as np
import polars as pl

from incrowd.changes.change import Change, Column, shown_number, three_digits
from incrowd.common.arrays import Bools, Counts, Floats
from incrowd.common.parameters import require_number, shown_value
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.cuts import cuts_below
from incrowd.hierarchies.values import as_short_text

Beyond = Literal["threshold", "label", "mean"]
"""What is shown of values beyond a threshold: the threshold, a label such as `>=100000`, or their mean."""
FEWEST = 10
"""A threshold or a mean that is taken from the table is made of so many people at least."""


@dataclass(frozen=True)
class EndCoding(Change):
    """A change of all values beyond a threshold, at one of the two ends."""

    sign: ClassVar[str] = ""
    """How a label of those beyond begins."""
    side: ClassVar[str] = ""
    """What its parameter is called that states the threshold."""

    @property
    def stated(self) -> float | None:
        """The threshold, where it is stated."""
        return None

    @property
    def shows(self) -> Beyond:
        """What is shown of those beyond."""
        return "threshold"

    @property
    def looks_at_data(self) -> bool:
        """Whether threshold or mean are taken from the table."""
        return self.stated is None or self.shows == "mean"

    def beyond(self, numbers: Floats, threshold: float) -> Bools:
        """Return which numbers are at the threshold or beyond it."""
        return np.zeros(len(numbers), dtype=bool)

    def threshold(self, column: Column) -> float:
        """Return the threshold: as stated, or a round number that enough people are beyond."""
        return self.stated or 0.0

    def recode(self, column: Column) -> pl.Series:
        """Change those that are beyond."""
        numbers = column.require_numbers(self)
        threshold = self.threshold(column)
        there = self.beyond(numbers, threshold)
        if self.shows == "label":
            label = pl.Series([f"{self.sign}{shown_number(threshold)}"])
            text = as_short_text(column.values)
            return pl.select(pl.when(pl.Series(there)).then(label).otherwise(text)).to_series()
        shown = self._mean(column, numbers, there, threshold) if self.shows == "mean" else threshold
        if column.whole and float(shown).is_integer():
            kept = column.values.cast(pl.Int64, strict=False)
            if kept.null_count() == 0:
                return kept.set(pl.Series(there), int(shown))
        return pl.Series(np.where(there, shown, numbers))

    def told(self, column: Column) -> dict[str, float]:
        """Return the threshold, the mean, and how many people are beyond."""
        numbers = column.require_numbers(self)
        threshold = self.threshold(column)
        there = self.beyond(numbers, threshold)
        found = {"threshold": threshold}
        if self.shows == "mean" and there.any():
            found["shown"] = self._mean(column, numbers, there, threshold)
        return found

    def _mean(self, column: Column, numbers: Floats, there: Bools, threshold: float) -> float:
        """Return the mean of those beyond, to three digits; whole where all values are."""
        people = column.people[there]
        if not there.any():
            return threshold
        if people.sum() < FEWEST:
            raise SchemaError(
                f"column '{column.name}': fewer than {FEWEST} people are beyond the threshold, and their mean would "
                f'tell too much of each.  Hint: shown="threshold", or another {self.side}.'
            )
        mean = three_digits(float(np.average(numbers[there], weights=people)))
        mean = float(round(mean)) if column.whole else mean
        return mean if self.beyond(np.array([mean]), threshold)[0] else threshold


def require_end(name: str, side: str, stated: float | None, share: float | None, shown: str) -> None:
    """Refuse parameters that state no threshold, or two."""
    if (stated is None) == (share is None):
        raise RecipeError(f"{name} needs either {side} or share.  Hint: {side}=100000, or share=0.01.")
    if stated is not None:
        require_number(name, side, stated)
    if share is not None and not 0 < share < 1:
        raise RecipeError(f"{name}: share is above 0 and below 1, not {shown_value(share)}.")
    if shown not in get_args(Beyond):
        raise RecipeError(f"{name}: shown is one of {', '.join(get_args(Beyond))}, not {shown_value(shown)}.")


def people_needed(people: Counts, share: float) -> int:
    """Return how many people are to be beyond the threshold."""
    return max(math.ceil(share * int(people.sum())), FEWEST)


def round_cuts(values: pl.Series) -> Floats:
    """Return a round number between each value and the one before it; NaN below the first."""
    numbers = values.cast(pl.Float64) if values.dtype.is_decimal() else values
    return np.asarray(cuts_below(numbers).cast(pl.Float64).fill_null(math.nan).to_numpy())


def too_few(column: Column, change: Change) -> SchemaError:
    """Return the error that says that no threshold hides anybody."""
    return SchemaError(
        f"column '{column.name}': {change.name} finds no threshold that at least {FEWEST} people, and not all, are "
        "beyond.  Hint: state the threshold, or a larger share."
    )
