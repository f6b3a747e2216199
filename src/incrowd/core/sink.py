"""What every kind of file that a release is written to can do: take its tables, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Protocol

import polars as pl

from incrowd.common.registry import Named
from incrowd.core.codebook import Codebook


class Sink(Named, Protocol):
    """A kind of file. Implementations are frozen dataclasses that inherit from this, one file each.

    Its name is what `format=` takes, and how the names of its files end.
    """

    opened_by_spreadsheets: ClassVar[bool] = False
    """Whether people open such files in a spreadsheet, which runs cells that look like formulas."""
    takes_lists: ClassVar[bool] = False
    """Whether a cell may be a list; otherwise lists are written as texts."""
    takes_runs: ClassVar[bool] = False
    """Whether equal rows may come once, with how often they do (`core/runs.py`)."""
    keeps_types: ClassVar[bool] = True
    """Whether a column of such a file has a type; otherwise it is handed days in place of times that are all
    midnight."""
    suffixes: ClassVar[tuple[str, ...]]
    """How the names of such files may end: a table that came from one of these is published in this kind."""

    extra: ClassVar[str | None] = None
    """The extra of incrowd that must be installed to write such files."""
    names_are_words: ClassVar[bool] = False
    """Whether a column's name must be a word: a letter, then letters, digits and underscores, at most 32 of them."""

    def write(self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str) -> None:
        """Write all batches into one new file; `separator` is for kinds that have one."""
        ...

    def write_labelled(
        self, batches: Iterator[pl.DataFrame], path: Path, *, separator: str, codebook: Codebook | None
    ) -> None:
        """Write the same with what the table's own file says of its columns, where such files can hold that."""
        self.write(batches, path, separator=separator)
