"""Arrow, which programs map into memory as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.sink import Sink
from incrowd.publishing.sinks.streaming import as_lazy, writing

_COMPACT = pl.CompatLevel.oldest()
"""Arrow's older texts hold what they show. The newer ones point into buffers, which Polars writes out as a whole: with
the texts of rows that are withheld."""


@dataclass(frozen=True)
class ArrowSink(Sink):
    """Columns as they are in memory."""

    name: ClassVar[str] = "arrow"
    takes_lists: ClassVar[bool] = True
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Stream all batches into the file."""
        with writing(path) as file:
            as_lazy(batches).sink_ipc(file, compat_level=_COMPACT)
