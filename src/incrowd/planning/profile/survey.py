"""Reading a table once or a few times for what a profile needs of it, in bounded memory.

A table of up to `EXACT_ROWS` rows that is not too large is read once, into memory, and everything is exact. A larger
one is read again for each question, as a stream: missing values and the distinct values of columns that have few are
still counted exactly; how many values a column with many of them has is estimated (HyperLogLog), and what tells rows
apart is measured on a sample. Cost: one pass of the file, or five.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.source import OpenedTable
from incrowd.errors import EmptyTable
from incrowd.hierarchies.values import natural_kind
from incrowd.planning.profile.facts import ColumnFacts, Look
from incrowd.planning.profile.separation import CodedRows, Separation, measure
from incrowd.sources import reading

EXACT_ROWS = 1_000_000
MOST_CELLS = 50_000_000
"""So many cells are coded at most, for the sake of very wide tables."""
MOST_BYTES = 1 << 30
"""A table that is estimated to need more memory than this is streamed, however few rows it has."""
MOST_VALUES = 10_000
"""A column with more distinct values is judged by a sample of them."""
SAMPLED_ROWS = 20_000
LONGEST_TEXT = 300
"""Of a text in a sample, only so many characters are looked at."""

_ROW = "row"
_ESTIMATE_ERROR = 1.1
_LEADING_ZERO = r"^\s*[+-]?0\d"
_ISO_DATE = r"^\d{4}-[01]\d-[0-3]\d"


@dataclass(frozen=True, eq=False)
class Survey:
    """What was read."""

    rows: int
    columns: Mapping[str, ColumnFacts]
    coded: CodedRows
    alone: Mapping[str, Separation]
    """How well each column tells the coded rows apart on its own."""


def survey(source: OpenedTable, progress: Progress = silent) -> Survey:
    """Read the table and return what a profile needs of it."""
    with reading(source):
        return _survey(source, progress)


def _survey(source: OpenedTable, progress: Progress) -> Survey:
    # Numbers instead of the user's names, so that none of them can clash with a name used here; by selector, since
    # `pl.col` takes "*" and "^a.*$" for patterns.
    names = {f"c{place}": name for place, name in enumerate(source.columns)}
    frame = source.frame.select(cs.by_name(name).as_expr().alias(number) for number, name in names.items())
    progress("reading", 0.0)
    rows = _collect(frame.select(pl.len())).item()
    if rows == 0:
        raise EmptyTable("the table has columns but no rows.")
    if rows <= EXACT_ROWS and _estimated_bytes(frame, rows) <= MOST_BYTES:
        frame = _collect(frame).lazy()
    progress("reading", 0.2)
    coded = _coded_rows(frame, rows, names)
    progress("reading", 0.4)
    alone = {name: measure(coded, [name]) for name in names.values()}
    missing, distinct = _count_values(frame, names, None if coded.is_sample else alone)
    progress("reading", 0.6)
    few = [number for number in names if distinct[number] <= MOST_VALUES * (_ESTIMATE_ERROR if coded.is_sample else 1)]
    many = [number for number in names if number not in few]
    counted = _distinct_values(frame, few)
    progress("reading", 0.8)
    sampled = _sampled_values(frame, many, rows)
    checked = _checks(frame, many)
    facts = {}
    for number, name in names.items():
        if number in counted:
            facts[name] = _facts_of_few(name, rows, missing[number], *counted[number])
        else:
            estimate = distinct[number] if not coded.is_sample else min(distinct[number], rows - missing[number])
            facts[name] = _facts_of_many(
                name, rows, missing[number], estimate, not coded.is_sample, sampled[number], checked[number]
            )
    progress("reading", 1.0)
    if source.codebook is not None:
        facts = {name: replace(known, label=source.codebook.of(name).label) for name, known in facts.items()}
    return Survey(rows, facts, coded, alone)


def sampled_rows(source: OpenedTable, rows: int, wanted: int) -> pl.DataFrame:
    """Return about so many rows of a table of `rows`, the same ones every time, as it is read."""
    with reading(source):
        return _collect(_sample(source.frame, rows, wanted))


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    return frame.collect(engine="streaming")


def _estimated_bytes(frame: pl.LazyFrame, rows: int) -> float:
    head = _collect(frame.head(1_000))
    return head.estimated_size() / max(head.height, 1) * rows


def _sample(frame: pl.LazyFrame, rows: int, wanted: int) -> pl.LazyFrame:
    """Keep about so many of the rows, chosen by a hash of their place: the same ones every time."""
    if rows <= wanted:
        return frame
    limit = pl.lit(int(2**64 * (wanted / rows)), dtype=pl.UInt64)
    return frame.with_row_index(_ROW).filter(pl.col(_ROW).hash(seed=1) < limit).drop(_ROW)


def _coded_rows(frame: pl.LazyFrame, rows: int, names: Mapping[str, str]) -> CodedRows:
    wanted = min(EXACT_ROWS, MOST_CELLS // len(names))
    coded = _collect(_sample(frame, rows, wanted).select(pl.all().hash(seed=0)))
    return CodedRows({name: coded[number].to_numpy() for number, name in names.items()}, coded.height, rows)


def _count_values(
    frame: pl.LazyFrame, names: Mapping[str, str], alone: Mapping[str, Separation] | None
) -> tuple[dict[str, int], dict[str, int]]:
    """Return each column's missing and distinct values; the latter are estimated where not all rows were measured."""
    nulls = [pl.col(number).null_count().alias(f"missing {number}") for number in names]
    estimates = [pl.col(number).approx_n_unique().alias(f"distinct {number}") for number in names]
    found = _collect(frame.select(*nulls, *(estimates if alone is None else ()))).row(0, named=True)
    missing = {number: int(found[f"missing {number}"]) for number in names}
    with_null = {
        number: int(found[f"distinct {number}"]) if alone is None else alone[name].groups
        for number, name in names.items()
    }
    return missing, {number: max(with_null[number] - (missing[number] > 0), 0) for number in names}


