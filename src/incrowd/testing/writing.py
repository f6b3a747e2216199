"""What every sink promises: a file that is read back as the same rows, whatever is in them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import polars.selectors as cs
from hypothesis import strategies as st

from incrowd.core.sink import Sink
from incrowd.errors import SourceError
from incrowd.hierarchies.values import as_text
from incrowd.sources import open_source, read_rows
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.reading import plain
from incrowd.testing.strategies import KINDS

_NAMES = ("age", "a,b", 'say "x"', "é漢", "with space", "semi;colon", "it's", "*", "1")
_WORDS = ("age", "Sex", "zip_code", "income2020", "a" * 32)
_OTHERS: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (pl.Int8, st.integers(-128, 127)),
    (pl.Float32, st.sampled_from([0.5, -2.0, 1e10])),
    (pl.Decimal(10, 2), st.integers(-999, 999).map(lambda cents: Decimal(cents) / 100)),
    (pl.Time, st.integers(0, 86_399).map(lambda second: time(second // 3600, second // 60 % 60, second % 60))),
    (pl.Duration("us"), st.integers(0, 10**6).map(lambda second: timedelta(seconds=second))),
)
_TYPES = (*((kind.dtype, kind.values) for kind in KINDS), *_OTHERS)


def is_a_value(sink: Sink) -> None:
    """A sink has a name and suffixes, its own among them, and is a frozen dataclass."""
    expect(sink.name, "a sink without a name", type(sink).__name__)
    expect(is_frozen_dataclass(sink), "a sink that is no frozen dataclass", type(sink).__name__)
    expect(f".{sink.name}" in sink.suffixes, f"its files end in .{sink.name}, which is none of {sink.suffixes}", sink)


@st.composite
def frames(draw: st.DrawFn, *, words: bool = False) -> list[pl.DataFrame]:
    """Draw a published table in batches: columns of every plain type, missing values, no rows at all, odd names.

    Where names must be `words`, they are.
    """
    rows = draw(st.integers(0, 8))
    names = draw(st.lists(st.sampled_from(_WORDS if words else _NAMES), min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        dtype, values = draw(st.sampled_from(_TYPES))
        pool = [None, *draw(st.lists(values, min_size=1, max_size=4))]
        columns[name] = pl.Series(Random(draw(st.integers(0, 99))).choices(pool, k=rows), dtype=dtype)
    frame = pl.DataFrame(columns).with_columns(cs.float().fill_nan(None))  # what is published has one missing value
    middle = draw(st.integers(0, rows))
    return [frame] if middle in (0, rows) else [frame[:middle], frame[middle:]]


def reads_back(sink: Sink, batches: Sequence[pl.DataFrame], separator: str) -> None:
    """What is written is read as the same columns and values, as texts at least; nothing else is written."""
    written = pl.concat(batches)
    told = {name: (str(written[name].dtype), written[name].to_list()) for name in written.columns}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"data.{sink.name}"
        sink.write(iter([batch.clone() for batch in batches]), path, separator=separator)
        found = [other.name for other in Path(place).iterdir()]
        expect(found == [path.name], f"files are written: {found}", sink)
        try:
            opened = open_source(path, separator=separator, header=True, written="plain")
        except SourceError:  # most kinds of files have no separator
            opened = open_source(path)
        read = read_rows(opened)
    expect(read.columns == written.columns, f"the columns are read as {read.columns}", sink, told)
    expect(read.height == written.height, f"{read.height} rows are read of {written.height}", sink, told)
    for name in written.columns:
        values = [_meant(frame[name]) for frame in (written, read)]
        expect(values[0] == values[1], f"'{name}' is read as {read[name].to_list()}", sink, told)


def _meant(values: pl.Series) -> list[object]:
    """Return what texts say, however they are spelled; not every file tells an empty text from a missing value."""
    found: list[object] = []
    for text in as_text(values).to_list():
        try:
            found.append(None if not text else time.fromisoformat(text) if ":" in text else plain(text))
        except ValueError:
            found.append(plain(text))
    return found
