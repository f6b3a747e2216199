"""Files that quote against the rules, read row by row with the standard library, in memory.

A quote in the middle of a field (5" pipe) is text where other fields are quoted too; Polars cannot tell. This is some
twenty times slower than Polars and holds the table in memory, but such files are rare and mostly small.
"""

from __future__ import annotations

import csv

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.dialect import Dialect
from incrowd.sources.faults import explain, ragged
from incrowd.sources.header import Header

_SHOWN = 3


def read(body: bytes, dialect: Dialect, header: Header, *, where: str) -> pl.DataFrame:
    """Return the rows as text; raises `SourceError` where a quote stays open or a line is short or long."""
    width = len(header.names)
    rows: list[list[str]] = []
    faulty: list[tuple[int, int]] = []
    total_faulty = 0
    # Lines end in a newline and nowhere else, as for Polars; str.splitlines knows ten more ends.
    reader = dialect.reader(line + "\n" for line in body.decode().split("\n"))
    line = header.lines + 1
    try:
        for record in reader:
            if len(record) == width:
                rows.append(record)
            elif any(value.strip(" ") for value in record) or len(record) > 1:
                total_faulty += 1
                if len(faulty) < _SHOWN:
                    faulty.append((line, len(record)))
            line = header.lines + 1 + reader.line_num
    except csv.Error as error:
        raise SourceError(f"{where}: line {line} {explain(error)}") from None
    if faulty:
        raise SourceError(ragged(where, width, total_faulty, faulty))
    return pl.DataFrame(rows, schema=dict.fromkeys(header.names, pl.String), orient="row")
