"""Tables cut into columns and buckets, drawn or from the paper, as arrays and as rows for the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.tally import Tally
from incrowd.forms.slices.slices import Buckets, Slices, slice_tally
from incrowd.hierarchies.flat import Exact
from tests.forms.slices.naive_slicing import Columns, Row


def tally_of(frame: pl.DataFrame, sensitive: Sequence[str] = (), *, levels: bool = True) -> Tally:
    """Count a frame; every attribute that is not sensitive is a quasi-identifier."""
    quasi = [name for name in frame.columns if name not in sensitive]
    hierarchies = {} if levels else dict.fromkeys(quasi, Exact())
    table = ic.read(frame, quasi=quasi, sensitive=list(sensitive), hierarchies=hierarchies)
    return table.engine.count(table.schema).tally


def rows_of(tally: Tally) -> list[Row]:
    """Return one row for each tuple, by codes."""
    return [dict(zip(tally.columns, codes, strict=True)) for codes in tally.codes.tolist()]


def rows_in(tally: Tally, buckets: Buckets) -> list[list[Row]]:
    """Return the rows of every bucket, by codes."""
    rows = rows_of(tally)
    found: list[list[Row]] = [[] for _ in range(len(buckets))]
    for place, count, bucket in zip(buckets.tuples, buckets.counts, buckets.bucket_of, strict=True):
        found[bucket] += [rows[place]] * int(count)
    return found


@dataclass(frozen=True)
class Case:
    """A table in columns and buckets."""

    tally: Tally
    columns: Columns
    sensitive: Sequence[str]
    buckets: Buckets

    @property
    def slices(self) -> Slices:
        return slice_tally(self.tally, self.columns, self.sensitive)

    @cached_property
    def rows(self) -> list[Row]:
        return rows_of(self.tally)

    @cached_property
    def bucket_rows(self) -> list[list[Row]]:
        return rows_in(self.tally, self.buckets)

    @property
    def secrets(self) -> list[str]:
        """The sensitive attributes in the order of the slices' secrets."""
        return sorted(self.sensitive)


def paper_case(columns: Columns) -> Case:
    """The paper's eight patients in two buckets of four."""
    frame = ic.datasets.slicing_patients()
    tally = tally_of(frame, ["disease"])
    # No two patients are alike in their codes, and the first four are those younger than 53.
    young = tally.trees["age"].values.to_numpy()[tally.column("age")] < 53
    buckets = Buckets(np.arange(8), tally.counts, np.where(young, 0, 1))
    return Case(tally, columns, ["disease"], buckets)


@st.composite
def cases(draw: st.DrawFn, *, withheld: bool = True) -> Case:
    """Draw a small table with one or two secrets, columns of it, and buckets, some of them with part of a tuple."""
    attributes = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    sensitive = ["s", "t"][: draw(st.integers(1, 2))]
    number = draw(st.integers(1, 24))
    values = st.integers(0, draw(st.integers(0, 4))) | st.none()
    frame = pl.DataFrame(
        {name: draw(st.lists(values, min_size=number, max_size=number)) for name in [*attributes, *sensitive]},
        schema=dict.fromkeys([*attributes, *sensitive], pl.Int64),
    )
    columns: list[list[str]] = [[] for _ in range(draw(st.integers(1, 4)))]
    for name in [*attributes, *sensitive]:
        columns[draw(st.integers(0, len(columns) - 1))].append(name)
    tally = tally_of(frame, sensitive, levels=False)  # nobody looks at levels, which would take most of the time
    tuples = np.repeat(np.arange(len(tally)), tally.counts)
    chosen = draw(st.lists(st.integers(0, 4), min_size=number, max_size=number))
    in_bucket = np.array(chosen)
    if withheld:
        stays = np.array(draw(st.lists(st.booleans(), min_size=number, max_size=number))) | (np.arange(number) == 0)
        tuples, in_bucket = tuples[stays], in_bucket[stays]
    bucket_of = np.unique(in_bucket, return_inverse=True)[1].astype(np.int64)
    return Case(
        tally, [column for column in columns if column], sensitive, Buckets(tuples, np.ones_like(tuples), bucket_of)
    )
