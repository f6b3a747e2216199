"""What every form of a release can do: tell what is published, answer questions, and be checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import polars as pl

from incrowd.models.model import Guarantee, Model
from incrowd.releases.query import Query
from incrowd.schema import Schema
from incrowd.tally import Counts, Tally


class Form(Protocol):
    """Published rows in one of the ways to show who hides together, as counts; rows are made when asked for."""

    name: ClassVar[str]
    """What the form is called in summaries."""

    @property
    def schema(self) -> Schema:
        """The role of every column of the table."""
        ...

    @property
    def tally(self) -> Tally:
        """The table before."""
        ...

    @property
    def rows_in(self) -> int:
        """Rows that were to be published: those of the table, or of a sample of it."""
        ...

    @property
    def rows(self) -> int:
        """Rows that are published."""
        ...

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        ...

    @property
    def group_sizes(self) -> Counts:
        """Rows in each group of people who hide together."""
        ...

    def verify(self, require: Sequence[Model], before: Tally) -> list[Guarantee]:
        """Check every model on what is published; return the guarantees, or refuse the release."""
        ...

    def count(self, query: Query) -> float:
        """Estimate how many published rows satisfy every condition."""
        ...

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the published rows in an order that says nothing about the table's."""
        ...

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return what is published besides the rows, by name."""
        ...

    def losses(self) -> dict[str, Any]:
        """Return what was lost, as numbers that suit the form."""
        ...

    def warnings(self) -> list[str]:
        """Return what a careful reader should know before signing."""
        ...
