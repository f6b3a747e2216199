"""Tiny files, written: see `source.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from incrowd.core.sink import Sink
from incrowd.hierarchies.values import as_text


@dataclass(frozen=True)
class TinySink(Sink):
    """Files that end in `.tiny`."""

    name: ClassVar[str] = "tiny"
    suffixes: ClassVar[tuple[str, ...]] = (".tiny",)

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write the columns' names once, and every row as texts."""
        with path.open("w", encoding="utf-8") as file:
            for number, batch in enumerate(batches):
                if number == 0:
                    file.write(json.dumps(batch.columns) + "\n")
                texts = batch.select(as_text(batch[name]) for name in batch.columns)
                file.writelines(json.dumps(row) + "\n" for row in texts.iter_rows())
