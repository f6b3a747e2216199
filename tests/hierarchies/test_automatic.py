"""Hierarchies made up from the data: sensible ones, that hold the data, and that say where they come from."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.hierarchies.automatic import Automatic, propose
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from tests.any_text import any_text
from tests.hierarchies.grown import CHECKED, node_runs

anything = (
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8).map(
        lambda values: pl.Series(values, dtype=pl.Int64)
    )
    | st.lists(st.none() | st.floats(), min_size=1, max_size=8).map(lambda values: pl.Series(values, dtype=pl.Float64))
    | st.lists(st.none() | any_text(5), min_size=1, max_size=8).map(lambda values: pl.Series(values, dtype=pl.String))
    | st.lists(st.none() | st.text("0123456789.-e+ :T", max_size=8), min_size=1, max_size=6).map(
        lambda values: pl.Series(values, dtype=pl.String)
    )
)


@CHECKED
@given(anything)
@example(pl.Series([-1.7e308, 1.7e308]))
@example(pl.Series([1e-320, 5e-320]))
@example(pl.Series([-math.inf, math.inf, 0.0]))
@example(pl.Series([2**53, 2**53 + 1, 2**62]))
@example(pl.Series([2**63, 2**64 - 1], dtype=pl.UInt64))
@example(pl.Series(["*", "a"]))
@example(pl.Series([" 007", "008"]))
def test_any_column_gets_a_tree_that_holds_its_values(values: pl.Series) -> None:
    tree, codes = Automatic().build("x", values)
    assert tree.from_data
    node_runs(tree)  # every node is in one piece
    missing = [value is None or value != value for value in values]
    told = [code == 0 for code in codes]
    # Text that reads as not a number is missing too.
    assert all(told[place] for place, absent in enumerate(missing) if absent)
    assert np.isfinite(tree.span)


@pytest.mark.parametrize(
    ("values", "hierarchy"),
    [
        ([23, 45, 67, 88], Intervals(widths=(5.0, 10.0, 20.0, 40.0))),
        (["23", "45", "67", "88"], Intervals(widths=(5.0, 10.0, 20.0, 40.0))),
        ([1, 2, 3], Intervals(widths=(2.0,))),
        ([1, 2], Intervals(widths=(2.0,))),
        ([0.1, 0.2, 0.3], Intervals(widths=(0.01, 0.02, 0.04, 0.08, 0.16))),
        ([7], Flat()),
        ([7, None], Flat()),
        ([2**53, 2**60], Flat()),  # too large to be exact
        ([date(1960, 1, 1), date(1970, 1, 1)], Dates()),
        (["1960-01-01", "1970-01-01"], Dates()),
        ([datetime(1960, 1, 1, 3)], Dates()),
        (["75001", "75002x", "75003"], Flat()),  # different lengths
        (["01234", "75002"], Masking()),
        (["AB12", "CD34"], Masking()),
        (["ABCD", "EFGH"], Flat()),  # words
        (["a1b2", "c3d4"], Flat()),
        (["01234"], Flat()),  # one value has nothing to hide among
        (["12", "x3"], Flat()),  # too short to mask
        ([True, False], Flat()),
        ([time(1, 2), time(3, 4)], Flat()),
        ([timedelta(1), timedelta(20)], Flat()),
        ([None], Flat()),
    ],
)
def test_what_is_proposed(values: list, hierarchy: object) -> None:
    assert propose(pl.Series(values)) == hierarchy


@pytest.mark.parametrize("dtype", [pl.Null, pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Datetime, pl.Time])
def test_a_column_of_nothing_but_missing_values(dtype: pl.DataType) -> None:
    tree, codes = Automatic().build("x", pl.Series([None, None], dtype=dtype))
    assert (tree.size, codes.tolist()) == (1, [0, 0])
