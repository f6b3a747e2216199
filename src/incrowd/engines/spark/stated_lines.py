"""A CSV as private methods read it on Spark: every line is a row of its own, cut by the code of one machine.

Spark splits files into lines, and nothing more. Each file's first line that is not blank is its header, nobody's row;
all of them must be the same. Lines are cut on the executors as `sources/stated_csv.py` cuts them, so that one row more,
however it is written, is one row more, and changes no other. Cost: one pass over the lines, and a glance at each file.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.core.source import ReadOptions
from incrowd.engines.spark.arrow_batches import to_arrow
from incrowd.engines.spark.counting import arrow_only
from incrowd.errors import EmptyTable, SourceError
from incrowd.sources.content import Content
from incrowd.sources.dialect import NOTHING
from incrowd.sources.encoding import stated_encoding
from incrowd.sources.header import AFTER_LAST, ROW_NUMBERS
from incrowd.sources.stated_csv import Beginning, cut_lines, read_beginning, stated_quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_GLANCE = 20
"""Blank lines before a header, at most."""
_WIDE = ("utf-16", "utf-32", "utf_16", "utf_32")


def read_as_stated(session: SparkSession, path: str, options: ReadOptions) -> tuple[DataFrame, dict[str, Any]]:
    """Return the rows of a file, or of a folder of files, and how they were read."""
    encoding = stated_encoding(options.encoding, path) if options.encoding else "utf-8"
    if encoding.startswith(_WIDE):
        raise SourceError(f"{path}: Spark cannot split {encoding} into lines.  Hint: write the file as utf-8.")
    lines = session.read.text(path, lineSep="\n")
    header = None if _has_no_header(options) else _header(session, lines.inputFiles(), encoding, path)
    beginning = read_beginning(Content.of((header or "").encode()), options, path)
    unnamed = [name for name in beginning.names if name in (ROW_NUMBERS, AFTER_LAST)]
    if unnamed:
        raise SourceError(f"{path}: the header has no name for some columns.  Hint: name every column.")
    numbered = T.StructType([T.StructField(f"c{place}", T.StringType()) for place in range(len(beginning.names))])
    quote = stated_quote(options)
    cut = partial(_cut_batches, encoding=encoding, header=header, beginning=beginning, quote=quote)
    with arrow_only():
        frame = lines.select(F.col("value").cast("binary").alias("line")).mapInArrow(cut, numbered)
    told = {"quote": quote, "encoding": encoding}
    told |= {"separator": beginning.separator} if beginning.separator != NOTHING else {}
    return frame.toDF(*beginning.names), told


def _has_no_header(options: ReadOptions) -> bool:
    return options.header is not None and options.header is not True


def _header(session: SparkSession, files: list[str], encoding: str, path: str) -> str:
    """Return the header that all files have: how a row is written does not matter, nor which file comes first."""
    found = set()
    for file in files:
        glance = session.read.text(file, lineSep="\n").limit(_GLANCE).select(F.col("value").cast("binary")).collect()
        texts = [_decoded(bytes(row[0]), encoding) for row in glance]
        found |= {next((text for text in texts if text.strip()), "")}
    found -= {""}  # a file that holds nothing has no header either
    if len(found) > 1:
        raise SourceError(f"{path}: its files do not have the same header.  Hint: write all of them with the same one.")
    if not found:
        raise EmptyTable(f"{path}: the file holds nothing but blank lines.")
    return found.pop()


def _decoded(line: bytes, encoding: str) -> str:
    return line.removeprefix(codecs.BOM_UTF8).decode(encoding, errors="replace").rstrip("\r\n")


def _cut_batches(
    batches: Iterator[Any], *, encoding: str, header: str | None, beginning: Beginning, quote: str
) -> Iterator[Any]:
    """Cut lines into fields, batch by batch; a line that is the header is nobody's."""
    for batch in batches:
        texts = [_decoded(line, encoding) for line in batch.column(0).to_pylist()]
        lines = pl.DataFrame({"line": [text for text in texts if text != header]}, schema={"line": pl.String})
        rows = cut_lines(lines.lazy(), beginning, quote).collect()
        rows.columns = [f"c{place}" for place in range(rows.width)]
        yield from to_arrow(rows).to_batches()
