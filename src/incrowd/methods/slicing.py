"""Slicing (Li, Li, Zhang & Molloy 2012): attributes that hang together share a column, rows share a bucket, and within
a bucket each column is permuted; see `incrowd.slicing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from incrowd.errors import Unsatisfiable
from incrowd.forms.slices import ShowSlices, all_columns, at_levels
from incrowd.methods.anatomy import bucket_recoding
from incrowd.models.model import Model
from incrowd.progress import Progress
from incrowd.recoding import Recoding
from incrowd.schema import Schema
from incrowd.slicing.buckets import make_buckets
from incrowd.slicing.columns import Columns, partition_attributes
from incrowd.slicing.correlation import contingency
from incrowd.slicing.sliced import slice_tally
from incrowd.tally import Tally


@dataclass(frozen=True)
class Slicing:
    """Columns by correlation, buckets as small as sliced ℓ-diversity allows.

    ℓ is that of the `SlicedDiversity` that is required; a k asks for buckets of at least k rows. `columns` lists
    attributes that are to share a column; without it, `number` columns are formed by correlation, or as many as suit.
    `company` is how many attributes share the sensitive one's column (without it, as many as correlation says and
    diversity allows), and `apart` keeps several sensitive attributes in
    columns of their own. `levels` shows an attribute at a level of its hierarchy. With `overlapping`, the `columns` may
    share attributes.
    """

    columns: Columns = ()
    number: int | None = None
    company: int | None = None
    apart: bool = False
    levels: Mapping[str, int] = field(default_factory=dict)
    overlapping: bool = False
    name: ClassVar[str] = "slicing"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(tuple(column) for column in self.columns))

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Choose columns, then cut and deal out the rows, and check every match."""
        shown = at_levels(tally, self.levels)
        for last, columns in self._choices(shown, schema):
            try:
                return self._search(tally, shown, schema, columns, require, rng, progress)
            except Unsatisfiable:
                if last:
                    raise
        raise AssertionError("there is always a last choice")

    def _search(
        self,
        tally: Tally,
        shown: Tally,
        schema: Schema,
        columns: Columns,
        require: Sequence[Model],
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        sensitive = tuple(sorted(schema.sensitive))
        l = max((Fraction(str(getattr(model, "l", 1))) for model in require), default=Fraction(1))
        partition = make_buckets(
            shown,
            slice_tally(shown, columns, sensitive),
            sorted(schema.quasi),
            l,
            rng=rng,
            least=max((model.min_group for model in require), default=1),
            progress=progress,
        )
        return bucket_recoding(tally, schema, partition.buckets, ShowSlices(columns, self.levels, self.overlapping))

    def _choices(self, tally: Tally, schema: Schema) -> Iterator[tuple[bool, Columns]]:
        """Yield columns to try, and whether they are the last: with ever less company for the sensitive attribute.

        What goes with a sensitive value too often cannot be published beside it, and only trying tells.
        """
        if self.columns:
            yield True, all_columns(self.columns, schema, overlapping=self.overlapping)
            return
        names, sensitive = sorted(schema.tallied), tuple(sorted(schema.sensitive))
        phi = contingency(tally, names)
        ways = [self.company] if self.company is not None or not sensitive else [None, 1, 0]
        for way in ways:
            columns = partition_attributes(
                names, phi, sensitive=sensitive, number=self.number, company=way, apart=self.apart
            )
            yield way == ways[-1], columns
