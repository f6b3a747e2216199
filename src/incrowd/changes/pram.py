"""The post-randomization method, PRAM (Gouweleeuw, Kooiman, Willenborg & de Wolf 1998): chance changes names by known
probabilities, so that no published value is certain to be the true one, and analysts can correct for it.

Cost: a few random words for each person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl

from incrowd.changes.change import Change, Column
from incrowd.common.arrays import Floats, Ints
from incrowd.common.exact import as_exact
from incrowd.common.parameters import shown_value
from incrowd.common.randomness import below, happens, words
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError, UncoveredValue
from incrowd.hierarchies.values import as_text

_CLOSE = 1e-9


@dataclass(frozen=True)
class PRAM(Change):
    """Publish a value as it is with a known probability, and otherwise another one that chance picks.

    Parameters
    ----------
    keep : the probability that a value stays. Otherwise each other value of the column is as likely.
    invariant : whether another value is drawn by the frequencies of the table, so that these stay what they are, up to
        chance; the value itself may be drawn again (default: False).
    matrix : in place of both, the probabilities of each value: `{"flu": {"flu": 0.9, "gout": 0.1}, …}`. A value that
        is not listed is refused, and those of each value add up to 1.

    Where it is known whose a row is, rows of one person with the same value change alike, so that chance cannot be
    averaged away. `Release.count` corrects for the known probabilities.

    >>> PRAM(0.8).says()
    'by chance: 80 % stay as they are, the others show another value, each as likely'

    Reference: Gouweleeuw, Kooiman, Willenborg & de Wolf (1998); de Wolf, Gouweleeuw, Kooiman & Willenborg (1998), on
    invariant PRAM.
    """

    keep: float | None = None
    invariant: bool = False
    matrix: Mapping[str, Mapping[str, float]] | None = None
    name: ClassVar[str] = "pram"
    plain_name: ClassVar[str] = "values changed by known chance"
    by_chance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.keep is None) == (self.matrix is None):
            raise RecipeError(f"{self.name} needs either keep or matrix.  Hint: keep=0.8.")
        if self.keep is not None and not (0 <= self.keep <= 1):
            raise RecipeError(f"{self.name}: keep is a probability, from 0 to 1, not {shown_value(self.keep)}.")
        if self.matrix is not None:
            self._require_probabilities(self.matrix)
        if self.invariant and self.keep == 0:
            raise RecipeError(f"{self.name}: with keep=0 and invariant, nothing is left of who has which value.")

    def __hash__(self) -> int:
        return hash((self.name, self.keep, self.invariant))

    @classmethod
    def examples(cls) -> tuple[PRAM, ...]:
        """Return one that needs nothing but a probability, and one that keeps frequencies."""
        return (cls(0.7), cls(0.7, invariant=True))

    @property
    def looks_at_data(self) -> bool:
        """Which values there are is read off the table, unless they are stated."""
        return self.matrix is None

    def perturb(self, column: Column, rng: np.random.Generator) -> pl.Series:
        """Draw what each entry becomes."""
        if self.matrix is not None:
            return self._by_matrix(column, self.matrix, rng)
        code_of, values = column.code_of.copy(), len(column.values)
        if values < 2:
            return column.values.gather(code_of)
        changes = np.flatnonzero(~happens(rng, self._stays, len(code_of)))
        if self.invariant:
            # Somebody's value, everybody being as likely: so values are drawn by their frequencies.
            ends = np.cumsum(column.counts)
            drawn = below(rng, max(int(ends[-1]) if len(ends) else 1, 1), len(changes))
            code_of[changes] = column.code_of[np.searchsorted(ends, drawn, side="right")]
        else:
            others = below(rng, values - 1, len(changes))
            code_of[changes] = others + (others >= code_of[changes])
        return column.values.gather(code_of)

    def told(self, column: Column) -> dict[str, Any]:
        """Return how many values there are to draw from: with that, the matrix is known."""
        return {} if self.matrix is not None else {"values": len(column.values)}

    def corrected(
        self, told: Mapping[str, Any], values: Sequence[str | None], rows: Floats, satisfied: Floats
    ) -> Floats | None:
        """Solve for weights that are 1 on average for people who truly satisfy it, and 0 for all others."""
        if self.matrix is not None:
            return self._solved(self.matrix, values, satisfied)
        known = np.array([value is not None for value in values])
        keep, number = float(self.keep or 0), told.get("values")
        if self.invariant:
            share = float((rows * satisfied)[known].sum() / max(rows[known].sum(), 1.0))
            weights = (satisfied - (1 - keep) * share) / keep
        elif not isinstance(number, int) or number < 2:
            return None
        else:
            other = (1 - keep) / (number - 1)
            if abs(keep - other) < _CLOSE:
                return None  # a published value tells nothing
            weights = (satisfied - other * satisfied[known].sum()) / (keep - other)
        return np.where(known, weights, satisfied)

    def says(self) -> str:
        """Say how likely a value is the true one."""
        if self.matrix is not None:
            return "by chance: each value becomes another one with probabilities that are stated"
        others = "one drawn by the frequencies of the table" if self.invariant else "another value, each as likely"
        return f"by chance: {100 * (self.keep or 0):g} % stay as they are, the others show {others}"

    @property
    def _stays(self) -> Fraction:
        return as_exact(0 if self.keep is None else self.keep, "keep")

    def _by_matrix(
        self, column: Column, matrix: Mapping[str, Mapping[str, float]], rng: np.random.Generator
    ) -> pl.Series:
        texts = as_text(column.values).to_list()
        if unlisted := [text for text in texts if text not in matrix]:
            raise UncoveredValue(column.name, unlisted[:5], len(unlisted))
        names = list(dict.fromkeys([*texts, *(name for text in texts for name in matrix[text])]))
        place = {name: number for number, name in enumerate(names)}
        steps, ends = list[int](), list[float]()
        for number, text in enumerate(texts):
            sums = np.cumsum(list(matrix[text].values()))
            steps += [place[name] for name in matrix[text]]
            ends += (number + sums / sums[-1]).tolist()
        even = (words(rng, len(column.code_of)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        found = np.searchsorted(np.array(ends), column.code_of + even, side="right")
        return pl.Series(names, dtype=pl.String).gather(_within(np.array(steps, dtype=np.int64), found))

    @staticmethod
    def _solved(
        matrix: Mapping[str, Mapping[str, float]], values: Sequence[str | None], satisfied: Floats
    ) -> Floats | None:
        names = list(dict.fromkeys([*matrix, *(name for row in matrix.values() for name in row)]))
        place = {name: number for number, name in enumerate(names)}
        chances = np.zeros((len(matrix), len(names)))
        for line, row in enumerate(matrix.values()):
            for name, share in row.items():
                chances[line, place[name]] = share
        shown = {value: float(share) for value, share in zip(values, satisfied, strict=True) if value is not None}
        wanted = np.array([shown.get(name, 0.0) for name in matrix])
        weights = np.linalg.lstsq(chances, wanted)[0]
        if not np.allclose(chances @ weights, wanted, atol=1e-6) or not {*shown} <= {*names}:
            return None
        return np.array(
            [share if value is None else weights[place[value]] for value, share in zip(values, satisfied, strict=True)]
        )

    def _require_probabilities(self, matrix: Mapping[str, Mapping[str, float]]) -> None:
        if self.invariant:
            raise RecipeError(f"{self.name}: with a matrix, leave out invariant.")
        for name, row in matrix.items():
            sound = row and all(share >= 0 and math.isfinite(share) for share in row.values())
            if not sound or abs(math.fsum(row.values()) - 1) > _CLOSE:
                raise RecipeError(f"{self.name}: the probabilities of '{name}' are to add up to 1.")


def _within(steps: Ints, found: Ints) -> Ints:
    """Return what was found, the last step where rounding leads beyond it."""
    return np.asarray(steps[np.minimum(found, len(steps) - 1)]) if len(steps) else found
