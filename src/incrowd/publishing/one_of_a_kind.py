"""What columns that are kept beside the labels single out: rows that no other row looks like.

Cost: one number a row is held of each of these columns, while the published rows are written or attacked; where nobody
has done that yet, they are made once more.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import polars.selectors as cs

from incrowd.common.records import dataclass

_NUMBERED = (pl.Categorical, pl.Enum)

MOST_ROWS = 5_000_000
"""Rows of larger releases are not counted."""


@dataclass(frozen=True)
class OneOfAKind:
    """How many rows are one of a kind: by their labels alone, with all kept columns, with the most telling of them."""

    columns: tuple[str, ...]
    rows: int
    by_labels: int
    with_all: int
    telling: str
    with_telling: int

    def says(self) -> str:
        """Return it as a sentence."""
        several = len(self.columns) > 1
        noun = "columns" if several else "column"
        names = ", ".join(f"'{name}'" for name in self.columns)
        most = f" ('{self.telling}' by itself: {self.with_telling:,})" if several else ""
        return (
            f"{noun.capitalize()} {names} kept as {'they are' if several else 'it is'}: with the labels, "
            f"{self.with_all:,} of {self.rows:,} rows are one of a kind{most}; by the labels alone, {self.by_labels:,}."
        )


class KindsOfRows:
    """Rows that pass by, of which one number is kept for each column: to be counted when somebody asks."""

    def __init__(self, labels: Sequence[str], kept: Sequence[str]) -> None:
        self._kept = tuple(kept)
        self._columns = {"labels": tuple(labels), **{f"kept {name}": (name,) for name in kept}}
        self._numbers: list[pl.DataFrame] = []
        self._found: OneOfAKind | None = None

    def add(self, batch: pl.DataFrame) -> None:
        """Look at some rows."""
        # That two different ones share a number is as unlikely as 2^-64.
        numbers = {name: _numbers(batch, columns) for name, columns in self._columns.items()}
        self._numbers.append(pl.DataFrame(numbers))

    def count(self) -> OneOfAKind:
        """Count rows that no other row looks like, in the labels and what is kept beside them."""
        if self._found is None:
            self._found = self._count(pl.concat(self._numbers))
            self._numbers.clear()
        return self._found

    def _count(self, numbers: pl.DataFrame) -> OneOfAKind:
        each = {name: _alone(numbers, ["labels", f"kept {name}"]) for name in self._kept}
        telling = max(each, key=lambda name: each[name])
        return OneOfAKind(
            columns=self._kept,
            rows=numbers.height,
            by_labels=_alone(numbers, ["labels"]),
            with_all=_alone(numbers, numbers.columns),
            telling=telling,
            with_telling=each[telling],
        )


def _numbers(batch: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    if not names:
        return pl.zeros(batch.height, dtype=pl.UInt64, eager=True)
    # Categories are numbered batch by batch, so they are compared by their names.
    columns = [column.cast(pl.String) if column.dtype in _NUMBERED else column for column in batch[list(names)]]
    return pl.DataFrame(columns).hash_rows()


def _alone(numbers: pl.DataFrame, names: Sequence[str]) -> int:
    """Return how many rows share what they have in some columns with no other row."""
    return int((numbers.group_by(cs.by_name(*names)).len()["len"] == 1).sum())
