"""Tables that are in memory already: Polars, pandas and PyArrow. The caller's frame is never changed, nor watched.

Neither pandas nor PyArrow is imported unless the caller's frame is one of theirs.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import polars as pl

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.sources.normalize import opened_frame


@dataclass(frozen=True)
class PolarsFrame(Source):
    """A Polars frame, or the plan of one."""

    name: ClassVar[str] = "polars"
    accepts: ClassVar[str] = "a Polars DataFrame or LazyFrame"

    def recognizes(self, location: Location) -> bool:
        """By its type."""
        return isinstance(location.given, (pl.DataFrame, pl.LazyFrame))

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Take it as it is."""
        options.refuse_all_but((), "this is a frame")
        frame: Any = location.given
        if isinstance(frame, pl.LazyFrame):
            return opened_frame(frame, "polars-lazy", options, most_rows=None)
        return opened_frame(frame.lazy(), "polars", options, most_rows=frame.height)


@dataclass(frozen=True)
class PandasFrame(Source):
    """A pandas frame."""

    name: ClassVar[str] = "pandas"
    accepts: ClassVar[str] = "a pandas DataFrame"

    def recognizes(self, location: Location) -> bool:
        """By its type."""
        return "pandas" in sys.modules and _is("pandas_dataframe", location.given)

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Take its columns over, one by one."""
        from incrowd.sources.pandas import from_pandas

        options.refuse_all_but((), "this is a frame")
        frame: Any = location.given
        with needing_extra("pandas", "pandas frames"):  # pandas may be here without PyArrow, which reads its texts
            taken = from_pandas(frame, options.lists)
        dtypes = [str(frame.iloc[:, at].dtype) for at in range(frame.shape[1])]
        names = [name for name, dtype in zip(taken.columns, dtypes, strict=True) if dtype == "category"]
        return opened_frame(taken.lazy(), self.name, options, most_rows=taken.height, categorical=names)


@dataclass(frozen=True)
class PyArrowTable(Source):
    """A PyArrow table."""

    name: ClassVar[str] = "pyarrow"
    accepts: ClassVar[str] = "a PyArrow Table"

    def recognizes(self, location: Location) -> bool:
        """By its type."""
        return "pyarrow" in sys.modules and _is("pyarrow_table", location.given)

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Take its columns over, one by one."""
        from incrowd.sources.arrow import from_arrow

        options.refuse_all_but((), "this is a frame")
        table: Any = location.given
        frame = from_arrow(table, where="the pyarrow frame", hint="drop it, or cast it to text.")
        return opened_frame(frame.lazy(), self.name, options, most_rows=frame.height)


def _is(kind: str, given: object) -> bool:
    from narwhals import dependencies  # takes long to import, and files have no need of it

    return bool(getattr(dependencies, f"is_{kind}")(given))


def as_native(frame: pl.DataFrame, native: str) -> Any:
    """Return a frame as the kind that the caller handed in; Polars where that was a file or a database."""
    match native:
        case "pandas":
            with needing_extra("pandas", "pandas frames"):
                return frame.to_pandas()
        case "pyarrow":
            return frame.to_arrow()
        case "polars-lazy":
            return frame.lazy()
        case _:
            return frame
