"""How the values of a column are spread: bars to look at before anything is decided about it.

For the owner of the table, on the owner's screen: unlike a profile, this holds values. Nothing here writes it anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.core.source import OpenedTable
from incrowd.hierarchies.values import as_text, natural_kind
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.sources import reading

MOST_BARS = 40
_TOO_MANY = "it has too many different values to show"


def distribution(facts: ColumnFacts, source: OpenedTable | None = None, *, most: int = MOST_BARS) -> dict[str, Any]:
    """Return the bars of a column: bins of numbers, years of dates, or values with the most frequent first.

    Where a profile did not count the values of a column of numbers, these are read again from the `source`.

    >>> values, counts = pl.Series(["F", "M"]), pl.Series([3, 5])
    >>> facts = ColumnFacts("sex", "text", 9, 1, 2, True, values, True, counts)
    >>> distribution(facts)["values"]
    [{'value': 'M', 'count': 5}, {'value': 'F', 'count': 3}]
    """
    missing = {"missing": facts.missing}
    if facts.is_numeric and facts.low is not None and facts.high is not None:
        found = _numbers(facts, source)
        if found is not None and len(found[0]):
            return {"kind": "numbers", "bins": _bins(*found, facts.low, facts.high, most), **missing}
    if facts.counts is None:
        return {"kind": "none", "why": _TOO_MANY, **missing}
    if facts.look == "date":
        natural = natural_kind(facts.values)
        if natural.dtype.is_temporal():
            years = pl.DataFrame({"year": natural.dt.year().cast(pl.String), "count": facts.counts})
            years = years.group_by("year").agg(pl.col("count").sum()).sort("year")
            return {**_listed(years["year"], years["count"], 2 * most, ranked=False), **missing}
    return {**_listed(as_text(facts.values), facts.counts, most, ranked=True), **missing}


def _numbers(facts: ColumnFacts, source: OpenedTable | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the numbers and how many rows have each, or each row's own."""
    if facts.counts is not None:
        numbers = natural_kind(facts.values).cast(pl.Float64, strict=False)
        return _finite(numbers, facts.counts)
    if source is None:
        return None
    column = cs.by_name(facts.name).as_expr().alias("c")
    with reading(source):
        texts = source.frame.select(column).collect(engine="streaming").to_series()
    if texts.dtype == pl.String:
        texts = texts.str.strip_chars()
    numbers = texts.cast(pl.Float64, strict=False)
    return _finite(numbers, pl.Series(np.ones(len(numbers), dtype=np.int64)))


def _finite(numbers: pl.Series, counts: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    known = numbers.is_not_null() & numbers.is_finite().fill_null(value=False)
    return numbers.filter(known).to_numpy(), counts.filter(known).to_numpy()


def _bins(numbers: np.ndarray, counts: np.ndarray, low: float, high: float, most: int) -> list[dict[str, Any]]:
    """Return bins of a round width; the last one includes its upper bound only if it is a value's own."""
    width = _round_width(high - low, most, whole=bool((numbers == np.floor(numbers)).all()))
    first = math.floor(low / width)
    place = np.floor(numbers / width).astype(np.int64) - first
    rows = np.bincount(place, weights=counts, minlength=1).astype(np.int64)
    return [
        {"from": _tidy((first + at) * width), "to": _tidy((first + at + 1) * width), "count": int(count)}
        for at, count in enumerate(rows.tolist())
    ]


def _round_width(reach: float, most: int, *, whole: bool) -> float:
    """Return the smallest of 1, 2, 5, 10, … (times a power of ten) that gives so many bins at most."""
    if reach <= 0:
        return 1.0
    needed = reach / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(needed))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= needed * (1 - 1e-12))
    return max(width, 1.0) if whole else width


def _tidy(number: float) -> float:
    """Return a bound without the noise of binary fractions."""
    return float(f"{number:.12g}")


def _listed(values: pl.Series, counts: pl.Series, most: int, *, ranked: bool) -> dict[str, Any]:
    frame = pl.DataFrame({"value": values, "count": counts.cast(pl.Int64)})
    # Ties by value, so that the order of rows leaves no trace.
    frame = frame.sort("count", "value", descending=[True, False])
    shown, rest = frame.head(most), frame.slice(most)
    if not ranked:
        shown = shown.sort("value")
    others: Mapping[str, int] = {"values": rest.height, "count": int(rest["count"].sum())}
    return {"kind": "values", "values": shown.to_dicts(), "others": dict(others)}
