"""What columns that are kept beside the labels single out: rows that no other row looks like.

Cost: the published rows are made once, and one number a row is held of each of these columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl
import polars.selectors as cs

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


def one_of_a_kind(batches: Iterable[pl.DataFrame], labels: Sequence[str], kept: Sequence[str]) -> OneOfAKind:
    """Count rows that no other row looks like, in the labels and what is kept beside them."""
    # One number for each row and column: that two different ones share it is as unlikely as 2^-64.
    of_columns = {"labels": labels, **{f"kept {name}": [name] for name in kept}}
    numbers = pl.concat(
        [pl.DataFrame({name: _numbers(batch, columns) for name, columns in of_columns.items()}) for batch in batches]
    )
    each = {name: _alone(numbers, ["labels", f"kept {name}"]) for name in kept}
    telling = max(each, key=lambda name: each[name])
    return OneOfAKind(
        columns=tuple(kept),
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