def _distinct_values(frame: pl.LazyFrame, columns: Sequence[str]) -> dict[str, tuple[pl.Series, pl.Series]]:
    """Return the sorted distinct values of columns that have few, and how many rows have each.

    One group-by for all columns of a type, over (column, value): several group-bys over one scan would keep its rows.
    """
    schema = frame.collect_schema()
    found: dict[str, tuple[pl.Series, pl.Series]] = {}
    for dtype in dict.fromkeys(schema[number] for number in columns):
        alike = [number for number in columns if schema[number] == dtype]
        counted = _collect(
            frame.unpivot(on=alike, variable_name="column", value_name="value")
            .filter(pl.col("value").is_not_null())
            .group_by("column", "value")
            .agg(pl.len())
        )
        for number in alike:
            values = counted.filter(pl.col("column") == number).sort("value")
            found[number] = values["value"].alias(""), values["len"].alias("")
    return found


def _sampled_values(frame: pl.LazyFrame, columns: Sequence[str], rows: int) -> dict[str, pl.Series]:
    """Return some sorted distinct values of columns that have many; long texts are cut."""
    if not columns:
        return {}
    text = pl.col(pl.String)
    sampled = _collect(_sample(frame, rows, SAMPLED_ROWS).select(columns).with_columns(text.str.head(LONGEST_TEXT)))
    return {number: sampled[number].drop_nulls().unique().sort().head(MOST_VALUES).alias("") for number in columns}


def _checks(frame: pl.LazyFrame, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Look at all rows of columns with many values for what one odd value among them would change."""
    if not columns:
        return {}
    schema = frame.collect_schema()
    expressions = [
        check.alias(f"{number} {name}")
        for number in columns
        for name, check in _checks_of(pl.col(number), schema[number]).items()
    ]
    found = _collect(frame.select(expressions)).row(0, named=True) if expressions else {}
    return {
        number: {key.removeprefix(f"{number} "): value for key, value in found.items() if key.split(" ")[0] == number}
        for number in columns
    }


def _checks_of(column: pl.Expr, dtype: pl.DataType) -> dict[str, pl.Expr]:
    if dtype.is_numeric():
        numbers = column.cast(pl.Float64)
        numbers = numbers.filter(numbers.is_finite())
        return {"low": numbers.min(), "high": numbers.max()}
    if dtype != pl.String:
        return {}
    stripped = column.str.strip_chars()
    floats = stripped.cast(pl.Float64, strict=False)
    finite = floats.filter(floats.is_finite())
    return {
        "integers": stripped.cast(pl.Int64, strict=False).count(),
        "numbers": finite.count(),
        "dates": column.str.contains(_ISO_DATE).sum(),
        "leading zero": column.str.contains(_LEADING_ZERO).any(),
        "low": finite.min(),
        "high": finite.max(),
    }


def _facts_of_few(name: str, rows: int, missing: int, values: pl.Series, counts: pl.Series) -> ColumnFacts:
    natural = values if values.dtype == pl.Duration else natural_kind(values)
    # Whole numbers beside missing ones are floats in pandas.
    floats = natural.dtype.is_float() and bool((natural.is_finite() & (natural == natural.floor())).all())
    low, high = _reach(natural)
    return ColumnFacts(
        name=name,
        look=_look(values.dtype, natural.dtype),
        rows=rows,
        missing=missing,
        distinct=len(values),
        distinct_exact=True,
        values=values,
        complete=True,
        counts=counts,
        low=low,
        high=high,
        whole=floats or natural.dtype.is_integer(),
    )


def _facts_of_many(
    name: str, rows: int, missing: int, distinct: int, exact: bool, values: pl.Series, checked: Mapping[str, Any]
) -> ColumnFacts:
    return ColumnFacts(
        name=name,
        look=_look_of_many(values, rows - missing, checked),
        rows=rows,
        missing=missing,
        distinct=distinct,
        distinct_exact=exact,
        values=values,
        complete=False,
        low=checked.get("low"),
        high=checked.get("high"),
        whole=_look_of_many(values, rows - missing, checked) == "integer",
    )


def _look_of_many(values: pl.Series, present: int, checked: Mapping[str, Any]) -> Look:
    if values.dtype != pl.String:
        return _look(values.dtype, values.dtype)
    if checked["leading zero"]:
        return "text"
    if checked["integers"] == present:
        return "integer"
    if checked["numbers"] == present:
        return "number"
    # Every value starts like a date, and those of the sample are dates to the end.
    return "date" if checked["dates"] == present and natural_kind(values).dtype.is_temporal() else "text"


def _look(stored: pl.DataType, natural: pl.DataType) -> Look:
    if stored == pl.Boolean:
        return "truth"
    if stored == pl.Duration:
        return "duration"
    if natural.is_integer():
        return "integer"
    if natural.is_numeric():
        return "number"
    return "date" if natural in (pl.Date, pl.Datetime) else "text"


def _reach(natural: pl.Series) -> tuple[float | None, float | None]:
    if not natural.dtype.is_numeric() or natural.len() == 0:
        return None, None
    numbers = natural.cast(pl.Float64).to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (None, None)
