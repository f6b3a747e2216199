"""Other kinds of places: DuckDB, compressed files, folders, pipes, object stores; and files that hold no table."""

from __future__ import annotations

import gzip
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO, TextIOWrapper
from pathlib import Path

import duckdb
import polars as pl
import pyreadstat
import pytest
import zstandard

from incrowd.errors import EmptyTable, SourceError
from incrowd.sources import open_source, read_rows
from incrowd.sources.piped import piped

Write = Callable[..., Path]
PEOPLE = pl.DataFrame({"age": [34, 41], "zip": ["01234", None]})


# --- DuckDB ---


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, born DATE, paid DECIMAL(6, 2), ill BOOLEAN)")
        connection.execute(
            "INSERT INTO people VALUES (34, '01234', '1990-01-02', 12.50, true), (41, NULL, NULL, NULL, NULL)"
        )
    return path


def test_the_only_table_is_read(database: Path) -> None:
    opened = open_source(database)
    assert read_rows(opened).row(0)[:2] == (34, "01234")
    assert read_rows(opened).dtypes == [pl.Int32, pl.String, pl.Date, pl.Decimal(6, 2), pl.Boolean]
    assert opened.description["query"] == 'SELECT * FROM "people"'


@pytest.mark.parametrize("prefix", ["", "duckdb:///"])
def test_a_table_or_a_query(database: Path, prefix: str) -> None:
    place = f"{prefix}{database}"
    assert read_rows(open_source(place, query="people")).height == 2
    opened = open_source(place, query="SELECT age + 1 AS older FROM people WHERE ill;")
    assert read_rows(opened).rows() == [(35,)]
    assert opened.description["path"] == str(database)


