"""One meaning for each value, whatever the table came from. Everything here is lazy: no row is read.

Missing values have many spellings (NaN, the words that `missing` lists) and zero has two; from here on each has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import polars.selectors as cs

from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.errors import SourceError

_LABELS = (pl.Categorical, pl.Enum)
MOST_DIGITS = 38
"""As many digits as a decimal has that can be read."""


def normalized(frame: pl.LazyFrame, options: ReadOptions, *, where: str) -> pl.LazyFrame:
    """Return the frame with categories as text, NaN and the words for missing as null, and −0.0 as 0.0.

    Columns that may hold lists hold lists of texts.
    """
    schema = _schema(frame, where)
    lists = [
        name for name, dtype in schema.items() if _is_list(dtype) and (options.lists is None or name in options.lists)
    ]
    _refuse_nested(schema, where, allowed=lists)
    frame = frame.with_columns(cs.by_name(*lists).as_expr().cast(pl.List(pl.String))) if lists else frame
    # A category is a coding of its own; and a column of nothing but nulls has no type to compare with labels.
    frame = frame.with_columns(cs.by_dtype(*_LABELS, pl.Null).cast(pl.String))
    numbers = cs.float()
    # Polars drops "+ 0.0", the usual way to lose the sign of a zero.
    frame = frame.with_columns(pl.when(numbers == 0).then(numbers.abs()).otherwise(numbers.fill_nan(None)))
    return null_where(frame, options.missing)


def opened_file(
    frame: pl.LazyFrame,
    path: Path,
    options: ReadOptions,
    *,
    in_memory: bool = False,
    found: Mapping[str, object] | None = None,
    unchanged: Callable[[], None] | None = None,
) -> OpenedTable:
    """Return a file's table, normalized; `found` is how it turned out to be written, `unchanged` watches the file."""
    where, found = str(path), dict(found or {})
    categorical = _categorical(frame, where)
    frame = normalized(frame, options, where=where)
    description = {"path": where, **found, **told_missing(options)}
    found_out = tuple(key for key in found if options.dialect.get(key) is None)
    columns = tuple(frame.collect_schema().names())
    # What was found out must be true of one and the same file.
    if unchanged is not None:
        unchanged()
    opened = OpenedTable(frame, columns, "file", description, in_memory, found_out, categorical=categorical)
    return opened if in_memory or unchanged is None else replace(opened, require_unchanged=unchanged)


def opened_answer(frame: pl.DataFrame, url: str, options: ReadOptions, *, where: str) -> OpenedTable:
    """Return a database's answer, normalized; it is in memory. The `url` must hold no password."""
    lazy = normalized(frame.lazy(), options, where=where)
    description = {"url": url, "query": options.query, **told_missing(options)}
    return OpenedTable(lazy, tuple(lazy.collect_schema().names()), "sql", description, in_memory=True)


def opened_frame(
    frame: pl.LazyFrame,
    native: str,
    options: ReadOptions,
    *,
    most_rows: int | None,
    categorical: Iterable[str] = (),
) -> OpenedTable:
    """Return a frame of the caller's, normalized; `categorical` are columns that were categories before."""
    where = f"the {native} frame"
    of_categories = _categorical(frame, where) | frozenset(categorical)
    lazy = normalized(frame, options, where=where)
    columns = tuple(lazy.collect_schema().names())
    in_memory = most_rows is not None
    return OpenedTable(
        lazy, columns, native, {"frame": native}, in_memory, most_rows=most_rows, categorical=of_categories
    )


def _categorical(frame: pl.LazyFrame, where: str) -> frozenset[str]:
    return frozenset(name for name, dtype in _schema(frame, where).items() if dtype in _LABELS)


def told_missing(options: ReadOptions) -> dict[str, object]:
    """Return the words for missing, as a description tells them."""
    return {"missing": list(options.missing)} if options.missing else {}


def null_where(frame: pl.LazyFrame, words: Sequence[str]) -> pl.LazyFrame:
    """Return the frame with null wherever a text is one of these words."""
    if not words:
        return frame
    text = cs.string()
    return frame.with_columns(pl.when(~text.is_in(list(words))).then(text))


def require_readable_name(path: Path) -> None:
    """Raise a `SourceError` where a file's name is bytes that are no text: Polars cannot open it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise SourceError(f"{path}: the file's name is not UTF-8.  Hint: rename it.") from None


def refuse_duplicates(names: Sequence[str], where: str) -> None:
    """Raise a `SourceError` that lists the names which more than one column has."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        listed = ", ".join(f"'{name}'" for name in twice)
        raise SourceError(f"{where}: more than one column is named {listed}.  Hint: give each column its own name.")


def _schema(frame: pl.LazyFrame, where: str) -> pl.Schema:
    try:
        return frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceError(f"{where}: its columns cannot be read ({type(error).__name__}).") from None


def _is_list(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.List, pl.Array)) and _plain(dtype.inner)  # type: ignore[arg-type]


def _refuse_nested(schema: pl.Schema, where: str, *, allowed: Sequence[str]) -> None:
    if not schema:
        raise SourceError(f"{where}: there are no columns.")
    nested = [f"'{name}' ({_kind(dtype)})" for name, dtype in schema.items() if not (_plain(dtype) or name in allowed)]
    if nested:
        noun = "column holds" if len(nested) == 1 else "columns hold"
        raise SourceError(
            f"{where}: {len(nested)} {noun} values that are not plain: {', '.join(nested)}.  "
            "Hint: drop or flatten them."
        )


def _plain(dtype: pl.DataType) -> bool:
    if isinstance(dtype, pl.Decimal) and (dtype.precision or 0) > MOST_DIGITS:
        return False  # no row of it can be read
    return dtype.is_numeric() or dtype.is_temporal() or isinstance(dtype, (pl.String, pl.Boolean, pl.Null, *_LABELS))


def _kind(dtype: pl.DataType) -> str:
    return f"Decimal of {dtype.precision} digits" if isinstance(dtype, pl.Decimal) else type(dtype).__name__
