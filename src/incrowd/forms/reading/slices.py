"""A published sliced or bucketized table as a form: rows as they are written, bucket by bucket.

Which value of one column goes with which of another is not known, and does not matter: a written row is as good as any
other way to read its bucket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Ints
from incrowd.core.form import PublishedFiles
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import SchemaError
from incrowd.forms.reading.labels import codes_of_labels, trees_of_labels
from incrowd.forms.slices.permutation import Permuted
from incrowd.forms.slices.sliced_rows import SlicedRows
from incrowd.forms.slices.slices import Buckets
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.tree import Tree
from incrowd.sources.reading import read_rows

Sliced = TypeVar("Sliced", bound=SlicedRows)

BUCKET_NAMES = ("bucket", "bucket number", "_bucket")
COUNT_NAMES = ("count", "rows", "_count")
_ROW = "\0row"
_MEMBER = re.compile(r'(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<plain>[^,]*?)):(?P<count>\d+)(?:, |$)')


def bucket_column(files: PublishedFiles) -> str | None:
    """Return the column that numbers the buckets, if there is one; it has no role of its own."""
    free = [name for name in files.data.columns if name not in files.described]
    return next((name for name in BUCKET_NAMES if name in free), None)


def written_rows(files: PublishedFiles) -> pl.DataFrame:
    """Return the rows with their buckets."""
    bucket = _bucket(files)
    rows = read_rows(files.data).sort(bucket, maintain_order=True)
    if rows[bucket].null_count():
        raise SchemaError(f"column '{bucket}': there are rows in no bucket.")
    return rows


def dealt_rows(files: PublishedFiles) -> pl.DataFrame:
    """Return the rows with their buckets; sensitive values from a second table are dealt out within each bucket."""
    bucket, schema, rows = _bucket(files), files.schema, written_rows(files)
    if "sensitive" not in files.others:
        return rows
    values = read_rows(files.others["sensitive"])
    count = next((name for name in COUNT_NAMES if name in values.columns and name not in schema.tallied), None)
    if count is None:
        raise SchemaError("the table of sensitive values has no column of counts.")
    for name in (bucket, *schema.sensitive):
        if name not in values.columns:
            raise SchemaError(f"the table of sensitive values has no column '{name}'.")
        if name != bucket and name in rows.columns:
            raise SchemaError(f"column '{name}' is in both tables, where the second alone may tell sensitive values.")
    values = values.sort(bucket, maintain_order=True)
    counts = _whole_numbers(values[count])
    if counts is None or counts.sum() != rows.height:
        raise SchemaError("the counts in the table of sensitive values do not add up to the published rows.")
    repeated = values.select(bucket, *schema.sensitive, counts.alias(_ROW))
    dealt = repeated[np.repeat(np.arange(repeated.height), repeated[_ROW].to_numpy())].drop(_ROW)
    if dealt[bucket].cast(pl.String).to_list() != rows[bucket].cast(pl.String).to_list():
        raise SchemaError("the two tables do not have the same number of rows in every bucket.")
    return pl.concat([rows, dealt.drop(bucket)], how="horizontal")


def dealt_multisets(files: PublishedFiles) -> pl.DataFrame:
    """Return rows in which each value of a bucket's multisets is dealt to one of the bucket's rows."""
    bucket, dealt = _bucket(files), written_rows(files)
    sizes = dealt.group_by(bucket, maintain_order=True).len()["len"].to_list()
    for name in files.schema.quasi:
        if name not in dealt.columns:
            raise SchemaError(f"the published table has no column '{name}', which the description names.")
        shown = dealt.group_by(bucket, maintain_order=True).agg(pl.col(name).first(), one=pl.col(name).n_unique() == 1)
        values = [_members(str(label or ""), size) for label, size in zip(shown[name].to_list(), sizes, strict=True)]
        if not shown["one"].all() or [len(listed) for listed in values] != sizes:
            raise SchemaError(f"column '{name}': its multisets do not have as many values as their buckets have rows.")
        dealt = dealt.with_columns(pl.Series(name, [one for listed in values for one in listed], dtype=pl.String))
    return dealt


def _bucket(files: PublishedFiles) -> str:
    found = bucket_column(files)
    if found is None:
        raise SchemaError("the published table has no column that numbers its buckets.")
    return found


def _members(label: str, size: int) -> list[str | None]:
    """Read `22:2, 33:1` as so many values of each kind; missing is an empty name. More than `size` are not read.

    >>> _members('"a, b":2, c:d:1, :1', 4)
    ['a, b', 'a, b', 'c:d', None]
    """
    found: list[str | None] = []
    for match in _MEMBER.finditer(label):
        try:
            name = json.loads(match["quoted"]) if match["quoted"] else match["plain"]
            count = int(match["count"])
        except ValueError:
            return []
        if count > size - len(found):
            return []
        found += [name or None] * count
    return found


def _whole_numbers(column: pl.Series) -> pl.Series | None:
    """Return a column of counts as numbers; None where one is not a whole number, or is negative."""
    try:
        numbers = column.cast(pl.Int64, strict=False)
    except pl.exceptions.PolarsError:  # lists, and other things that are never numbers
        return None
    return None if numbers.null_count() or (numbers < 0).any() else numbers


def read_slices(kind: type[Sliced], files: PublishedFiles, rows: pl.DataFrame) -> Sliced:
    """Read written rows; attributes that were permuted together are described, or told by the release itself."""
    schema, truth, bucket = files.schema, files.known, _bucket(files)
    for name in schema.tallied:
        if name not in rows.columns:
            raise SchemaError(f"the published table has no column '{name}', which the description names.")
    columns: Sequence[Sequence[str]] | None = files.slices or files.summary.get("loss", {}).get("columns")
    if not columns:  # quasi-identifiers as they are, sensitive values permuted
        columns = [list(schema.quasi), *([name] for name in schema.sensitive)]
    if {name for column in columns for name in column} != set(schema.tallied):
        raise SchemaError("the columns that were permuted together are not those of the published table.")
    trees = dict(truth.trees if truth is not None else trees_of_labels(files, rows))
    names = tuple(sorted(schema.tallied))
    levels = {name: level for name, level in dict(files.asked.get("levels") or {}).items() if level}
    coded = {name: codes_of_labels(name, trees[name], rows[name]) for name in names if name not in levels}
    labels: tuple[str, ...] = ()
    if levels and truth is None and files.external is None:  # what labels stand for is told, and no level of a tree
        labels, levels = tuple(levels), {}
    for name in labels:
        trees[name], coded[name] = Exact().build(name, rows[name])
    for name in levels:
        coded[name] = codes_of_labels(name, trees[name], rows[name])
    numbers = rows[bucket].cast(pl.Int64, strict=False)
    named = rows[bucket].cast(pl.String) if numbers.null_count() else numbers
    bucket_of = np.unique(named.to_numpy(), return_inverse=True)[1].astype(np.int64)
    _align(columns, rows, coded, trees, bucket_of)
    codes = np.stack([coded[name] for name in names], axis=1)
    tuple_of, first = group_tuples(codes, [trees[name].size for name in names])
    counts = np.bincount(tuple_of, minlength=len(first)).astype(np.int64)
    shown = Tally(names, np.ascontiguousarray(codes[first]), counts, trees)
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
        label_columns=labels,
    )


def _align(
    columns: Sequence[Sequence[str]],
    rows: pl.DataFrame,
    coded: dict[str, Codes],
    trees: Mapping[str, Tree],
    bucket_of: Ints,
) -> None:
    """Put columns that share attributes beside each other so that these agree, bucket by bucket.

    An attribute that is in several columns is written once for each of them, in the order of that column.
    """
    for place, column in enumerate(columns):
        written = {name: f"{name} (column {place + 1})" for name in column}
        again = {name: other for name, other in written.items() if other in rows.columns}
        if not again:
            continue
        own = {name: codes_of_labels(name, trees[name], rows[other].alias(name)) for name, other in again.items()}
        theirs, ours = (
            np.lexsort([*(codes[name].astype(np.int64) for name in again), bucket_of]) for codes in (coded, own)
        )
        if any((coded[name][theirs] != own[name][ours]).any() for name in again):
            raise SchemaError("columns that share attributes do not have the same values of them in every bucket.")
        for name in column:
            if name not in again:
                aligned = np.empty_like(coded[name])
                aligned[theirs] = coded[name][ours]
                coded[name] = aligned
