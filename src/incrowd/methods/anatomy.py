"""Anatomy: groups of ℓ different sensitive values, shown as buckets (Xiao & Tao 2006).

Cost: see `slicing_parts/anatomy_buckets.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.method import Method
from incrowd.core.model import Model, any_ignores_missing
from incrowd.core.recoding import Recoding, Showing
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.forms.bucketized import ShowBuckets
from incrowd.forms.slices.slices import Buckets
from incrowd.kernels.regions import bounds
from incrowd.methods.slicing_parts.anatomy_buckets import deal_anatomy
from incrowd.methods.slicing_parts.bucket_judging import require_satisfied


@dataclass(frozen=True)
class Anatomy(Method):
    """Every group takes one row of each of the ℓ sensitive values of which most rows are left.

    Parameters
    ----------
    tables : "one" or "two": how `ShowBuckets` shows the groups, unless you ask for another form (default: "two").

    ℓ is what the models ask for. Where they ignore missing values, each group has ℓ recorded ones, and the rows without
    a value are dealt out evenly to all groups. If you require a `BucketSize` above ℓ, groups are joined until they are
    as large. The table has exactly one sensitive column.

    Reference: Xiao & Tao (2006).
    """

    tables: Literal["one", "two"] = "two"
    name: ClassVar[str] = "anatomy"
    one_row_each: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tables not in ("one", "two"):
            raise RecipeError(f'anatomy: tables is "one" or "two", not {self.tables!r}.')

    @property
    def searches_parts(self) -> bool:
        """Yes: any rows with different values make a bucket."""
        return True

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Deal the rows out; which of those with the same value go where is left to chance."""
        if len(schema.sensitive) != 1:
            raise SchemaError(
                f"anatomy needs exactly one sensitive column, and there are {len(schema.sensitive)}.  "
                "Hint: use Slicing."
            )
        (sensitive,) = schema.sensitive
        l = max(largest_l(require), *(model.min_group for model in require if model.looks_at_values), 1)
        smallest = max((model.min_group for model in require), default=1)
        if smallest > tally.rows:
            raise Unsatisfiable(
                f"anatomy: the table has {tally.rows:,} rows, and a bucket is to have at least {smallest:,}.  "
                "Hint: ask for smaller ones."
            )
        progress("dealing out", 0.0)
        codes = np.ascontiguousarray(tally.column(sensitive))
        buckets = deal_anatomy(rng, codes, tally.counts, l, ignores_missing=any_ignores_missing(require))
        buckets = _joined(buckets, -(-smallest // l))
        require_satisfied(self.name, tally, schema, buckets, require)
        progress("dealing out", 1.0)
        return bucket_recoding(tally, schema, buckets, ShowBuckets(self.tables))


def _joined(buckets: Buckets, each: int) -> Buckets:
    """Join `each` buckets at a time; the last ones, if there are too few left, join those before them.

    Where every bucket has a value at most once in ℓ rows, so has what they make together.
    """
    if each < 2 or not len(buckets):
        return buckets
    joined = np.minimum(buckets.bucket_of // each, max(len(buckets) // each, 1) - 1)
    return Buckets(buckets.tuples, buckets.counts, joined)


def largest_l(require: Sequence[Model]) -> int:
    """Return the largest l that the models ask for, rounded up; 1 if none does."""
    return max((math.ceil(model.diversity) for model in require), default=1)


def bucket_recoding(tally: Tally, schema: Schema, buckets: Buckets, form: Showing) -> Recoding:
    """Return buckets as a recoding: shown as generalized values, they would be the ranges of their own values."""
    columns = tuple(sorted(schema.quasi))
    codes = tally.codes_of(columns)
    lows, highs = bounds(codes, buckets.tuples, buckets.bucket_of, len(buckets))
    return Recoding(buckets.tuples, buckets.counts, buckets.bucket_of, columns, lows, highs, shown="tight", form=form)
