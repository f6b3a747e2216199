"""A published sliced or bucketized table as a form: rows as they are written, bucket by bucket.

Which value of one column goes with which of another is not known, and does not matter: a written row is as good as any
other way to read its bucket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence

import numpy as np
import polars as pl

from incrowd.auditing.reading_labels import codes_of_labels
from incrowd.engines.sources import Source, reading
from incrowd.errors import SchemaError
from incrowd.hierarchies.tree import Tree
from incrowd.releases.sliced import SlicedTable
from incrowd.schema import Schema
from incrowd.slicing.permutation import Permuted
from incrowd.slicing.sliced import Buckets
from incrowd.tally import Tally, group_tuples

BUCKET_NAMES = ("bucket", "bucket number", "_bucket")
_COUNT_NAMES = ("count", "rows", "_count")
_ROW = "\0row"
_MEMBER = re.compile(r'(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<plain>[^,]*?)):(?P<count>\d+)(?:, |$)')


def bucket_column(columns: Sequence[str], described: Container[str]) -> str | None:
    """Return the column that numbers the buckets, if there is one; it has no role of its own."""
    return next((name for name in BUCKET_NAMES if name in columns and name not in described), None)


def read_rows(published: Source) -> pl.DataFrame:
    """Return the rows of a published file as they are."""
    with reading(published):
        return published.frame.collect(engine="streaming")


def written_rows(published: Source, second: Source | None, schema: Schema, bucket: str) -> pl.DataFrame:
    """Return the rows with their buckets; sensitive values from a second table are dealt out within each bucket."""
    rows = read_rows(published).sort(bucket, maintain_order=True)
    if second is None:
        return rows
    values = read_rows(second).sort(bucket, maintain_order=True)
    count = next((name for name in _COUNT_NAMES if name in values.columns and name not in schema.tallied), None)
    if count is None:
        raise SchemaError("the table of sensitive values has no column of counts.")
    repeated = values.select(bucket, *schema.sensitive, pl.col(count).cast(pl.Int64).alias(_ROW))
    dealt = repeated[np.repeat(np.arange(repeated.height), repeated[_ROW].to_numpy())].drop(_ROW)
    if dealt.height != rows.height or not (dealt[bucket] == rows[bucket]).all():
        raise SchemaError("the two tables do not have the same number of rows in every bucket.")
    return pl.concat([rows, dealt.drop(bucket)], how="horizontal")


def dealt_multisets(rows: pl.DataFrame, schema: Schema, bucket: str) -> pl.DataFrame:
    """Return rows in which each value of a bucket's multisets is dealt to one of the bucket's rows."""
    dealt = rows.sort(bucket, maintain_order=True)
    sizes = dealt.group_by(bucket, maintain_order=True).len()["len"].to_list()
    for name in schema.quasi:
        labels = dealt.group_by(bucket, maintain_order=True).agg(pl.col(name).first())[name].to_list()
        values = [_members(str(label or "")) for label in labels]
        if [len(listed) for listed in values] != sizes:
            raise SchemaError(f"column '{name}': its multisets do not have as many values as their buckets have rows.")
        dealt = dealt.with_columns(pl.Series(name, [one for listed in values for one in listed], dtype=pl.String))
    return dealt


def _members(label: str) -> list[str | None]:
    """Read `22:2, 33:1` as so many values of each kind; missing is an empty name.

    >>> _members('"a, b":2, c:d:1, :1')
    ['a, b', 'a, b', 'c:d', None]
    """
    found: list[str | None] = []
    for match in _MEMBER.finditer(label):
        name = json.loads(match["quoted"]) if match["quoted"] else match["plain"]
        found += [name or None] * int(match["count"])
    return found


def read_slices(
    rows: pl.DataFrame,
    schema: Schema,
    trees: Mapping[str, Tree],
    columns: Sequence[Sequence[str]],
    *,
    bucket: str,
    levels: Mapping[str, int],
    truth: Tally | None,
    kind: type[SlicedTable],
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
