"""SQLite, and what URLs and queries may be."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import MissingExtra, SourceError
from incrowd.sources import open_source, sqlite
from incrowd.sources.sql import without_password

Create = Callable[..., str]


@pytest.fixture
def database(tmp_path: Path) -> Create:
    """Run statements on a new database and return its URL."""

    def create(*statements: str, rows: list[tuple[object, ...]] = ()) -> str:
        path = tmp_path / "people database #1.db"
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            if rows:
                connection.executemany(f"INSERT INTO t VALUES ({','.join('?' * len(rows[0]))})", rows)
            connection.commit()
        return f"sqlite:///{path}"

    return create


def test_sqlite_keeps_its_types(database: Create) -> None:
    url = database(
        "CREATE TABLE t (age INTEGER, weight REAL, name TEXT, empty)",
        rows=[(34, 1.5, "Anna", None), (None, -0.0, None, None), (51, 2, "007", None)],
    )
    source = open_source(url, query="SELECT * FROM t")
    assert (source.native, source.in_memory) == ("sql", True)
    assert source.description == {"url": url, "query": "SELECT * FROM t"}
    assert source.frame.collect_schema() == {
        "age": pl.Int64,
        "weight": pl.Float64,
        "name": pl.String,
        "empty": pl.String,
    }
    assert source.frame.collect().rows() == [(34, 1.5, "Anna", None), (None, 0.0, None, None), (51, 2.0, "007", None)]


def test_sqlite_relative_url(database: Create, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = database("CREATE TABLE t (a)", rows=[(1,)])
    monkeypatch.chdir(tmp_path)
    assert open_source("sqlite:///" + Path(url).name, query="t").frame.collect().rows() == [(1,)]


def test_sqlite_table_name_instead_of_a_query(database: Create) -> None:
    url = database('CREATE TABLE "order" (a)', 'INSERT INTO "order" VALUES (1)')
    for query in ("order", '"order"', "main.order", " order ; "):
        assert open_source(url, query=query).frame.collect().rows() == [(1,)]


def test_sqlite_missing_words(database: Create) -> None:
    url = database("CREATE TABLE t (a)", rows=[("?",), ("x",)])
    source = open_source(url, query="t", missing=["?"])
    assert source.frame.collect().rows() == [(None,), ("x",)]
    assert source.description == {"url": url, "query": "t", "missing": ["?"]}


def test_sqlite_mixed_types(database: Create) -> None:
    rows = [(5, 5, 1), ("x", 2.5, None), (2.5, None, 3), (None, 7, 4)]
    url = database("CREATE TABLE t (mixed, numbers, whole)", rows=rows)
    frame = open_source(url, query="t").frame.collect()
    assert frame["mixed"].to_list() == ["5", "x", "2.5", None]
    assert frame["numbers"].to_list() == [5.0, 2.5, None, 7.0]
    assert frame["whole"].to_list() == [1, None, 3, 4]


def test_sqlite_mixed_types_in_different_batches(database: Create, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_BATCH", 2)
    rows = [(1, 1, None), (2, 2, None), (1e-5, 2.5, None), (None, None, None), ("x", 3, 4), (1e-5, None, None)]
    url = database("CREATE TABLE t (mixed, numbers, late)", rows=rows)
    frame = open_source(url, query="t").frame.collect()
    assert frame["mixed"].to_list() == ["1", "2", "1e-05", None, "x", "1e-05"]
    assert frame["numbers"].to_list() == [1.0, 2.0, 2.5, None, 3.0, None]
    assert frame["late"].to_list() == [None, None, None, None, 4, None]


def test_sqlite_no_rows(database: Create) -> None:
    source = open_source(database("CREATE TABLE t (a, b)"), query="t")
    assert source.frame.collect().shape == (0, 2)


def test_sqlite_blobs(database: Create) -> None:
    url = database("CREATE TABLE t (a, photo)", rows=[(1, None), (2, b"x")])
    with pytest.raises(SourceError, match=r"column 'photo' holds binary data.*leave it out"):
        open_source(url, query="t")


def test_sqlite_text_that_is_not_utf8(database: Create) -> None:
    url = database("CREATE TABLE t (a)", "INSERT INTO t VALUES (CAST(x'53eeff' AS TEXT))")
    with pytest.raises(SourceError, match=r"text that is not UTF-8\.$"):
        open_source(url, query="t")


def test_sqlite_duplicate_column_names(database: Create) -> None:
    with pytest.raises(SourceError, match="more than one column is named 'a'"):
        open_source(database("CREATE TABLE t (a)"), query="SELECT a, a FROM t")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELEC a FROM t", "syntax error"),
        ("nobody", "no such table: nobody"),
        ("SELECT b FROM t", "no such column: b"),
        ("DELETE FROM t", "may only read"),
        ("CREATE TABLE u (a)", "may only read"),
        ("PRAGMA user_version = 1", "may only read"),
        ("SELECT a FROM t; DROP TABLE t", "one statement"),
        ("-- nothing at all", "incomplete input"),
    ],
)
def test_sqlite_bad_query(database: Create, query: str, message: str) -> None:
    url = database("CREATE TABLE t (a)", rows=[(1,)])
    with pytest.raises(SourceError, match=message):
        open_source(url, query=query)
    assert open_source(url, query="t").frame.collect().rows() == [(1,)]


@pytest.mark.parametrize("query", [None, "", "  "])
def test_query_is_required(database: Create, query: str | None) -> None:
    with pytest.raises(SourceError, match=r"say what to read.*query="):
        open_source(database("CREATE TABLE t (a)"), query=query)


def test_sqlite_no_such_database_and_none_is_created(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such SQLite database"):
        open_source(f"sqlite:///{tmp_path}/nobody.db", query="t")
    assert list(tmp_path.iterdir()) == []


def test_sqlite_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "people.db").write_text("a,b\n" * 1000)
    with pytest.raises(SourceError, match="not a database"):
        open_source(f"sqlite:///{tmp_path}/people.db", query="t")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite://people.db"])
def test_sqlite_malformed_url(url: str) -> None:
    with pytest.raises(SourceError, match="sqlite:///relative"):
        open_source(url, query="t")


@pytest.mark.parametrize("url", ["mysql://u:s3cret@host/db", "ftp://example.org/a.csv", "hdfs://bucket/a.parquet"])
def test_unknown_scheme(url: str) -> None:
    with pytest.raises(SourceError, match=r"cannot be opened.*postgresql://.*sqlite://") as caught:
        open_source(url, query="t")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("postgresql://u:s3cret@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgresql://u:s3cret%40x@h/d?sslmode=require", "postgresql://u@h/d?sslmode=require"),
        ("postgresql://u:s3?cret@h/d", "postgresql://u@h/d"),
        ("postgresql://:s3cret@h/d", "postgresql://@h/d"),
        ("postgresql://u@h/d?password=s3cret&sslmode=require", "postgresql://u@h/d?sslmode=require"),
        ("postgresql://h/d?user=u&PASSWORD=s3cret&sslpassword=s3cret", "postgresql://h/d?user=u"),
        ("postgresql:///d?host=/run/postgresql", "postgresql:///d?host=%2Frun%2Fpostgresql"),
        ("postgresql://h/d", "postgresql://h/d"),
    ],
)
def test_passwords_are_taken_out_of_urls(url: str, bare: str) -> None:
    assert without_password(url) == bare


def test_postgresql_without_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(MissingExtra, match=r"pip install 'incrowd\[postgresql\]'"):
        open_source("postgresql://u@h/d", query="t")


@pytest.mark.parametrize(
    "query",
    [
        "VACUUM INTO '{file}'",
        "ATTACH '{file}' AS other",
        "PRAGMA journal_mode = DELETE",
        "CREATE TEMP TABLE copied AS SELECT * FROM people",
        "EXPLAIN SELECT 1",
    ],
)
def test_a_query_on_sqlite_can_only_read(tmp_path: Path, query: str) -> None:
    database = tmp_path / "clinic.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute("INSERT INTO people VALUES ('Anna')")
        connection.commit()
    with pytest.raises(SourceError, match=r"must be a SELECT|syntax error"):
        open_source(f"sqlite:///{database}", query=query.format(file=tmp_path / "copied.db"))
    assert [path.name for path in tmp_path.iterdir()] == ["clinic.db"]
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
    read = open_source(f"sqlite:///{database}", query=f"{numbers} SELECT i, upper(name) AS name FROM n, people")
    assert read.frame.collect().rows() == [(1, "ANNA"), (2, "ANNA"), (3, "ANNA")]


def test_virtual_tables_of_sqlite_can_be_read(tmp_path: Path) -> None:
    database = tmp_path / "notes.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE VIRTUAL TABLE notes USING fts5 (text)")
        connection.execute("INSERT INTO notes VALUES ('flu in winter'), ('nothing')")
        connection.commit()
    url = f"sqlite:///{database}"
    assert open_source(url, query="SELECT text FROM notes WHERE notes MATCH 'flu'").frame.collect().height == 1
    assert open_source(url, query="SELECT value FROM json_each('[1, 2]')").frame.collect()["value"].to_list() == [1, 2]
