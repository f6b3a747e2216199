"""Arrow: files are scanned where they are, streams come into memory."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import opened_file
from incrowd.sources.stamps import watch

_FILE, _STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"


@dataclass(frozen=True)
class ArrowFile(Source):
    """Arrow IPC, as a file or as a stream."""

    name: ClassVar[str] = "arrow"
    accepts: ClassVar[str] = "the path of an Arrow file"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")

    def recognizes(self, location: Location) -> bool:
        """By the first bytes."""
        return location.head.startswith((_FILE, _STREAM))

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Scan a file, or read a stream."""
        path = location.path
        assert path is not None
        options.refuse_all_but((), f"{path}: this is Arrow")
        stream = location.head.startswith(_STREAM)
        unchanged = watch(path)
        return opened_file(_scanned(path, stream=stream), path, options, in_memory=stream, unchanged=unchanged)


def _scanned(path: Path, *, stream: bool) -> pl.LazyFrame:
    try:
        if stream:
            return pl.read_ipc_stream(path).lazy()
        # By its address: a path would be mapped, and a mapped file that is cut kills the process.
        frame = pl.scan_ipc(path.absolute().as_uri(), glob=False)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError):
        raise SourceError(f"{path}: the Arrow file is damaged or incomplete.") from None
    return frame
