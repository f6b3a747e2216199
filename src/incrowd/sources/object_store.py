"""Object stores (`s3://`, `gs://`, `az://`, …) through Polars: Parquet and Arrow, scanned where they are.

Who may read them is told by the environment, as for every other program; no key is an option here, so that none can end
in a recipe.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

import polars as pl

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import normalized, told_missing
from incrowd.sources.sql import without_password

_PARQUET, _ARROW = (".parquet",), (".arrow", ".feather", ".ipc")


@dataclass(frozen=True)
class ObjectStore(Source):
    """Parquet or Arrow files of an object store: one, or all that match a pattern."""

    name: ClassVar[str] = "object-store"
    accepts: ClassVar[str] = (
        "the address of a Parquet or Arrow file in an object store, such as s3://bucket/people.parquet"
    )
    schemes: ClassVar[tuple[str, ...]] = (
        "s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "hf", "http", "https",
    )  # fmt: skip

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Scan it; only the columns that are needed are fetched."""
        url = str(location.given)
        shown = without_password(url)
        options.refuse_all_but((), f"{shown}: this is an object store")
        suffix = PurePosixPath(url.partition("?")[0]).suffix.lower()
        if suffix not in (*_PARQUET, *_ARROW):
            raise SourceError(
                f"{shown}: only Parquet and Arrow files are read from object stores, told by .parquet or .arrow at the "
                "end.  Hint: store the table as Parquet, or copy the file here."
            )
        scan = pl.scan_parquet if suffix in _PARQUET else pl.scan_ipc
        try:
            frame = scan(url)
            frame.collect_schema()
        except (pl.exceptions.PolarsError, OSError, ValueError) as error:
            raise SourceError(f"{shown}: it cannot be read ({type(error).__name__}).  {_HINT}") from None
        frame = normalized(frame, options, where=shown)
        description = {"path": shown, **told_missing(options)}
        return OpenedTable(frame, tuple(frame.collect_schema().names()), "file", description, in_memory=False)


_HINT = (
    "Hint: check the address, and that the environment tells who may read it (AWS_ACCESS_KEY_ID, AWS_REGION, "
    "AWS_ENDPOINT_URL and the like)."
)
