"""Cells that a spreadsheet would run, counted or made plain text by Spark; by the rules of `core/formulas.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.core.formulas import HARMLESS, LOOKS, MARK, FormulaCells, neutralized_names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TEXTS = (T.StringType, T.CharType, T.VarcharType)


def formulas_counted(frame: DataFrame, cells: FormulaCells) -> tuple[DataFrame, Callable[[], None]]:
    """Return the frame, and what adds to `cells`, after it was written, the cells that look like formulas."""
    columns = frame.columns
    changed = zip(columns, neutralized_names(columns), strict=True)
    cells.add({name: 1 for name, safe in changed if name != safe})
    texts = [place for place, field in enumerate(frame.schema.fields) if isinstance(field.dataType, _TEXTS)]
    if not texts:
        return frame, lambda: None
    seen = Observation()
    numbered = frame.toDF(*(f"c{place}" for place in range(len(columns))))
    sums = [F.sum(_is_formula(F.col(f"c{place}")).cast("long")).alias(f"c{place}") for place in texts]

    def count() -> None:
        found = seen.get
        cells.add({columns[place]: int(found[f"c{place}"]) for place in texts if found[f"c{place}"]})

    return numbered.observe(seen, *sums).toDF(*columns), count


def neutralized(frame: DataFrame) -> DataFrame:
    """Return a frame whose cells and column names no spreadsheet runs."""
    names = neutralized_names(frame.columns)
    fields = frame.schema.fields
    numbered = frame.toDF(*(f"c{place}" for place in range(len(fields))))
    columns = [
        _safe(F.col(f"c{place}")).alias(f"c{place}") if isinstance(field.dataType, _TEXTS) else F.col(f"c{place}")
        for place, field in enumerate(fields)
    ]
    return numbered.select(*columns).toDF(*names)


def _is_formula(text: Column) -> Column:
    return text.rlike(LOOKS) & ~text.rlike(HARMLESS)


def _safe(text: Column) -> Column:
    return F.when(_is_formula(text), F.concat(F.lit(MARK), text)).otherwise(text)
