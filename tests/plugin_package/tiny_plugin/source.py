"""Tiny files: a line of columns and a line for each row, all lists of texts in JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.errors import SourceError
from incrowd.sources.normalize import opened_file


@dataclass(frozen=True)
class TinyFile(Source):
    """Files that end in `.tiny`."""

    name: ClassVar[str] = "tiny"
    accepts: ClassVar[str] = "the path of a tiny file"
    suffixes: ClassVar[tuple[str, ...]] = (".tiny",)

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Read all lines; every column is text."""
        path = location.path
        assert path is not None
        options.refuse_all_but((), f"{path}: this is a tiny file")
        try:
            columns, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        except ValueError:
            raise SourceError(f"{path}: this is not a tiny file.") from None
        frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
        return opened_file(frame.lazy(), path, options, in_memory=True)
