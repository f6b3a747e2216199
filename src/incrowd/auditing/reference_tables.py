"""Tables that are brought to an audit, in the codes of the release's own trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.core.tally import Population, Tally, group_tuples
from incrowd.core.weights import read_weights
from incrowd.errors import SchemaError, UncoveredValue
from incrowd.hierarchies.texts import code_names
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.values import as_dates, as_numbers, as_text
from incrowd.sources import open_table, reading

_COUNT = "\0count"


def read_people(source: object, columns: Sequence[str], trees: Mapping[str, Tree]) -> tuple[Population, int]:
    """Read an external table: whoever fits in which quasi-identifiers, and how many have values that nobody here has.

    It needs at least one of the quasi-identifiers.
    """
    opened = open_table(source, ReadOptions(lists=None))
    known = tuple(name for name in sorted(columns) if name in opened.columns)
    if not known:
        raise SchemaError(
            f"the external table has none of the quasi-identifiers ({', '.join(sorted(columns))}).  "
            "Hint: name its columns as those of the release."
        )
    codes, counts = _coded(opened, known, trees)
    strangers = (codes < 0).any(axis=1)
    kept, totals = _distinct(codes[~strangers], counts[~strangers], known, trees)
    return Population(known, kept, totals), int(counts[strangers].sum())


def read_truth(source: object, columns: Sequence[str], trees: Mapping[str, Tree], also: Sequence[str] = ()) -> Tally:
    """Read the table before, all of whose columns and values the release's trees must know.

    Columns that are named in `also` are read where the table has them.
    """
    return _truth(open_table(source, ReadOptions(lists=None)), columns, trees, also)


def read_weighted_truth(
    source: object, columns: Sequence[str], trees: Mapping[str, Tree], also: Sequence[str], weight: str | None
) -> tuple[Tally, Floats | None]:
    """Read the same, and what the rows of each tuple weigh together, where the table has the column `weight`."""
    opened = open_table(source, ReadOptions(lists=None))
    truth = _truth(opened, columns, trees, also)
    if weight is None or weight not in opened.columns:
        return truth, None
    names = truth.columns
    with reading(opened):
        by_weight = cs.by_name(*names, weight)
        counted = opened.frame.group_by(by_weight).agg(pl.len().alias(_COUNT)).collect(engine="streaming")
    weights = read_weights(weight, counted[weight], opened.texts)
    codes = np.stack([code_values(trees[name], counted[name]) for name in names], axis=1)
    index, first = group_tuples(codes, [trees[name].size for name in names])
    assert len(first) == len(truth)
    totals = np.bincount(index, weights=weights * counted[_COUNT].to_numpy(), minlength=len(first))
    return truth, totals.astype(np.float64)


def _truth(opened: OpenedTable, columns: Sequence[str], trees: Mapping[str, Tree], also: Sequence[str]) -> Tally:
    names = tuple(sorted({*columns, *(name for name in also if name in opened.columns)}))
    for name in names:
        if name not in opened.columns:
            raise SchemaError(f"the original lacks the column '{name}'.")
    codes, counts = _coded(opened, names, trees, strict=True)
    kept, totals = _distinct(codes, counts, names, trees)
    return Tally(names, kept, totals, trees)


def _coded(
    opened: OpenedTable, names: Sequence[str], trees: Mapping[str, Tree], *, strict: bool = False
) -> tuple[Codes, Counts]:
    with reading(opened):
        counted = opened.frame.group_by(cs.by_name(*names)).agg(pl.len().alias(_COUNT)).collect(engine="streaming")
    codes = np.empty((counted.height, len(names)), dtype=np.int32)
    for place, name in enumerate(names):
        codes[:, place] = code_values(trees[name], counted[name])
        unknown = codes[:, place] < 0
        if strict and unknown.any():
            values = as_text(counted[name].filter(pl.Series(unknown)).unique().sort()).to_list()
            raise UncoveredValue(name, values[:5], len(values))
    return codes, counted[_COUNT].to_numpy().astype(np.int64)


def code_values(tree: Tree, values: pl.Series) -> Codes:
    """Return the code of each value: a number or date that the tree does not list goes to the next one below.

    A name that the tree does not list is -1.
    """
    if not tree.ordered:
        codes = code_names(as_text(values), as_text(tree.values.slice(1)))
    else:
        wanted = tree.values.dtype
        parsed = as_dates(values) if wanted.is_temporal() else as_numbers(values)
        if parsed is None:
            return np.where(values.is_null().to_numpy(), MISSING, -1).astype(np.int32)
        listed = tree.values.slice(1)
        if wanted.is_temporal():
            parsed = parsed.cast(wanted).to_physical()
            listed = listed.to_physical()
        codes = np.maximum(_places(listed, parsed), 1)
        codes[parsed.is_null().to_numpy()] = MISSING  # "NaN" is missing, as everywhere
    empty = values.is_null().to_numpy()
    if values.dtype == pl.String:
        empty |= (values == "").fill_null(value=False).to_numpy()
    codes[empty] = MISSING
    return codes.astype(np.int32)


def _places(listed: pl.Series, numbers: pl.Series) -> NDArray[np.int64]:
    """Return how many of the sorted numbers are at or below each number: exactly, unless one of the two are floats."""
    if listed.dtype.is_float() or numbers.dtype.is_float():
        listed, numbers = listed.cast(pl.Float64), numbers.cast(pl.Float64)
    both = pl.concat(
        [
            pl.DataFrame({"number": listed, "listed": np.ones(len(listed), np.int64)}),
            pl.DataFrame({"number": numbers, "listed": np.zeros(len(numbers), np.int64)}),
        ],
        how="vertical_relaxed",
    ).with_row_index("row")
    counted = both.sort("number", "row", nulls_last=True).with_columns(pl.col("listed").cum_sum())
    return counted.filter(pl.col("row") >= len(listed)).sort("row")["listed"].to_numpy().copy()


def _distinct(codes: Codes, counts: Counts, names: Sequence[str], trees: Mapping[str, Tree]) -> tuple[Codes, Counts]:
    index, first = group_tuples(codes, [trees[name].size for name in names])
    totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
    return np.ascontiguousarray(codes[first]), totals
