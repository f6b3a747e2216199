"""Parquet, Arrow, and files that are no tables."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from incrowd.errors import SourceError
from incrowd.sources import content, open_source, read_rows, reading

Write = Callable[..., Path]

PEOPLE = pl.DataFrame({"age": [34, None, 51], "sex": ["f", "m", None], "born": [date(1990, 1, 2)] * 3})


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    PEOPLE.write_parquet(path)
    return path


def test_parquet_keeps_its_types_and_is_scanned(parquet: Path) -> None:
    source = open_source(parquet)
    assert (source.native, source.in_memory, source.columns) == ("file", False, ("age", "sex", "born"))
    assert source.description == {"path": str(parquet)}
    assert_frame_equal(source.frame.collect(), PEOPLE)


def test_parquet_under_another_name(parquet: Path) -> None:
    disguised = parquet.rename(parquet.with_name("people.csv"))
    assert_frame_equal(open_source(str(disguised)).frame.collect(), PEOPLE)


def test_parquet_missing_words(parquet: Path) -> None:
    source = open_source(parquet, missing=["f"])
    assert source.frame.collect()["sex"].to_list() == [None, "m", None]
    assert source.description == {"path": str(parquet), "missing": ["f"]}


def test_parquet_folder_and_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "deeper").mkdir(parents=True)
    PEOPLE[:1].write_parquet(folder / "a.parquet")
    PEOPLE[1:].write_parquet(folder / "deeper" / "b.parquet")
    (folder / "_SUCCESS").touch()
    for source in (open_source(folder), open_source(folder / "**" / "*.parquet")):
        assert_frame_equal(source.frame.collect(), PEOPLE)


def test_parquet_folder_with_partitions(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        PEOPLE.write_parquet(tmp_path / f"year={year}" / "part.parquet")
    source = open_source(tmp_path)
    assert source.columns == ("age", "sex", "born", "year")
    assert source.frame.collect()["year"].to_list() == [2023] * 3 + [2024] * 3


def test_parquet_folder_with_one_partition(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    PEOPLE.write_parquet(tmp_path / "year=2024" / "part.parquet")
    assert open_source(tmp_path).columns == ("age", "sex", "born", "year")


def test_parquet_file_in_a_folder_that_looks_like_a_partition(tmp_path: Path) -> None:
    (tmp_path / "k=5").mkdir()
    PEOPLE.write_parquet(tmp_path / "k=5" / "part.parquet")
    assert open_source(tmp_path / "k=5" / "part.parquet").columns == ("age", "sex", "born")
    assert open_source(tmp_path / "k=5").columns == ("age", "sex", "born")


def test_parquet_partitions_below_a_folder_that_looks_like_one(tmp_path: Path) -> None:
    folder = tmp_path / "k=5" / "year=2024"
    folder.mkdir(parents=True)
    PEOPLE.write_parquet(folder / "part.parquet")
    assert open_source(tmp_path / "k=5").columns == ("age", "sex", "born", "year")
    assert open_source(tmp_path / "k=5" / "*" / "*.parquet").columns == ("age", "sex", "born", "year")


def test_parquet_partitions_below_a_folder_that_hides_a_column(tmp_path: Path) -> None:
    folder = tmp_path / "age=5" / "year=2024"
    folder.mkdir(parents=True)
    PEOPLE.write_parquet(folder / "part.parquet")
    with pytest.raises(SourceError, match="hides a column"):
        open_source(tmp_path / "age=5")


def test_parquet_folder_with_different_columns(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "a.parquet")
    PEOPLE.with_columns(pl.col("age").cast(pl.String)).drop("sex").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(SourceError, match=r"b\.parquet: its columns are not those of .*they differ in 'age', 'sex'"):
        open_source(tmp_path)


def test_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"holds no \.parquet file"):
        open_source(tmp_path)


def test_pattern_that_matches_nothing(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file matches"):
        open_source(tmp_path / "*.parquet")


def test_pattern_that_matches_parquet_and_csv(file: Write) -> None:
    path = file("a,b\n1,2\n")
    PEOPLE.write_parquet(path.parent / "people.parquet")
    with pytest.raises(SourceError, match="only Parquet files are read several at once"):
        open_source(path.parent / "people.*")


def test_file_whose_name_looks_like_a_pattern(file: Write) -> None:
    assert open_source(file("a,b\n1,2\n", "people[1].csv")).frame.collect().rows() == [("1", "2")]


def test_corrupt_parquet_footer(parquet: Path) -> None:
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(SourceError, match="Parquet file is damaged"):
        open_source(parquet)


def test_corrupt_parquet_page_shows_while_reading(parquet: Path) -> None:
    content = bytearray(parquet.read_bytes())
    content[5:60] = bytes(55)
    parquet.write_bytes(content)
    source = open_source(parquet)
    with pytest.raises(SourceError, match="rows cannot be read"), reading(source):
        source.frame.collect()


def test_csv_that_changed_shows_while_reading(file: Write) -> None:
    path = file("a,b\n1,2\n")
    source = open_source(path)
    path.write_text("a,b\n1,2,3\n")
    with pytest.raises(SourceError, match="has changed since it was opened"), reading(source):
        source.frame.collect()


def test_csv_that_disappeared_shows_while_reading(file: Write) -> None:
    path = file("a,b\n1,2\n")
    source = open_source(path)
    path.unlink()
    with pytest.raises(SourceError, match="the file is gone"), reading(source):
        source.frame.collect()


def test_reading_does_not_touch_other_errors(parquet: Path) -> None:
    source = open_source(parquet)
    with pytest.raises(pl.exceptions.ColumnNotFoundError), reading(source):
        source.frame.select("nobody").collect()


@pytest.mark.parametrize("name", ["people.arrow", "people.feather", "people.ipc", "people.csv"])
def test_arrow(tmp_path: Path, name: str) -> None:
    PEOPLE.write_ipc(tmp_path / name)
    source = open_source(tmp_path / name)
    assert not source.in_memory
    assert_frame_equal(source.frame.collect(), PEOPLE)


def test_arrow_stream(tmp_path: Path) -> None:
    PEOPLE.write_ipc_stream(tmp_path / "people.arrow")
    source = open_source(tmp_path / "people.arrow")
    assert source.in_memory
    assert_frame_equal(source.frame.collect(), PEOPLE)


@pytest.mark.parametrize("write", [pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream])
def test_corrupt_arrow(tmp_path: Path, write: Callable[[pl.DataFrame, Path], None]) -> None:
    path = tmp_path / "people.arrow"
    write(PEOPLE, path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SourceError, match="damaged"):
        open_source(path)


@pytest.mark.parametrize("name", ["people.parquet", "people.feather"])
def test_text_with_the_name_of_a_binary_format(file: Write, name: str) -> None:
    with pytest.raises(SourceError, match="by its name"):
        open_source(file("a,b\n1,2\n", name))


def test_nested_columns_in_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1], "visits": [[1, 2]], "home": [{"zip": 1}], "scan": [b"x"]})
    frame.write_parquet(tmp_path / "people.parquet")
    message = r"3 columns hold .*'visits' \(List\), 'home' \(Struct\), 'scan' \(Binary\).*drop or flatten"
    with pytest.raises(SourceError, match=message):
        open_source(tmp_path / "people.parquet")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        open_source(tmp_path / "nobody.csv")


def test_neither_file_nor_folder() -> None:
    with pytest.raises(SourceError, match="not an ordinary file"):
        open_source("/dev/null")


def test_unreadable_file(file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file("a,b\n1,2\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Root may read everything, so the refusal is simulated.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"cannot be read \(Permission denied\)"):
        open_source(path)


def test_path_that_the_system_refuses(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        open_source(tmp_path / ("x" * 300))


@pytest.mark.parametrize("name", ["PAR1", "ARROW1", "FEA1", "BZh"])
def test_csv_whose_first_column_is_named_like_another_format(file: Write, name: str) -> None:
    assert open_source(file(f"{name},b\n1,2\n")).columns == (name, "b")


def test_archive_that_is_named_like_a_workbook(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "people.xlsx", "w") as archive:
        archive.writestr("sheet", "x")
    with pytest.raises(SourceError, match="ZIP archive"):
        open_source(tmp_path / "people.xlsx")


def test_sqlite_file_without_url(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "people.csv")
    connection.execute("CREATE TABLE people (age)")
    connection.close()
    with pytest.raises(SourceError, match="sqlite:///"):
        open_source(tmp_path / "people.csv")


def test_keywords_that_mean_nothing(parquet: Path, file: Write) -> None:
    with pytest.raises(SourceError, match="this is Parquet, so separator= and encoding= cannot be used"):
        open_source(parquet, separator=";", encoding="utf-8")
    with pytest.raises(SourceError, match="query= cannot be used"):
        open_source(file("a,b\n1,2\n"), query="SELECT 1")
    with pytest.raises(SourceError, match="quote= cannot be used"):
        open_source(PEOPLE, quote="'")
    with pytest.raises(SourceError, match="separator= cannot be used"):
        open_source("sqlite:///x.db", query="t", separator=",")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/proc/self/status", "/proc/mounts"])
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux has these")
def test_what_is_no_ordinary_file(path: str) -> None:
    with pytest.raises(SourceError, match=r"not an ordinary file.  Hint: copy it"):
        open_source(path)


def test_a_pipe_is_no_ordinary_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="not an ordinary file"):
        open_source(tmp_path / "pipe")


@pytest.mark.parametrize("path", ["x" * 5000, "a/" * 5000, "a\0b", "a\ud800b"])
def test_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(SourceError, match=r"no such file|cannot be read"):
        open_source(path)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "folder"])
def test_a_name_that_is_not_utf_8(tmp_path: Path, kind: str) -> None:
    name = tmp_path / os.fsdecode(b"\xff.parquet")
    plain = tmp_path / "plain"
    frame = pl.DataFrame({"a": ["1"], "b": ["2"]})
    {"csv": frame.write_csv, "arrow": frame.write_ipc}.get(kind, frame.write_parquet)(plain)  # type: ignore[operator]
    plain.rename(name)
    with pytest.raises(SourceError, match=r"name is not UTF-8.  Hint: rename it"):
        open_source(tmp_path if kind == "folder" else name)


def test_a_small_file_that_unpacks_to_an_enormous_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "memory_limit", lambda: 20_000_000)
    row = b"1,2\n" * 1000
    (tmp_path / "fits.csv.gz").write_bytes(gzip.compress(b"a,b\n" + row * 2000))
    assert read_rows(open_source(tmp_path / "fits.csv.gz")).height == 2_000_000
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(4000):
            file.write(row)
    assert path.stat().st_size < 100_000
    with pytest.raises(SourceError, match=r"bomb\.csv\.gz: unpacked, .* half of the memory") as caught:
        open_source(path)
    assert "Hint: save it as plain CSV in UTF-8, which is read in pieces" in str(caught.value)


def test_what_must_be_decoded_in_memory_must_fit_there(file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "memory_limit", lambda: 1000)
    path = file("a,b\n" + "ä,2\n" * 500)
    assert read_rows(open_source(path)).height == 500
    path = file(("a,b\n" + "ä,2\n" * 500).encode("cp1252"))
    with pytest.raises(SourceError, match="must be held in memory"):
        open_source(path)


LITTLE_ROOM = """
import resource, sys
import polars
from incrowd.errors import SourceError
from incrowd.sources import open_source, read_rows
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    print(read_rows(open_source(sys.argv[1])).height)
except SourceError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells how much is used")
@pytest.mark.parametrize(("room", "told"), [(400 << 20, "address space"), (8 << 30, "1")])
def test_too_little_room_for_threads_is_an_error_and_no_endless_wait(file: Write, room: int, told: str) -> None:
    command = [sys.executable, "-c", LITTLE_ROOM, str(file("a,b\n1,2\n")), str(room)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert told in done.stdout
