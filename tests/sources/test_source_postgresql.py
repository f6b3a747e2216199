"""PostgreSQL, on a server that the tests start themselves."""

from __future__ import annotations

import threading
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import SourceError
from incrowd.sources import open_source
from incrowd.sources.postgresql import _explain

pytestmark = pytest.mark.postgresql

PASSWORD_PIECES = ("pass", "word", "s3cret")


@pytest.fixture(scope="module")
def url(postgresql: str) -> str:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgresql, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA clinic")
        cursor.execute("CREATE TABLE clinic.patients (age int, name text)")
        cursor.execute("INSERT INTO clinic.patients VALUES (34, 'Anna'), (NULL, 'NA'), (51, NULL)")
        cursor.execute("CREATE SEQUENCE clinic.visits")
        cursor.execute("CREATE TYPE colour AS ENUM ('red', 'green')")
    return postgresql


def value(url: str, expression: str) -> tuple[pl.DataType, object]:
    series = open_source(url, query=f"SELECT {expression} AS x").frame.collect()["x"]
    return series.dtype, series[0]


def test_a_query_and_its_description(url: str) -> None:
    source = open_source(url, query="SELECT * FROM clinic.patients ORDER BY age", missing=["NA"])
    assert (source.native, source.in_memory, source.columns) == ("sql", True, ("age", "name"))
    assert source.frame.collect().rows() == [(34, "Anna"), (51, None), (None, None)]
    assert str(source.description["url"]).startswith("postgresql://tester@127.0.0.1:")
    assert not any(piece in str(source.description) for piece in PASSWORD_PIECES)


def test_a_table_name_instead_of_a_query(url: str) -> None:
    assert open_source(url, query="clinic.patients").frame.collect().height == 3


def test_no_rows_keep_their_types(url: str) -> None:
    source = open_source(url, query="SELECT * FROM clinic.patients WHERE false")
    assert source.frame.collect().schema == {"age": pl.Int32, "name": pl.String}


def test_types(url: str) -> None:
    typed = [
        ("7::int2", pl.Int16, 7),
        ("2.5::float8", pl.Float64, 2.5),
        ("'NaN'::float8", pl.Float64, None),
        ("true", pl.Boolean, True),
        ("'x'::varchar(5)", pl.String, "x"),
        ("'x'::char(5)", pl.String, "x"),
        ("'red'::colour", pl.String, "red"),
        ("date '2020-01-02'", pl.Date, date(2020, 1, 2)),
        ("1.50::numeric(5,2)", pl.Decimal(38, 2), Decimal("1.50")),
        ("-12345678901234567890::numeric", pl.Decimal(38, 0), Decimal("-12345678901234567890")),
        ("'NaN'::numeric", pl.Decimal(38, 0), None),
        ("NULL::numeric", pl.Decimal(38, 0), None),
        ("(10::numeric ^ 40)::numeric(41)", pl.String, "1" + "0" * 40),
        ("timestamptz '2020-01-02 10:00+02'", pl.Datetime("us", "UTC"), datetime(2020, 1, 2, 8, tzinfo=UTC)),
        ("'12345678-9abc-def0-1234-56789abcdef0'::uuid", pl.String, "12345678-9abc-def0-1234-56789abcdef0"),
        ("""'{"a": 1}'::jsonb""", pl.String, '{"a": 1}'),
        ("NULL", pl.String, None),
    ]
    asked = ", ".join(f"{expression} AS x{place}" for place, (expression, _, _) in enumerate(typed))
    found = open_source(url, query=f"SELECT {asked}").frame.collect()
    assert [(column.dtype, column[0]) for column in found] == [(dtype, expected) for _, dtype, expected in typed]


def test_numbers_with_different_places_are_one_column(url: str) -> None:
    frame = open_source(
        url, query="SELECT * FROM (VALUES (1.5::numeric), (2.25), (3), (NULL)) AS t (x)"
    ).frame.collect()
    assert frame["x"].to_list() == [Decimal("1.50"), Decimal("2.25"), Decimal("3.00"), None]


@pytest.mark.parametrize(
    "expression", ["ARRAY[1, 2]", r"'\x00'::bytea", "interval '1 day'", "inet '10.0.0.1'", "12.5::money", "ROW(1, 2)"]
)
def test_types_without_a_place(url: str, expression: str) -> None:
    with pytest.raises(SourceError, match=r"flatten|cast it to text|leave it out"):
        value(url, expression)


