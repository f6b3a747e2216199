"""Parquet, which keeps the types of columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.sink import Sink
from incrowd.publishing.sinks.streaming import as_lazy, writing


@dataclass(frozen=True)
class ParquetSink(Sink):
    """Compressed columns."""

    name: ClassVar[str] = "parquet"
    takes_lists: ClassVar[bool] = True
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Stream all batches into the file."""
        with writing(path) as file:
            as_lazy(batches).sink_parquet(file)
