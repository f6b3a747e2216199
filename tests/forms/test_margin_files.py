"""The table of single columns and pairs: read back as it was written, and refused where it is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.boxes.margins import Margins, Pair, Single
from incrowd.errors import SourceError
from incrowd.forms.margin_files import CLASS, margins_frame, read_margins
from incrowd.hierarchies.public import public_tree

TREES = {
    "age": public_tree("age", ic.Intervals(widths=(1, 2), lower=0, upper=3)),
    "sex": public_tree("sex", ic.Categories.from_tree(["f", "m"])),
}
COLUMNS, CLASSES = ("age", "sex"), 2
CELLS = (np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2]), np.array([0, 1]))
MARGINS = Margins(
    (Single(np.array([0, 7, -3, 5, 9]), 2.5), Single(np.array([1, 8, 9]), 2.5)),
    (
        Pair((0, 1), CELLS[:2], np.arange(6).reshape(2, 3), 7.25),
        Pair((1, 2), CELLS[1:], np.arange(6).reshape(3, 2), 7.25),
    ),
)
LINES = margins_frame(MARGINS, COLUMNS, TREES, CLASSES)


def changed(row: int, name: str, value: object) -> pl.DataFrame:
    values = LINES[name].to_list()
    values[row] = value
    return LINES.with_columns(pl.Series(name, values))


def swapped(one: int, other: int) -> pl.DataFrame:
    order = list(range(LINES.height))
    order[one], order[other] = other, one
    return LINES[order]


DAMAGES: dict[str, Callable[[], pl.DataFrame]] = {
    "a line less": lambda: LINES.head(-1),
    "the first line": lambda: LINES.slice(1),
    "a line of a pair": lambda: pl.concat([LINES.head(10), LINES.slice(11)]),
    "a line twice": lambda: pl.concat([LINES.head(1), LINES]),
    "a block twice": lambda: pl.concat([LINES, LINES.head(5)]),
    "a pair twice": lambda: pl.concat([LINES, LINES.slice(8, 6)]),
    "no lines": lambda: LINES.head(0),
    "lines in another order": lambda: swapped(8, 9),
    "lines of one cell in another order": lambda: swapped(9, 10),
    "cells in another order": lambda: swapped(1, 2),
    "no number": lambda: changed(2, "estimate", None),
    "not a number": lambda: LINES.with_columns(pl.lit("many").alias("estimate")),
    "an endless number": lambda: LINES.with_columns(pl.lit(np.inf).alias("estimate")),
    "nothing that is a number": lambda: LINES.with_columns(pl.lit(np.nan).alias("variance")),
    "a number beyond all rows": lambda: LINES.with_columns(pl.lit(1e300).alias("estimate")),
    "a variance below 0": lambda: LINES.with_columns(pl.lit(-1.0).alias("variance")),
    "another variance": lambda: changed(9, "variance", 3.0),
    "a place that is none": lambda: changed(3, "first place", "three"),
    "a place beyond": lambda: changed(4, "first place", "4-9"),
    "an unknown column": lambda: LINES.with_columns(pl.lit("height").alias("first")),
    "a column with itself": lambda: LINES.with_columns(second=pl.col("second").replace({"sex": "age"})),
    "a class alone": lambda: pl.concat([LINES, LINES.tail(1).with_columns(first=pl.lit(CLASS), second=None)]),
}


def test_what_was_written_is_read() -> None:
    text = LINES.with_columns(pl.all().cast(pl.String))  # as a CSV has it
    for lines in (LINES, text):
        found = read_margins(lines, COLUMNS, TREES, CLASSES)
        for one, other in zip(found.singles, MARGINS.singles, strict=True):
            assert one.counts.tolist() == other.counts.tolist()
            assert one.variance == other.variance
        for mine, theirs in zip(found.pairs, MARGINS.pairs, strict=True):
            assert (mine.columns, mine.variance) == (theirs.columns, theirs.variance)
            assert mine.counts.tolist() == theirs.counts.tolist()
            assert [cells.tolist() for cells in mine.cells] == [cells.tolist() for cells in theirs.cells]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_refused(damage: str) -> None:
    with pytest.raises(SourceError, match="the table 'margins' of this release is not as it was written"):
        read_margins(DAMAGES[damage](), COLUMNS, TREES, CLASSES)


@pytest.mark.parametrize("name", LINES.columns)
def test_a_table_without_a_column_is_refused(name: str) -> None:
    with pytest.raises(SourceError, match=f"has no column '{name}'"):
        read_margins(LINES.drop(name), COLUMNS, TREES, CLASSES)
