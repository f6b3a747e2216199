"""The codes that values of another table have in a tree."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Codes
from incrowd.hierarchies.texts import code_names, plain
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.values import as_dates, as_numbers, as_text

_STARTS_LIKE_A_NUMBER = r"^[-+]?\.?\d[\d.,:/TZ+ -]*$"


def exact_codes(tree: Tree, values: pl.Series) -> Codes:
    """Return the code of each value, and -1 for each that the tree does not list."""
    values = values.alias("")  # a name may look like a pattern of names
    if not tree.ordered:
        return code_values(tree, values)
    held = as_held(tree, values)
    codes = code_values(tree, held)
    listed = tree.values.gather(codes)
    if held.dtype.is_float() != listed.dtype.is_float():
        held, listed = held.cast(pl.Float64), listed.cast(pl.Float64)
    codes[(codes > MISSING) & ~held.eq_missing(listed).to_numpy()] = -1
    if values.dtype == pl.String:  # a word is no number, and not missing
        codes[(plain(values).is_not_null() & held.is_null()).to_numpy()] = -1
    return codes


def as_held(tree: Tree, values: pl.Series) -> pl.Series:
    """Return values as a tree holds them: numbers, dates or texts, and nothing where it could not."""
    if not tree.ordered:
        return as_text(values)
    temporal = tree.values.dtype.is_temporal()
    parsed = as_dates(values) if temporal else as_numbers(values)
    if parsed is None and values.dtype == pl.String:  # some are words
        some = values.filter(values.str.strip_chars().str.contains(_STARTS_LIKE_A_NUMBER).fill_null(value=False))
        found = (as_dates(some) if temporal else as_numbers(some)) if len(some) else None
        if found is not None:
            by_text = pl.DataFrame({"text": some, "held": found}).unique("text")
            asked = pl.DataFrame({"text": values})
            parsed = asked.join(by_text, on="text", how="left", maintain_order="left")["held"]
    if parsed is None:
        return pl.Series(values.name, [None] * len(values), dtype=tree.values.dtype)
    return parsed.cast(tree.values.dtype) if temporal else parsed


def code_values(tree: Tree, values: pl.Series) -> Codes:
    """Return the code of each value: a number or date that the tree does not list goes to the next one below.

    A name that the tree does not list is -1.
    """
    values = values.alias("")  # a name may look like a pattern of names
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
