"""Slicing (Li, Li, Zhang & Molloy 2012): correlated attributes share a column, rows share a bucket, and within a bucket
each column is permuted; see `slicing_parts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.method import Method
from incrowd.core.model import Model, any_ignores_missing
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable
from incrowd.forms.sliced import ShowSlices, all_columns, at_levels
from incrowd.forms.slices.fake_tuples import count_fakes
from incrowd.forms.slices.slices import ignoring_missing, slice_tally
from incrowd.methods.anatomy import bucket_recoding
from incrowd.methods.slicing_parts.attribute_columns import Columns, partition_attributes
from incrowd.methods.slicing_parts.bucket_judging import require_satisfied
from incrowd.methods.slicing_parts.buckets import make_buckets
from incrowd.methods.slicing_parts.correlation import contingency

TuplePartition = Literal["dealt", "cuts"]


@renamed(
    number="column_count",
    company="sensitive_group_size",
    apart="separate_sensitive",
    least="min_bucket_size",
    fakes="fake_ratio",
)
@dataclass(frozen=True)
class Slicing(Method):
    """Correlated attributes share a column, and rows share buckets that are as small as sliced ℓ-diversity allows.

    Parameters
    ----------
    columns : lists of attributes that share a column (default: found by correlation).
    column_count : how many columns to form by correlation (default: the number that fits best).
    sensitive_group_size : how many attributes share the sensitive attribute's column (default: as many as are
        correlated with it and diversity allows).
    separate_sensitive : True keeps several sensitive attributes in different columns (default: False).
    levels : the level of its hierarchy at which an attribute is shown (default: 0, its values).
    overlapping : True lets the `columns` share attributes (default: False).
    min_bucket_size : the smallest number of rows in a bucket (default: 1, as small as ℓ allows).
    fake_ratio : for each person in the table, how many others match a bucket by their values, as shown (default: 0).
        This is the paper's fake-original ratio, of what is known of people. Buckets become as large as that takes.
    tuple_partition : "dealt" deals the rows of each bucket that the cuts leave out to buckets of about ℓ rows; "cuts"
        leaves buckets as the cuts leave them, which is the paper's own tuple partition (default: "dealt").

    ℓ is that of the `SlicedDiversity` that you require. If you require a `BucketSize`, buckets are at least as large.

    Buckets as small as ℓ allows keep the sensitive value secret, but not who is in the table. The paper's own buckets
    (`tuple_partition="cuts"`) are larger, and match more people who are not there; they do not hide who is in the table
    either. To hide more of that, choose `tuple_partition="cuts"`, a `min_bucket_size` of about 50 and a `column_count`
    as large as the number of attributes: then most people who are not in the table match a bucket, too, and counts are
    still good. `levels` hide people better, and cost as much as generalization does. `incrowd experiment slicing`
    measures all of these. Or choose a `fake_ratio`.

    Reference: Li, Li, Zhang & Molloy (2012).
    """

    columns: Columns = ()
    column_count: int | None = None
    sensitive_group_size: int | None = None
    separate_sensitive: bool = False
    levels: Mapping[str, int] = field(default_factory=dict)
    overlapping: bool = False
    min_bucket_size: int = 1
    fake_ratio: float = 0.0
    tuple_partition: TuplePartition = "dealt"
    name: ClassVar[str] = "slicing"
    one_row_each: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole("slicing", "min_bucket_size", self.min_bucket_size, at_least=1)
        require_number("slicing", "fake_ratio", self.fake_ratio, at_least=0)
        object.__setattr__(self, "columns", tuple(tuple(column) for column in self.columns))

    @property
    def searches_parts(self) -> bool:
        """Yes: buckets are made of neighbours."""
        return True

    def settled(self, found: Recoding) -> Self:
        """Return it with the columns that it found."""
        return replace(self, columns=found.form.columns) if isinstance(found.form, ShowSlices) else self

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
        if any_ignores_missing(require):
            slices = ignoring_missing(slices)
        smallest = max(self.min_bucket_size, *(model.min_group for model in require), 1)
        while True:
            buckets = make_buckets(
                shown,
                slices,
                sorted(schema.quasi),
                l,
                rng=rng,
                min_bucket_size=smallest,
                dealing=self.tuple_partition == "dealt",
                progress=progress,
            ).buckets
            ratio = count_fakes(slices, buckets, people=True).ratio if self.fake_ratio else 0.0
            if ratio >= self.fake_ratio:
                alone = all(
                    set(sensitive).isdisjoint(column) or set(sensitive).issuperset(column) for column in columns
                )
                # What is published beside a sensitive value tells more than the bucket does: the form refuses that.
                judged = [model for model in require if alone or not model.looks_at_values]
                require_satisfied(self.name, shown, schema, buckets, judged)
                return bucket_recoding(tally, schema, buckets, ShowSlices(columns, self.levels, self.overlapping))
            # Larger buckets match more people; with one column of known attributes, all of them are in the table.
            smallest = 2 * max(smallest, int(buckets.sizes.min()))
            if smallest > tally.rows or (slices.known.max(axis=0) > 0).sum() < 2:
                raise Unsatisfiable(
                    f"slicing: a fake_ratio of {self.fake_ratio:g} cannot be had with these columns; the largest "
                    f"buckets tried gave {ratio:.2g}.  Hint: ask for less, or for more columns."
                )

    def _choices(self, tally: Tally, schema: Schema) -> Iterator[tuple[bool, Columns]]:
        """Yield columns to try, and whether they are the last: with ever fewer attributes beside the sensitive one.

        What goes with a sensitive value too often cannot be published beside it, and only trying tells.
        """
        if self.columns:
            yield True, all_columns(self.columns, schema, overlapping=self.overlapping)
            return
        names, sensitive = sorted(schema.tallied), tuple(sorted(schema.sensitive))
        phi = contingency(tally, names)
        ways = [self.sensitive_group_size] if self.sensitive_group_size is not None or not sensitive else [None, 1, 0]
        for way in ways:
            columns = partition_attributes(
                names,
                phi,
                sensitive=sensitive,
                column_count=self.column_count,
                sensitive_group_size=way,
                separate_sensitive=self.separate_sensitive,
            )
            yield way == ways[-1], columns