def test_duplicate_column_names(url: str) -> None:
    with pytest.raises(SourceError, match="more than one column is named 'a'"):
        open_source(url, query="SELECT 1 AS a, 2 AS a")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELEC 1", "syntax error"),
        ("nobody", 'relation "nobody" does not exist'),
        ("SELECT weight FROM clinic.patients", 'column "weight" does not exist'),
        ("INSERT INTO clinic.patients VALUES (1, 'x')", "syntax error .* Hint: it must be one SELECT"),
        (
            "WITH x AS (DELETE FROM clinic.patients RETURNING age) SELECT * FROM x",
            "WITH clause containing a data-modify",
        ),
        ("DROP TABLE clinic.patients", "syntax error"),
        ("SELECT 1; SELECT 2", "syntax error"),
        ("SELECT setval('clinic.visits', 7)", "read-only transaction"),
        ("SELECT name::int FROM clinic.patients", "fails on the data it reads .SQLSTATE 22P02"),
        ("SET search_path = clinic", "syntax error"),
    ],
)
def test_bad_query(url: str, query: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        open_source(url, query=query)
    assert "Anna" not in str(caught.value)
    if not query.startswith("SELEC"):  # it would change something
        assert open_source(url, query="clinic.patients").frame.collect().height == 3


@pytest.mark.parametrize("to", ["'{file}'", "PROGRAM 'touch {file}'"])
@pytest.mark.parametrize(
    "query",
    [
        "COPY clinic.patients TO {to}",
        "COPY (SELECT 1) TO {to}",
        "SELECT 1) AS a; COPY clinic.patients TO {to}; SELECT * FROM (SELECT 2",
    ],
)
def test_nothing_is_copied_and_nothing_is_run(url: str, tmp_path: Path, query: str, to: str) -> None:
    tmp_path.chmod(0o777)
    asked = query.format(to=to.format(file=tmp_path / "copied"))
    with pytest.raises(SourceError):
        open_source(url, query=asked)
    assert not list(tmp_path.iterdir())


def test_a_comment_at_the_end_of_a_query_ends_there(url: str) -> None:
    assert open_source(url, query="SELECT 1 AS a -- only one").frame.collect().rows() == [(1,)]


def test_wrong_password(url: str) -> None:
    with pytest.raises(SourceError, match=r"no connection: .*authentication failed"):
        open_source(url.replace("s3cret", "wrong"), query="SELECT 1 AS a")


def test_no_server() -> None:
    with pytest.raises(SourceError, match=r"no connection: .*refused"):
        open_source("postgresql://u:s3cret@127.0.0.1:1/d", query="SELECT 1 AS a")


@pytest.mark.parametrize("password", ["s3@cret", "s3/cret", "s3%zzcret", "s3:cret@x"])
def test_password_that_breaks_the_url_is_not_told(password: str) -> None:
    with pytest.raises(SourceError, match="percent-encoded") as caught:
        open_source(f"postgresql://u:{password}@127.0.0.1:1/d", query="SELECT 1 AS a")
    assert "cret" not in str(caught.value)
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        "'infinity'::timestamp",
        "'-infinity'::timestamptz",
        "'infinity'::date",
        "'-infinity'::date",
        "'294276-12-31'::timestamp",
        "'0001-01-01 BC'::date",
        "'10000-01-01'::timestamptz",
    ],
)
def test_dates_beyond_the_calendar_name_their_column(url: str, expression: str) -> None:
    query = f"SELECT x AS visit FROM (VALUES (now()::date::text), (({expression})::text)) AS t (x)"
    assert open_source(url, query=query).frame.collect().height == 2
    with pytest.raises(SourceError, match=r"column 'visit' holds infinity, or a year .*  Hint: make it NULL"):
        open_source(url, query=f"SELECT {expression} AS visit, 1 AS one")


@pytest.mark.parametrize("expression", ["'0001-01-01'::date", "'9999-12-31 23:59:59.999999'::timestamp"])
def test_the_ends_of_the_calendar_are_read(url: str, expression: str) -> None:
    assert value(url, expression)[1] is not None


def test_the_time_24_00_is_not_missing(url: str) -> None:
    with pytest.raises(SourceError, match=r"column 'shift' holds a value .* such as the time 24:00"):
        open_source(url, query="SELECT '24:00'::time AS shift")
    assert value(url, "NULL::time")[1] is None


ENDLESS = "SELECT generate_series(1, 100000000) AS x, 'S3CRET' || random() AS y"


@pytest.mark.parametrize("query", [ENDLESS, "SELECT 1 AS x, pg_sleep(100)::text AS y"], ids=["rows", "waiting"])
def test_a_connection_that_is_cut_is_named(url: str, query: str) -> None:
    def cut() -> None:
        with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            for _ in range(300):
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND query LIKE '%AS answer%'"
                )
                if cursor.fetchall():
                    return
                time.sleep(0.1)

    from adbc_driver_postgresql import dbapi

    cutting = threading.Thread(target=cut)
    cutting.start()
    with pytest.raises(SourceError) as caught:
        open_source(url, query=query)
    cutting.join()
    assert str(caught.value) == (
        "the PostgreSQL database: the connection to the database was lost before the answer was complete.  "
        "Hint: run it again."
    )


@pytest.mark.parametrize(
    "message",
    [
        "IO: [libpq] PQgetCopyData() failed: server closed the connection unexpectedly",
        "IO: [libpq] Failed to execute query: could not begin COPY: server closed the connection unexpectedly\nS3CRET",
    ],
)
def test_a_server_that_died_is_named(message: str) -> None:
    """What the driver says when the server's process is killed, which would take the tests' server down as well."""
    assert _explain(Exception(message)).startswith("the connection to the database was lost")


def test_a_column_named_like_a_pattern(url: str) -> None:
    frame = open_source(url, query="""SELECT 'a'::char(3) AS "*", 1.5::numeric AS "^x$" """).frame.collect()
    assert frame.rows() == [("a", Decimal("1.5"))]
