"""A file that is not what it was when it was opened is refused, whatever changed and whenever it did."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import SourceChanged, SourceError
from incrowd.sources import open_source, read_rows, reading, stamps

PEOPLE = pl.DataFrame(
    {
        "name": [f"name{n}" for n in range(12)],
        "age": [20, 30] * 6,
        "disease": ["flu", "cold", "hiv"] * 4,
        "town": ["A", "B"] * 6,
    }
)
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
}


def reorder(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    write(PEOPLE.select("disease", "age", "name", "town"), path)


def add_rows(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    write(pl.concat([PEOPLE, PEOPLE]), path)


def replace_by_another(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    other = path.with_name("other")
    write(PEOPLE.reverse(), other)
    other.replace(path)


def replace_by_the_same(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    """With the same bytes and the same times: it could as well have other rows in the middle."""
    shutil.copy2(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def set_times_back(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    """As many bytes, and the time of the last change set to what it was."""
    before = path.stat()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"flu", b"hiv"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def touch(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    path.touch()


def cut(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    os.truncate(path, 40)


def remove(path: Path, write: Callable[[pl.DataFrame, Path], object]) -> None:
    path.unlink()


CHANGES = [reorder, add_rows, replace_by_another, replace_by_the_same, set_times_back, touch, cut, remove]


@pytest.fixture(params=WRITERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changed_before_it_is_published(tmp_path: Path, kind: str, change: Callable[..., None]) -> None:
    path = tmp_path / f"people.{kind}"
    WRITERS[kind](PEOPLE, path)
    table = ic.read(path, quasi=["age"], sensitive=["disease"], drop=["name", "town"])
    change(path, WRITERS[kind])
    with pytest.raises(SourceChanged, match=r"people\.\w+: the file (has changed|is gone) since it was opened"):
        ic.publish(table, ic.KAnonymity(2), seed=1)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changed_after_it_was_counted(tmp_path: Path, kind: str, change: Callable[..., None]) -> None:
    path = tmp_path / f"people.{kind}"
    WRITERS[kind](PEOPLE, path)
    table = ic.read(path, quasi=["age"], sensitive=["disease"], pseudonyms=["name"], keep=["town"])
    release = ic.publish(table, ic.KAnonymity(2), seed=1)
    change(path, WRITERS[kind])
    with pytest.raises(SourceChanged):
        release.to_polars()


@pytest.mark.parametrize("change", CHANGES)
def test_one_of_many_files_changed(tmp_path: Path, change: Callable[..., None]) -> None:
    for name in ("a", "b", "c"):
        PEOPLE.write_parquet(tmp_path / f"{name}.parquet")
    source = open_source(tmp_path)
    change(tmp_path / "b.parquet", WRITERS["parquet"])
    with pytest.raises(SourceChanged, match=r"b\.parquet"):
        read_rows(source)


def test_rows_that_are_added_while_a_scan_runs(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    source = open_source(path)

    def scan() -> None:
        with reading(source):
            source.frame.collect()
            with path.open("a") as file:
                file.write("anna,20,flu,A\n")

    with pytest.raises(SourceChanged):
        scan()


def test_a_file_that_changes_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from incrowd.sources import csv

    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    examine = csv.examine

    def examine_and_change(*given: object) -> object:
        found = examine(*given)  # type: ignore[arg-type]
        reorder(path, WRITERS["csv"])
        return found

    monkeypatch.setattr(csv, "examine", examine_and_change)
    with pytest.raises(SourceChanged):
        open_source(path)


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    for _ in range(20):
        path.write_bytes(b"a,b\n" + b"1,2\n" * 10_000)
        source = open_source(path)
        with path.open("r+b") as file:  # far from both ends, in the middle of the tick
            file.seek(20_000)
            file.write(b"9,9\n")
        with pytest.raises(SourceChanged):
            read_rows(source)


def test_where_times_tell_nothing_the_ends_of_a_file_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    known = path.stat()
    monkeypatch.setattr(stamps.os, "fstat", lambda _: known)
    unchanged = stamps.watch(path)
    unchanged()
    path.write_bytes(path.read_bytes().replace(b"name,age,disease", b"disease,age,name"))
    with pytest.raises(SourceChanged):
        unchanged()


def test_another_working_directory_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    source = open_source("people.csv")
    monkeypatch.chdir("elsewhere")
    assert read_rows(source).height == 12
    Path("../people.csv").unlink()
    with pytest.raises(SourceError, match=r"^people\.csv: the file is gone"):
        read_rows(source)


def test_what_was_read_into_memory_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("name,town\nJosé,A\n".encode("latin-1"))
    source = open_source(path)
    path.unlink()
    assert read_rows(source).rows() == [("José", "A")]


def test_a_frame_of_numpy_s_memory_is_counted_as_it_was_opened() -> None:
    import pandas as pd

    ages = np.array([20, 30] * 6)
    source = open_source(pd.DataFrame({"age": ages}, copy=False))
    ages[:] = 99
    assert read_rows(source)["age"].to_list() == [20, 30] * 6


CUT_IN_THE_MIDDLE = """
import os, sys
from incrowd.errors import SourceError
from incrowd.sources import csv, open_source, reading

def read_and_cut(path):
    source = open_source(path)
    with reading(source):
        for batch in source.frame.collect_batches(chunk_size=1000, engine="streaming"):
            os.truncate(path, 5000)
            batch.hash_rows()

def check_and_cut(path):
    detect = csv.detect
    def detect_and_cut(content, **given):
        found = detect(content, **given)
        os.truncate(path, 5000)
        return found
    csv.detect = detect_and_cut
    open_source(path)

*read, checked = sys.argv[1:]
for act, path in [*((read_and_cut, path) for path in read), (check_and_cut, checked)]:
    try:
        act(path)
    except SourceError as error:
        print(os.path.basename(path), type(error).__name__, flush=True)
"""


def test_a_file_that_is_cut_while_it_is_read_or_checked_is_an_error(tmp_path: Path) -> None:
    """In a process of their own, since that might be killed."""
    numbers = np.random.default_rng(1).integers(0, 10**9, (300_000, 4))
    frame, paths = pl.DataFrame(numbers, schema=["a", "b", "c", "d"]), []
    for name, kind in [*((f"read.{kind}", kind) for kind in WRITERS), ("checked.csv", "csv")]:
        paths.append(tmp_path / name)
        WRITERS[kind](frame, paths[-1])
    done = subprocess.run(
        [sys.executable, "-c", CUT_IN_THE_MIDDLE, *paths], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"killed: {done.returncode}, after {done.stdout}"
    assert done.stdout.splitlines() == [f"{path.name} SourceChanged" for path in paths]
