"""Slicing (Li, Li, Zhang & Molloy 2012): attributes that hang together share a column, rows share a bucket, and within
a bucket each column is permuted; see `incrowd.slicing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.progress import Progress
from incrowd.core.method import Method
from incrowd.core.model import Model
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable
from incrowd.forms.sliced import ShowSlices, all_columns, at_levels
from incrowd.forms.slices.fake_tuples import count_fakes
from incrowd.forms.slices.slices import slice_tally
from incrowd.methods.anatomy import bucket_recoding
from incrowd.methods.slicing_parts.attribute_columns import Columns, partition_attributes
from incrowd.methods.slicing_parts.buckets import make_buckets
from incrowd.methods.slicing_parts.correlation import contingency


@dataclass(frozen=True)
class Slicing(Method):
    """Columns by correlation, buckets as small as sliced ℓ-diversity allows.

    ℓ is that of the `SlicedDiversity` that is required; a k asks for buckets of at least k rows. `columns` lists
    attributes that are to share a column; without it, `number` columns are formed by correlation, or as many as suit.
    `company` is how many attributes share the sensitive one's column (without it, as many as correlation says and
    diversity allows), and `apart` keeps several sensitive attributes in
    columns of their own. `levels` shows an attribute at a level of its hierarchy. With `overlapping`, the `columns` may
    share attributes.

    Buckets as small as ℓ allows keep the sensitive value secret, and not who is in the table. To hide that as well, ask
    for buckets of at least `least` rows, 50 or so, and a `number` of columns as large as that of attributes: then many
    people match a bucket who are not in the table, and counts are still good. `levels` hide people better, and cost as
    much as generalization does. `incrowd experiment slicing` shows both. Or ask for so many `fakes` for each person in
    the table: others whose values, as shown, match a bucket (the paper's fake-original ratio, of what is known of
    people); buckets become as large as that takes.
    """

    columns: Columns = ()
    number: int | None = None
    company: int | None = None
    apart: bool = False
    levels: Mapping[str, int] = field(default_factory=dict)
    overlapping: bool = False
    least: int = 1
    fakes: float = 0.0
    name: ClassVar[str] = "slicing"

    def __post_init__(self) -> None:
        require_whole("slicing", "least", self.least, at_least=1)
        require_number("slicing", "fakes", self.fakes, least=0)
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
        l = max((Fraction(str(model.diversity)) for model in require), default=Fraction(1))
        slices = slice_tally(shown, columns, sensitive)
        least = max(self.least, *(model.min_group for model in require), 1)
        while True:
            buckets = make_buckets(
                shown, slices, sorted(schema.quasi), l, rng=rng, least=least, progress=progress
            ).buckets
            ratio = count_fakes(slices, buckets, people=True).ratio if self.fakes else 0.0
            if ratio >= self.fakes:
                return bucket_recoding(tally, schema, buckets, ShowSlices(columns, self.levels, self.overlapping))
            # Larger buckets match more people; with one column of known attributes, all of them are in the table.
            least = 2 * max(least, int(buckets.sizes.min()))
            if least > tally.rows or (slices.known.max(axis=0) > 0).sum() < 2:
                raise Unsatisfiable(
                    f"slicing: {self.fakes:g} fake people for each one in the table cannot be had with these columns; "
                    f"the largest buckets tried gave {ratio:.2g}.  Hint: ask for fewer, or for more columns."
                )

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
