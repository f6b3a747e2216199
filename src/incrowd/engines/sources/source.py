"""What an opened table is, whatever it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

Native = Literal["polars", "polars-lazy", "pandas", "pyarrow", "file", "sql", "spark"]


@dataclass(frozen=True, eq=False)
class Source:
    """A table that can be read, as often as needed, and what is known of it before its rows are.

    `description` holds what opens the same table again: the path or the URL and the keywords of `open_source`, in
    types that TOML knows, and never a password. A frame that came from the caller has only its kind.
    """

    frame: pl.LazyFrame
    """All columns, normalized: no NaN, no negative zero, no category, nothing nested. Every column of a CSV is text."""
    columns: tuple[str, ...]
    native: Native
    """What the caller handed in, so that a result can be given back as the same kind."""
    description: Mapping[str, object]
    in_memory: bool
    """Whether the rows are in memory already; otherwise each collect reads them from where they are."""
    found_out: tuple[str, ...] = ()
    """Which of the description's keywords nobody stated: they were read off the rows, and so may tell of one."""
