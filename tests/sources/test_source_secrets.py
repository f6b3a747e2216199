"""No error may quote a cell: whatever is wrong with a table, its message can be shown to anyone."""

from __future__ import annotations

import gzip
import sqlite3
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import SourceError
from incrowd.sources import open_source, reading

SECRET = "Xylophon1a"
ROW = f"{SECRET},{SECRET}\n"

FILES: dict[str, bytes] = {
    "ragged_short": f"a,b\n{ROW}{SECRET}\n".encode(),
    "ragged_long": f"a,b\n{ROW}{SECRET},{SECRET},{SECRET}\n".encode(),
    "ragged_beside_odd_quotes": f'a,b\n"{SECRET}",{SECRET}"x\n{SECRET}\n'.encode(),
    "nul_bytes": f"a,b\n{SECRET},\0{SECRET}\n".encode(),
    "unclosed_quote": f'a,b\n{SECRET},"{SECRET}\n{ROW}'.encode(),
    "unclosed_quote_in_the_header": f'a,"b\n{ROW}'.encode(),
    "text_after_a_quote": f'a,b\n"{SECRET}"{SECRET},1\n'.encode(),
    "return_beside_odd_quotes": f'a,b\n"{SECRET}",x"\r{SECRET}\n'.encode(),
    "duplicate_column_names": f"a,a\n{ROW}".encode(),
    "no_header": f"39,{SECRET},{SECRET}\n40,{SECRET},{SECRET}\n".encode(),
    "empty_column_name": f"a,\n{ROW}".encode(),
    "some_lines_not_utf8": f"é,ü\n{SECRET}ö,ä\n".encode() + f"{SECRET},\xff\n".encode("latin-1"),
    "utf16_cut_in_half": b"\xff\xfe" + f"a,b\n{ROW}".encode("utf-16-le") + b"\xdc",
    "utf16_without_mark": f"a,b\n{ROW}".encode("utf-16-le"),
    "gzip_cut_in_half": gzip.compress(f"a,b\n{ROW * 50}".encode())[:-9],
    "zip": b"PK\x03\x04" + ROW.encode(),
    "parquet_cut_in_half": b"PAR1\x15" + ROW.encode() * 9,
    "arrow_cut_in_half": b"ARROW1\0\0" + ROW.encode() * 9,
    "arrow_stream_cut_in_half": b"\xff\xff\xff\xff" + ROW.encode() * 9,
}
STATED: dict[str, tuple[bytes, dict[str, Any]]] = {
    "wrong_separator": (f"a;b\n{SECRET};{SECRET}\n".encode(), {"separator": ","}),
    "wrong_encoding": (f"a,b\n{SECRET},\xff\n".encode("latin-1"), {"encoding": "utf-8"}),
    "wrong_encoding_with_two_bytes": (
        f"a,b\n{SECRET},\udc00".encode("utf-16-le", "surrogatepass"),
        {"encoding": "utf-16-le"},
    ),
    "query_for_a_file": (f"a,b\n{ROW}".encode(), {"query": "SELECT 1"}),
}
FRAMES: dict[str, Callable[[], object]] = {
    "series": lambda: pl.Series([SECRET]),
    "list": lambda: [SECRET],
    "nested": lambda: pl.DataFrame({"a": [[SECRET]]}),
    "binary": lambda: pl.DataFrame({"a": [SECRET.encode()]}),
    "object": lambda: pl.DataFrame({"a": pl.Series([object()])}),
    "pandas_nested": lambda: pd.DataFrame({"a": [[SECRET]]}),
    "pandas_duplicate_column_names": lambda: pd.DataFrame([[SECRET, SECRET]], columns=["a", "a"]),
    "pandas_complex": lambda: pd.DataFrame({"a": [1j], "b": [SECRET]}),
    "pyarrow_duplicate_column_names": lambda: pa.table([pa.array([SECRET])] * 2, names=["a", "a"]),
    "pyarrow_nested": lambda: pa.table({"a": [[SECRET]]}),
}
QUERIES = {
    "blob": "SELECT CAST(name AS BLOB) AS x FROM people",
    "not_utf8": "SELECT CAST(CAST(name AS BLOB) || x'ff' AS TEXT) AS x FROM people",
    "duplicate_column_names": "SELECT name, name FROM people",
    "json": "SELECT json_extract(name, '$.a') AS x FROM people",
    "json_path": "SELECT json_extract('{}', name) AS x FROM people",
    "writing": "UPDATE people SET name = name",
    "unknown_function": "SELECT nobody(name) FROM people",
}


def message_of(act: Callable[[], object]) -> str:
    """Return all that a user or a log could see of the error."""
    with pytest.raises(SourceError) as caught:
        act()
    return "".join(traceback.format_exception(caught.value)) + repr(caught.value)


@pytest.mark.parametrize("case", FILES)
def test_file(case: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(FILES[case])
    assert SECRET not in message_of(lambda: open_source(path))


@pytest.mark.parametrize("case", STATED)
def test_file_with_stated_dialect(case: str, tmp_path: Path) -> None:
    content, stated = STATED[case]
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    assert SECRET not in message_of(lambda: open_source(path, **stated))


@pytest.mark.parametrize("case", FRAMES)
def test_frame(case: str) -> None:
    assert SECRET not in message_of(lambda: open_source(FRAMES[case]()))


@pytest.mark.parametrize("case", QUERIES)
def test_sqlite(case: str, tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute("INSERT INTO people VALUES (?)", [SECRET])
        connection.commit()
    assert SECRET not in message_of(lambda: open_source(f"sqlite:///{path}", query=QUERIES[case]))


def test_file_that_changed_after_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f'a,b\n"1",{SECRET}\n')
    source = open_source(path)
    path.write_text(f'a,b\n"{SECRET}"{SECRET},2\n')

    def act() -> None:
        with reading(source):
            source.frame.collect()

    assert SECRET not in message_of(act)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ('{SECRET[:5]}' || '{SECRET[5:]}')::int AS x",
        f"SELECT ('{SECRET[:5]}' || '{SECRET[5:]}')::json AS x",
        f"SELECT to_date('{SECRET[:5]}' || '{SECRET[5:]}', 'YYYY') AS x",
        f"SELECT query_to_xml('{SECRET[:5]}' || '{SECRET[5:]}', true, true, '')::text AS x",
        f"SELECT ARRAY['{SECRET[:5]}' || '{SECRET[5:]}'] AS x",
    ],
)
def test_postgresql(postgresql: str, query: str) -> None:
    assert SECRET not in message_of(lambda: open_source(postgresql, query=query))
