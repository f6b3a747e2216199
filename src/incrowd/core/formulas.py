"""Cells that a spreadsheet would run: text that begins with `=`, `+`, `-`, `@`, a tab or a line's end.

An apostrophe in front makes such a cell plain text (OWASP, CSV injection). It is put before cells that have one,
too, so that taking one away gives back what was there. Numbers, ranges of numbers and durations are no formulas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeVar

import polars as pl
import polars.selectors as cs

from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.runs import TIMES

LOOKS = r"^'*[=+\-@\t\r]"
"""What a formula, or one with apostrophes before it, begins with."""
_BEGINNINGS = tuple("'=+-@\t\r")
_NUMBER = r"[0-9.,]*[0-9][0-9.,]*(?:[eE][+\-]?[0-9]+)?%?"
HARMLESS = rf"^[+\-](?:{_NUMBER}(?:\s*[\-–—]\s*[+\-]?{_NUMBER})?|P[0-9A-Z.]+|inf)?$"
"""What begins like one and is a number, a range, a duration, or a sign alone."""
_MARKED = r"^'+[=+\-@\t\r]"
MARK = "'"

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def _is_formula(text: pl.Expr) -> pl.Expr:
    return text.str.contains(LOOKS) & ~text.str.contains(HARMLESS)


@dataclass
class FormulaCells:
    """How many cells look like formulas, column by column, as they are written."""

    found: Counter[str] = field(default_factory=Counter)

    def counting(self, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Pass batches on, and count."""
        for number, batch in enumerate(batches):
            if number == 0:
                named = zip(batch.columns, _in_names(batch.columns), strict=True)
                self.add({name: 1 for name, found in named if found})
            # What begins with a letter or a digit is none: a comparison of first bytes is cheap, and mostly enough.
            suspects = _where_any(batch, cs.string() < "A")
            if suspects:
                text = cs.by_name(*suspects)
                suspects = _where_any(batch, (text < "0") | text.is_between(pl.lit(":"), pl.lit("A")))
            if suspects:
                found = _is_formula(cs.by_name(*suspects).as_expr())
                times = pl.col(TIMES) if TIMES in batch.columns else 1
                counted = batch.select((found * times).sum()).row(0, named=True)
                self.add({name: count for name, count in counted.items() if count})
            yield batch

    def add(self, counts: Mapping[str, int]) -> None:
        """Count more of them."""
        self.found.update(counts)

    @property
    def warning(self) -> str | None:
        """What to tell whoever publishes; None where there are none. No cell is quoted."""
        if not self.found:
            return None
        listed = ", ".join(f"{name} ({count:,})" for name, count in sorted(self.found.items()))
        return (
            f"Cells that a spreadsheet would run as formulas: {listed}.  "
            f"Hint: make them plain text with {option('spreadsheet_safe', True, section='output')}."
        )


def _where_any(batch: pl.DataFrame, found: pl.Expr) -> list[str]:
    return [column.name for column in batch.select(found.any()).get_columns() if column.item()]


def _in_names(names: list[str]) -> list[bool]:
    if not any(name.startswith(_BEGINNINGS) for name in names):
        return [False] * len(names)
    texts = pl.Series("name", names, dtype=pl.String).to_frame()
    return texts.select(_is_formula(pl.col("name"))).to_series().to_list()


def neutralized(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose cells and column names no spreadsheet runs.

    >>> neutralized(pl.DataFrame({"x": ["=1+1", "-5", "[-5, 3)", "'=1"]}))["x"].to_list()
    ["'=1+1", '-5', '[-5, 3)', "''=1"]
    """
    text = cs.string()
    safe = frame.with_columns(pl.when(~_is_formula(text.as_expr())).then(text).otherwise(MARK + text))
    return safe.rename(dict(zip(frame.columns, neutralized_names(frame.columns), strict=True)))


def neutralized_names(names: list[str]) -> list[str]:
    """Return the names of columns, made plain text."""
    return [MARK + name if found else name for name, found in zip(names, _in_names(names), strict=True)]


def restored(frame: Frame) -> Frame:
    """Return a frame as it was before it was neutralized."""
    text = cs.string()
    names = frame.collect_schema().names()
    marked = pl.Series(names, dtype=pl.String).str.contains(_MARKED).to_list()
    before = frame.with_columns(pl.when(text.str.contains(_MARKED)).then(text.str.slice(1)).otherwise(text))
    return before.rename({name: name[1:] for name, found in zip(names, marked, strict=True) if found})
