"""Bucketized values: quasi-identifiers as they are, and sensitive values that belong to the group, not to a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from incrowd.errors import RecipeError, SchemaError
from incrowd.forms.slices import sliced
from incrowd.recoding import Recoding
from incrowd.releases.bucketized import BucketizedTable
from incrowd.releases.sliced import SlicedTable
from incrowd.schema import Schema
from incrowd.tally import Tally


@dataclass(frozen=True)
class ShowBuckets:
    """All quasi-identifiers of a row together, its sensitive values with those of its group.

    `tables="two"` publishes quasi-identifiers and sensitive values apart, connected by the bucket's number;
    `"one"` puts the sensitive values beside them in random order.
    """

    tables: Literal["one", "two"] = "two"
    name: ClassVar[str] = "bucketized"

    def __post_init__(self) -> None:
        if self.tables not in ("one", "two"):
            raise RecipeError(f'bucketized: tables is "one" or "two", not {self.tables!r}.')

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> SlicedTable:
        """Take the sensitive values out of the rows."""
        if not schema.sensitive:
            raise SchemaError("a bucketized table needs a sensitive column.  Hint: name one.")
        kind = BucketizedTable if self.tables == "two" else SlicedTable
        columns = (tuple(schema.quasi), tuple(schema.sensitive))
        return sliced(kind, tally, schema, recoding, columns, rows_in=rows_in, rng=rng)
