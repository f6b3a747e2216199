"""What an engine is: where rows live, who counts them, and who turns them into published rows.

Methods never see rows, so that this is all that another home for rows has to bring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.engines.sources import Native
from incrowd.pseudonyms import PseudonymKey
from incrowd.recoding import Recoding
from incrowd.releases.form import Form
from incrowd.schema import Schema
from incrowd.tally import Tally


class Origin(Protocol):
    """What is known of a table that was opened, wherever its rows are."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        ...

    @property
    def native(self) -> Native:
        """What the caller handed in, so that a result can be given back as the same kind."""
        ...

    @property
    def description(self) -> Mapping[str, object]:
        """What opens the same table again, in types that TOML knows, and never a password."""
        ...


@dataclass(frozen=True, eq=False)
class Counted:
    """A table's tally, and the raw tuples that each of its tuples stands for, so that rows can be found again.

    Where no row will be looked for again, `raw` has no columns.
    """

    tally: Tally
    raw: pl.DataFrame
    tuple_of: NDArray[np.int64]


class Engine(Protocol):
    """Rows that can be counted, and published."""

    @property
    def source(self) -> Origin:
        """Where the rows come from."""
        ...

    def count(self, schema: Schema, population: Origin | None = None) -> Counted:
        """Count the distinct tuples of the quasi-identifiers and sensitive columns in one pass over the rows."""
        ...

    def apply(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> Iterator[pl.DataFrame]:
        """Yield the published rows, batch by batch, in an order that says nothing."""
        ...

    def frame(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> Any:
        """Return the published rows as a frame of the engine's own; None where they only come in batches."""
        ...