def test_several_tables_are_a_question(database: Path) -> None:
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE others (a INTEGER)")
    with pytest.raises(SourceError, match="say which table to read with query=; there are: 'others', 'people'"):
        open_source(database)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT nothing FROM people", "nothing"),
        ("DROP TABLE people", "it must be one SELECT"),
        ("SELECT 1; DROP TABLE people", "it must be one SELECT"),
        ("SELECT * FROM read_text('/etc/hostname')", "may only read this database"),
        ("SELECT CAST(zip AS DATE) FROM people", "the query fails on the data it reads"),
        ("SELECT INTERVAL 3 DAYS AS gap FROM people", "'gap' is of the type INTERVAL"),
    ],
)
def test_queries_that_are_refused_quote_no_cell(database: Path, query: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as told:
        open_source(database, query=query)
    assert "01234" not in str(told.value)
    assert read_rows(open_source(database)).height == 2


def test_no_such_database(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such DuckDB database"):
        open_source(f"duckdb:///{tmp_path / 'none.db'}", query="people")


# --- compressed text ---


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed_text(file: Write, pack: Callable[[bytes], bytes]) -> None:
    text = "".join(["age,zip\n", *(f"{n},0{n}\n" for n in range(5000))]).encode()
    # Several frames one after the other are one file.
    path = file(pack(text[:20000]) + pack(text[20000:]), "people.csv.packed")
    assert read_rows(open_source(path)).rows()[-1] == ("4999", "04999")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed_text_that_is_cut(file: Write, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(random.Random(1).randbytes(3000).hex().encode())
    with pytest.raises(SourceError, match="damaged or incomplete"):
        open_source(file(packed[:-50], "people.csv.packed"))


def test_compressed_nothing(file: Write) -> None:
    with pytest.raises(EmptyTable):
        open_source(file(zstandard.compress(b""), "people.csv.zst"))


# --- files that hold no table ---


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "the file is a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(40), "the file is a JPEG image"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x7fELF" + bytes(90), "a program"),
        (b"\x89HDF\r\n\x1a\n" + bytes(90), "an HDF5 file"),
        (random.Random(7).randbytes(4000), "a binary file of an unknown kind, and no table"),
        (bytes(range(256)) * 20, "a binary file of an unknown kind"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(file: Write, content: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message) as told:
        open_source(file(content))
    assert "UTF-16" not in str(told.value)


def test_text_in_utf16_without_a_mark_is_no_binary_file(file: Write) -> None:
    text = "name,age\nЖанна,34\n漢,41\n".encode("utf-16-le")
    with pytest.raises(SourceError, match="utf-16-le"):
        open_source(file(text))
    assert read_rows(open_source(file(text), encoding="utf-16-le")).height == 2


@pytest.mark.parametrize("name", ["ORC", "BZh", "GIF8"])
def test_names_that_look_like_a_mark_are_names(file: Write, name: str) -> None:
    assert open_source(file(f"{name},b\n1,2\n")).columns == (name, "b")


# --- folders ---


def test_folder_of_texts_that_are_written_in_different_ways(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,zip\n34,01234\n")
    (tmp_path / "b.csv").write_bytes("zip;age\nGörlitz;41\n".encode("cp1252"))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden").write_text("x")
    opened = open_source(tmp_path)
    assert read_rows(opened).rows() == [("34", "01234"), ("41", "Görlitz")]
    assert set(opened.description) == {"path"}  # how one of them is written is not true of the other
    assert read_rows(open_source(tmp_path / "*.csv")).height == 2


def test_folder_of_labelled_files(tmp_path: Path) -> None:
    for place, name in enumerate("ab"):
        frame = pl.DataFrame({"sex": [1, 2 - place]})
        pyreadstat.write_sav(frame, str(tmp_path / f"{name}.sav"), variable_value_labels={"sex": {1: "m", 2: "f"}})
    opened = open_source(tmp_path)
    assert read_rows(opened)["sex"].to_list() == ["m", "f", "m", "m"]
    assert opened.codebook is not None
    assert opened.codebook.of("sex").labels == {1: "m", 2: "f"}


def test_folder_of_several_kinds_or_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,zip\n34,01234\n")
    (tmp_path / "b.csv").write_text("age,city\n34,Rome\n")
    with pytest.raises(SourceError, match=r"b\.csv: its columns are not those of .*'city', 'zip'"):
        open_source(tmp_path)
    (tmp_path / "b.csv").unlink()
    PEOPLE.write_ipc(tmp_path / "c.arrow")
    with pytest.raises(SourceError, match=r"this file is arrow, and .* is csv; all must be of one kind"):
        open_source(tmp_path)


def test_folder_with_a_column_of_another_type(tmp_path: Path) -> None:
    PEOPLE.write_ipc(tmp_path / "a.arrow")
    PEOPLE.with_columns(pl.col("age").cast(pl.String)).write_ipc(tmp_path / "b.arrow")
    with pytest.raises(SourceError, match="'age' is of another type in some of the files"):
        open_source(tmp_path)


def test_a_file_of_a_folder_that_changes_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,zip\n34,01234\n")
    (tmp_path / "b.csv").write_text("age,zip\n35,01234\n")
    opened = open_source(tmp_path)
    (tmp_path / "b.csv").write_text("age,zip\n36,01234\n37,1\n")
    with pytest.raises(SourceError, match=r"b\.csv"):
        read_rows(opened)


# --- pipes ---

READ = """
from incrowd.sources import open_source, read_rows
opened = open_source("-")
print(read_rows(opened).rows(), opened.description["path"], open_source("-").columns)
"""


def _piped(content: bytes) -> str:
    done = subprocess.run([sys.executable, "-c", READ], input=content, capture_output=True, timeout=100)
    return (done.stdout or done.stderr).decode().strip().splitlines()[-1]


def test_tables_of_several_kinds_are_piped_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PEOPLE.write_parquet(tmp_path / "a.parquet")
    PEOPLE.write_ipc_stream(tmp_path / "a.arrows")
    pyreadstat.write_dta(PEOPLE, str(tmp_path / "a.dta"))
    told = [(34, "01234"), (41, None)]
    assert _piped((tmp_path / "a.parquet").read_bytes()) == f"{told} - ('age', 'zip')"
    text = b"age,zip\n34,01234\n41,\n"
    # That a process reads its pipe is seen; what kinds there are, and that none is empty, needs no other one.
    for content, rows in (
        (tmp_path / "a.arrows", told),
        (tmp_path / "a.dta", told),
        (text, [("34", "01234"), ("41", None)]),
    ):
        _pipe_in(content if isinstance(content, bytes) else content.read_bytes(), monkeypatch)
        opened = open_source("-")
        assert (read_rows(opened).rows(), opened.description["path"]) == (rows, "-")
        assert open_source("-").columns == ("age", "zip")  # a second time
    _pipe_in(b"", monkeypatch)
    with pytest.raises(EmptyTable, match="nothing came through the pipe"):
        open_source("-")


def _pipe_in(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process find bytes in its standard input, which it reads once in its life."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content)))
    monkeypatch.setattr("incrowd.sources.opening.piped", cache(piped.__wrapped__))


# --- object stores ---


class _Store(BaseHTTPRequestHandler):
    """As much of an object store as reading takes: a file, or a range of its bytes."""

    def __init__(self, content: bytes, *arguments: object) -> None:
        self.content = content
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def do_GET(self) -> None:
        self._answer(send=True)

    def _answer(self, *, send: bool) -> None:
        if "missing" in self.path:
            self.send_error(404)
            return
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        body, length = self.content, len(self.content)
        self.send_response(206 if asked else 200)
        if asked:
            start = int(asked[1]) if asked[1] else max(length - int(asked[2]), 0)
            stop = min(int(asked[2]) + 1, length) if asked[1] and asked[2] else length
            body = body[start:stop]
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{length}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
        self.end_headers()
        if send:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Store, (tmp_path / "people.parquet").read_bytes()))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_of_an_object_store(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", store)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_REGION", "nowhere")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    opened = open_source("s3://bucket/people.parquet")
    assert read_rows(opened).rows() == PEOPLE.rows()
    assert opened.description == {"path": "s3://bucket/people.parquet"}
    with pytest.raises(SourceError, match=r"it cannot be read.*AWS_ACCESS_KEY_ID") as told:
        open_source("s3://bucket/missing.parquet")
    assert "s3cret" not in str(told.value)


def test_text_of_an_object_store_is_refused() -> None:
    with pytest.raises(SourceError, match="only Parquet and Arrow files are read from object stores"):
        open_source("s3://bucket/people.csv")
