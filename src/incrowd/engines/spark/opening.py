"""The sources of a recipe, opened by Spark: Parquet and CSV on any file system that it knows, tables, JDBC.

A CSV is read as text, as on one machine; its dialect is found in its first lines. How numbers and dates are written is
not found out, which would need another pass over all rows: what is stated is applied by the code of one machine, value
by value. Spark splits files at line ends, so that a field which holds one is an error here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from incrowd.common.surface import option
from incrowd.core.source import ReadOptions
from incrowd.engines.spark.arrow_batches import texts_in_arrow
from incrowd.engines.spark.counting import arrow_only, name_of
from incrowd.engines.spark.source import SparkSource, open_spark
from incrowd.engines.spark.stated_lines import read_as_stated
from incrowd.errors import EmptyTable, SourceError
from incrowd.sources.content import Content
from incrowd.sources.dialect import NOTHING, detect
from incrowd.sources.header import read_header
from incrowd.sources.sql import without_password
from incrowd.sources.written import require_columns, respelled_texts, stated_way

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SAMPLE_LINES = 200
_HERE = "publish it on one machine."
_INSTEAD = {"decimal": 'say of each column how it is written, such as income = "1.234,5" in [source.written].'}
_JDBC_SECRETS = (
    (
        re.compile(r"(?i)([;&?,(])\s*\w*(?:password|passwd|pwd|secret|token)\s*=\s*(?:\{(?:[^}]|\}\})*\}|[^;&,)]*)"),
        r"\1",
    ),
    (re.compile(r"(?i)^(jdbc:oracle:\w+:[^/@:]*)/[^@]*@"), r"\1@"),
    (re.compile(r"^(jdbc:[\w:+.-]+://[^/?#;:@]*):[^/?#;]*@"), r"\1@"),
)
"""Where drivers take secrets: properties (SQL Server's in braces), Oracle's `user/password@`, `user:password@host`."""


def open_described(session: SparkSession, described: Mapping[str, Any], *, only_stated: bool = False) -> SparkSource:
    """Open what a recipe's [source] names: a path, a table of Spark's catalogue, or a JDBC URL with a query.

    With `only_stated`, a CSV is read as private methods read it (`stated_lines.py`).
    """
    named = [key for key in ("path", "table", "url") if key in described]
    if len(named) != 1:
        raise SourceError("a source on Spark is a path, a table of its catalogue, or a JDBC url.")
    told = dict(described)
    if "url" in told:
        told["url"] = without_jdbc_secrets(str(told["url"]))
    missing = tuple(told.get("missing", ()))
    try:
        if "table" in described:
            frame = session.table(str(described["table"]))
        elif "url" in described:
            frame = _jdbc(session, str(described["url"]), described.get("query"))
        else:
            frame, dialect = _file(session, str(described["path"]), described, only_stated=only_stated)
            told |= dialect
            missing = (*missing, "") if dialect else missing  # in a CSV, an empty field is always missing
    except (PySparkException, Py4JJavaError) as error:
        name = name_of(error)
        raise SourceError(f"{told[named[0]]}: Spark cannot open it ({name}).") from None
    exact_text = bool(told.get("exact_text", False))
    # Which columns may hold lists is known once they have roles.
    return open_spark(frame, missing=missing, exact_text=exact_text, description=told, lists=None)


def without_jdbc_secrets(url: str) -> str:
    """Return a JDBC URL as it may be written down.

    >>> without_jdbc_secrets("jdbc:mysql://anna:S3CRET@db/clinic?password=S3CRET&ssl=1")
    'jdbc:mysql://anna@db/clinic?ssl=1'
    >>> without_jdbc_secrets("jdbc:oracle:thin:scott/S3CRET@//db:1521/x")
    'jdbc:oracle:thin:scott@//db:1521/x'
    >>> without_jdbc_secrets("jdbc:sqlserver://db;user=sa;password={S3;CR}}ET};encrypt=true")
    'jdbc:sqlserver://db;user=sa;;encrypt=true'
    """
    for secret, kept in _JDBC_SECRETS:
        url = secret.sub(kept, url)
    return without_password(url)


def _jdbc(session: SparkSession, url: str, query: str | None) -> DataFrame:
    if not url.startswith("jdbc:"):
        raise SourceError("Spark reads databases through JDBC.  Hint: url = 'jdbc:postgresql://host/database'.")
    if not query or not query.strip():
        raise SourceError("say what to read.  Hint: query = 'SELECT …', or query = and the name of a table.")
    text = query.strip().rstrip("; \n")
    reader = session.read.format("jdbc").option("url", url)
    return reader.option("query" if re.search(r"[\s()]", text) else "dbtable", text).load()


def _file(
    session: SparkSession, path: str, options: Mapping[str, Any], *, only_stated: bool
) -> tuple[DataFrame, dict[str, Any]]:
    for name in ("decimal", "sheet", "header_row", "value_labels", "missing_codes"):
        if options.get(name) is not None:
            raise SourceError(
                f"{path}: {option(name, section='source')} cannot be used on Spark.  Hint: {_INSTEAD.get(name, _HERE)}"
            )
    # What a text file has; the keywords that are stated are checked as on one machine.
    stated = {key: options[key] for key in ("separator", "quote", "encoding", "header", "written") if key in options}
    if stated or re.search(r"(?i)\.(csv|tsv|txt)(\.gz)?$", path):
        told = ReadOptions(**stated)
        if only_stated:
            frame, found = read_as_stated(session, path, told)
            return _respelled(frame, told, path), found
        return _csv(session, path, told)
    return session.read.parquet(path), {}


def _csv(session: SparkSession, path: str, stated: ReadOptions) -> tuple[DataFrame, dict[str, Any]]:
    encoding = stated.encoding or "utf-8"
    lines = [row[0] for row in session.read.text(path).limit(_SAMPLE_LINES).collect()]
    if not lines:
        raise EmptyTable(f"{path}: the file is empty.")
    head = Content.of("\n".join(lines).encode())
    dialect = detect(head, separator=stated.separator, quote=stated.quote, where=path)
    header = read_header(head, dialect, where=path, stated=stated.header)
    frame = session.read.option("columnPruning", False).csv(  # lines are checked whole, also where few columns count
        path,
        schema=T.StructType([T.StructField(name, T.StringType()) for name in header.names]),
        header=stated.header in (None, True),
        enforceSchema=False,  # every file's own header must name these columns in this order
        sep=dialect.separator,
        quote=dialect.quote or "",
        escape=dialect.quote or "",
        encoding=encoding,
        mode="FAILFAST",
        ignoreLeadingWhiteSpace=dialect.padded,
    )
    if header.unnamed:
        raise SourceError(
            f"{path}: the header has no name for some columns.  Hint: name every column, or publish it on one machine, "
            "which leaves row numbers out."
        )
    found = {"quote": dialect.quote or "", "encoding": encoding}
    found |= {"separator": dialect.separator} if dialect.separator != NOTHING else {}
    return _respelled(frame, stated, path), found


def _respelled(frame: DataFrame, stated: ReadOptions, path: str) -> DataFrame:
    """Give numbers and dates one spelling, in columns of which it is stated how they are written."""
    ways = stated.written if isinstance(stated.written, Mapping) else {}
    require_columns(ways, frame.columns, path)
    for name, way in ways.items():
        stated_way(name, way, path)
    numbered = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    with arrow_only():
        spelt = [
            texts_in_arrow(F.col(f"c{place}"), partial(respelled_texts, way=ways[name])).alias(f"c{place}")
            if name in ways
            else F.col(f"c{place}")
            for place, name in enumerate(frame.columns)
        ]
    return numbered.select(*spelt).toDF(*frame.columns) if ways else frame
