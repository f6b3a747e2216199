"""A published sliced or bucketized table as a form: rows as they are written, bucket by bucket.

Which value of one column goes with which of another is not known, and does not matter: a written row is as good as any
other way to read its bucket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from incrowd.auditing.reading_labels import codes_of_labels
from incrowd.engines.sources import Source, reading
from incrowd.errors import SchemaError
from incrowd.hierarchies.tree import Tree
from incrowd.releases.bucketized import BucketizedTable
from incrowd.releases.sliced import SlicedTable
from incrowd.schema import Schema
from incrowd.slicing.permutation import Permuted
from incrowd.slicing.sliced import Buckets
from incrowd.tally import Tally, group_tuples

BUCKET_NAMES = ("bucket", "bucket number", "_bucket")
_COUNT_NAMES = ("count", "rows", "_count")
_ROW = "\0row"


def bucket_column(columns: Sequence[str], schema: Schema) -> str | None:
    """Return the column that numbers the buckets, if there is one."""
    return next((name for name in BUCKET_NAMES if name in columns and name not in schema.tallied), None)


def written_rows(published: Source, second: Source | None, schema: Schema, bucket: str) -> pl.DataFrame:
    """Return the rows with their buckets; sensitive values from a second table are dealt out within each bucket."""
    with reading(published):
        rows = published.frame.collect(engine="streaming").sort(bucket, maintain_order=True)
    if second is None:
        return rows
    with reading(second):
        values = second.frame.collect(engine="streaming").sort(bucket, maintain_order=True)
    count = next((name for name in _COUNT_NAMES if name in values.columns and name not in schema.tallied), None)
    if count is None:
        raise SchemaError("the table of sensitive values has no column of counts.")
    repeated = values.select(bucket, *schema.sensitive, pl.col(count).cast(pl.Int64).alias(_ROW))
    dealt = repeated[np.repeat(np.arange(repeated.height), repeated[_ROW].to_numpy())].drop(_ROW)
    if dealt.height != rows.height or not (dealt[bucket] == rows[bucket]).all():
        raise SchemaError("the two tables do not have the same number of rows in every bucket.")
    return pl.concat([rows, dealt.drop(bucket)], how="horizontal")


def read_slices(
    rows: pl.DataFrame,
    schema: Schema,
    trees: Mapping[str, Tree],
    columns: Sequence[Sequence[str]],
    *,
    bucket: str,
    levels: Mapping[str, int],
    truth: Tally | None,
    two_tables: bool,
) -> SlicedTable:
    """Return the form of written rows; `columns` are the attributes that were permuted together."""
    names = tuple(sorted(schema.tallied))
    codes = np.stack([codes_of_labels(name, trees[name], rows[name]) for name in names], axis=1)
    tuple_of, first = group_tuples(codes, [trees[name].size for name in names])
    counts = np.bincount(tuple_of, minlength=len(first)).astype(np.int64)
    shown = Tally(names, np.ascontiguousarray(codes[first]), counts, trees)
    numbers = rows[bucket].cast(pl.Int64, strict=False)
    named = rows[bucket].cast(pl.String) if numbers.null_count() else numbers
    bucket_of = np.unique(named.to_numpy(), return_inverse=True)[1].astype(np.int64)
    order = np.argsort(bucket_of, kind="stable")
    parts, index = np.unique(bucket_of * max(len(first), 1) + tuple_of, return_inverse=True)
    buckets = Buckets(parts % max(len(first), 1), np.bincount(index).astype(np.int64), parts // max(len(first), 1))
    kind = BucketizedTable if two_tables else SlicedTable
    return kind(
        schema=schema,
        tally=shown if truth is None else truth,
        shown=shown,
        levels=levels,
        columns=tuple(tuple(column) for column in columns),
        buckets=buckets,
        permuted=Permuted(bucket_of[order], np.tile(tuple_of[order], (len(columns), 1))),
        rows_in=len(codes) if truth is None else truth.rows,
    )
