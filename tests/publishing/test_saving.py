"""Saving: everything or nothing, and never somebody else's files."""

from __future__ import annotations

import dataclasses
import json
import stat
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.common import moves
from incrowd.core.engine import PublishedRows
from incrowd.core.families import registered
from incrowd.core.release_directory import new_directory
from incrowd.errors import OutputError
from incrowd.publishing import saving
from incrowd.publishing.recipe import Recipe

FORMATS = ["csv", "parquet", "arrow"]
READERS = {"csv": lambda path: pl.read_csv(path, infer_schema=False), "parquet": pl.read_parquet, "arrow": pl.read_ipc}


@pytest.fixture(scope="module")
def release() -> ic.Release:
    people = ic.datasets.census(500).with_row_index("number")
    table = ic.read(people, quasi=["age", "sex"], sensitive=["occupation"], keep=["number"], others="drop")
    return ic.publish(table, ic.KAnonymity(5))


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too; folders without files have an entry of their own."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"a folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("format", FORMATS)
def test_all_three_files_are_there_and_say_the_same(tmp_path: Path, release: ic.Release, format: Any) -> None:
    data = release.save(tmp_path / "deep" / "out", format=format)
    assert data == tmp_path / "deep" / "out" / f"data.{format}"
    assert sorted(path.name for path in data.parent.iterdir()) == sorted(
        [data.name, "labels.json", "recipe.toml", "summary.json"]
    )
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    rows = READERS[format](data)
    expected = release.to_polars()
    assert rows.equals(expected if format != "csv" else expected.cast(pl.String))
    summary = json.loads((data.parent / "summary.json").read_text(encoding="utf-8"))
    assert summary == json.loads(json.dumps(release.summary))
    assert summary["rows"]["published"] == rows.height
    recipe = tomllib.loads((data.parent / "recipe.toml").read_text(encoding="utf-8"))
    assert recipe["output"] == {"format": format}


def test_the_directory_has_the_user_s_own_permissions(tmp_path: Path, release: ic.Release) -> None:
    release.save(tmp_path / "out")
    (tmp_path / "plain").mkdir()
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_the_format_is_the_source_s_own(tmp_path: Path, suffix: str) -> None:
    people = ic.datasets.census(200).select("age", "sex")
    source = tmp_path / f"people.{suffix}"
    {"csv": people.write_csv, "parquet": people.write_parquet, "arrow": people.write_ipc}[suffix](source)
    release = ic.publish(ic.read(source, quasi=["age", "sex"]), ic.KAnonymity(5))
    assert release.save(tmp_path / "out").name == f"data.{suffix}"


@pytest.mark.parametrize("format", FORMATS)
def test_the_saved_recipe_makes_the_same_file_again(tmp_path: Path, format: Any) -> None:
    ic.datasets.census(400).write_csv(tmp_path / "people.csv", separator=";")
    table = ic.read(
        tmp_path / "people.csv",
        quasi=["age", "sex", "education"],
        sensitive=["occupation"],
        keep=["salary"],
        others="drop",
        hierarchies={
            "age": ic.Intervals(widths=(5, 10, 20)),
            "education": ic.Categories.from_tree(ic.datasets.CENSUS_TREES["education"]),
        },
    )
    release = ic.publish(table, [ic.KAnonymity(4), ic.LDiversity(2)], method=ic.Mondrian(cuts="relaxed"), seed=3)
    data = release.save(tmp_path / "out", format=format)
    again = Recipe.load(release.save_recipe(tmp_path / "own.toml"))
    assert again.run().save(tmp_path / "again", format=format).read_bytes() == data.read_bytes()
    assert everything(tmp_path / "again") == everything(tmp_path / "out")  # the recipe and the summary too


def test_a_directory_that_exists_is_refused(tmp_path: Path, release: ic.Release) -> None:
    release.save(tmp_path / "out")
    before = everything(tmp_path)
    with pytest.raises(
        OutputError, match=r"out exists already\.  Hint: choose another directory, or replace it with force"
    ):
        release.save(tmp_path / "out")
    assert everything(tmp_path) == before


def test_force_replaces_a_release_and_nothing_stays_of_it(tmp_path: Path, release: ic.Release) -> None:
    release.save(tmp_path / "out", format="csv")
    release.save(tmp_path / "out", format="parquet", force=True)
    assert sorted(everything(tmp_path / "out")) == ["data.parquet", "labels.json", "recipe.toml", "summary.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_takes_an_empty_directory_and_the_working_directory(
    tmp_path: Path, release: ic.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    release.save(tmp_path / "out", force=True)
    monkeypatch.chdir(tmp_path / "out")
    release.save(".", format="arrow", force=True)
    assert sorted(everything(tmp_path)) == [
        "out",
        "out/data.arrow",
        "out/labels.json",
        "out/recipe.toml",
        "out/summary.json",
    ]


@pytest.mark.parametrize("files", [["thesis.txt"], ["summary.json", "thesis.txt"], ["data.csv"]])
def test_force_never_replaces_other_files(tmp_path: Path, release: ic.Release, files: list[str]) -> None:
    (tmp_path / "out").mkdir()
    for name in files:
        (tmp_path / "out" / name).write_text("mine", encoding="utf-8")
    before = everything(tmp_path)
    with pytest.raises(OutputError, match="is not a release, or holds other files besides; it is not replaced"):
        release.save(tmp_path / "out", force=True)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("where", ["taken", "taken/out", "taken/deep/er/out"])
@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_the_way_is_told(tmp_path: Path, release: ic.Release, where: str, force: bool) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="taken"):
        release.save(tmp_path / where, force=force)
    assert everything(tmp_path) == {"taken": b"mine"}


def test_an_unknown_format_is_told_before_anything_is_written(tmp_path: Path, release: ic.Release) -> None:
    with pytest.raises(
        OutputError, match=r"unknown format 'orc'\.  Hint: it is one of arrow, csv, dta, parquet, sav, xlsx"
    ):
        release.save(tmp_path / "out", format="orc")
    assert everything(tmp_path) == {}


def failing(release: ic.Release, error: BaseException) -> ic.Release:
    """The release with a source that breaks after the first batch."""

    class Breaking(PublishedRows):
        def batches(self) -> Iterator[pl.DataFrame]:
            yield release.to_polars().head(50)
            raise error

    return dataclasses.replace(release, published=Breaking())


class Crash(Exception):
    pass


@pytest.mark.parametrize("error", [Crash("x"), KeyboardInterrupt(), OSError(28, "No space left on device")], ids=repr)
@pytest.mark.parametrize("format", FORMATS)
def test_a_crash_in_the_middle_leaves_nothing(
    tmp_path: Path, release: ic.Release, error: BaseException, format: Any
) -> None:
    expected = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        failing(release, error).save(tmp_path / "deep" / "out", format=format)
    assert everything(tmp_path) == {}  # no temporary directory, and no parent that was made for it


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_no_file_appears_after_a_crash(tmp_path: Path, name: str) -> None:
    """A writer's thread that opens its file later would do so where everything was cleared away."""

    def batches() -> Iterator[pl.DataFrame]:
        yield pl.DataFrame({"a": [1, 2]})
        raise Crash("x")

    for attempt in range(8):
        path = tmp_path / f"data-{attempt}"
        with pytest.raises(Crash):
            registered("sinks")[name]().write(batches(), path, separator=";")
        assert path.exists()  # it was opened before anything was read


@pytest.mark.parametrize("error", [Crash("x"), KeyboardInterrupt()], ids=repr)
def test_a_crash_leaves_the_release_that_was_to_be_replaced(
    tmp_path: Path, release: ic.Release, error: BaseException
) -> None:
    release.save(tmp_path / "out")
    before = everything(tmp_path)
    with pytest.raises(type(error)):
        failing(release, error).save(tmp_path / "out", force=True)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")], ids=repr)
@pytest.mark.parametrize("step", [1, 2])
def test_an_interruption_while_one_release_takes_the_other_s_place(
    tmp_path: Path, release: ic.Release, monkeypatch: pytest.MonkeyPatch, error: BaseException, step: int
) -> None:
    monkeypatch.setattr(moves, "_rename", lambda *_: False)  # as on a file system that cannot exchange
    release.save(tmp_path / "out")
    before = everything(tmp_path)
    renamed = []
    rename = Path.rename

    def breaking(self: Path, target: Path) -> Path:
        renamed.append(target)
        if len(renamed) == step:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", breaking)
    with pytest.raises((KeyboardInterrupt, OutputError)):
        release.save(tmp_path / "out", force=True)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("force", [False, True])
def test_a_full_disk_is_told_and_leaves_what_was_there(full_disk: Path, format: Any, force: bool) -> None:
    people = pl.DataFrame({"age": [30, 40] * 20_000, "name": [f"{number * 7919:x}" for number in range(40_000)]})
    large = ic.publish(ic.read(people, quasi=["age"], keep=["name"]), ic.KAnonymity(5))
    if force:
        ic.publish(ic.read(people[:40], quasi=["age"], keep=["name"]), ic.KAnonymity(5)).save(full_disk / "out")
    before = everything(full_disk)
    with pytest.raises(OutputError, match="out cannot be written"):
        large.save(full_disk / "out", format=format, force=force)
    assert everything(full_disk) == before


def test_a_failure_after_the_data_leaves_nothing_either(
    tmp_path: Path, release: ic.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving.json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release.save(tmp_path / "out")
    assert everything(tmp_path) == {}


def test_the_place_to_write_in_is_hidden_until_all_is_there(tmp_path: Path) -> None:
    with new_directory(tmp_path / "out", force=False) as place:
        assert place.parent.parent == tmp_path
        assert place.parent.name.startswith(".out.")
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert not (tmp_path / "out").exists()
        (place / "summary.json").write_text("{}", encoding="utf-8")
    assert everything(tmp_path) == {"out": b"a folder", "out/summary.json": b"{}"}


def test_missing_values_of_a_single_column_are_rows_in_the_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30] * 3 + [None] * 4})
    release = ic.publish(ic.read(table, quasi=["age"]), ic.KAnonymity(3))
    checked = ic.check(release.save(tmp_path / "out"), quasi=["age"])
    assert (checked.rows, checked.groups, checked.k) == (7, 2, 3)


def test_empty_text_and_missing_do_not_pass_for_two_values(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30] * 4, "ill": ["", None, "", None]})
    with pytest.raises(ic.errors.Unsatisfiable):
        ic.publish(ic.read(table, quasi=["age"], sensitive=["ill"]), ic.LDiversity(2))


@pytest.mark.parametrize("format", FORMATS)
def test_values_of_any_type_can_be_written(tmp_path: Path, format: Any) -> None:
    table = pl.DataFrame(
        {
            "age": [30, 30],
            "stay": [timedelta(days=3), None],
            "text": ['a, "b"\n;', ""],
            "seen": [True, None],
            "money": pl.Series([1, 2]).cast(pl.Decimal(10, 2)),
        }
    )
    opened = ic.read(table, quasi=["age"], sensitive=["seen"], keep=["stay", "text", "money"])
    rows = READERS[format](ic.publish(opened, ic.KAnonymity(2)).save(tmp_path / "out", format=format))
    assert rows.height == 2
    assert 'a, "b"\n;' in rows["text"].to_list()


@pytest.mark.parametrize("format", ["csv", "arrow"])
def test_no_file_holds_a_text_of_a_withheld_row(tmp_path: Path, format: Any) -> None:
    people = pl.DataFrame(
        {
            "sex": ["F"] * 40 + ["M"] * 40 + ["X"],
            "illness": [f"an illness of a long name, {number % 4}" for number in range(80)] + ["nobody else has it"],
            "remark": [f"a remark about number {number}" for number in range(80)] + ["a remark about the odd one out"],
        }
    )
    for keep in ([], ["remark"]):
        table = ic.read(people, quasi=["sex"], sensitive=["illness"], keep=keep, others="drop")
        release = ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain(max_withheld=0.1))
        assert release.withheld == 1
        written = release.save(tmp_path / "out", format=format, force=True).read_bytes()
        assert b"of a long name, 3" in written
        assert b"nobody else" not in written
        assert b"odd one out" not in written


def test_a_frame_written_elsewhere_holds_no_text_of_a_withheld_row(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"sex": ["F"] * 9 + ["X"], "remark": [f"this is about number {place}" for place in range(10)]}
    )
    table = ic.read(people, quasi=["sex"], keep=["remark"])
    release = ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain(max_withheld=0.1))
    assert release.withheld == 1
    release.data.write_ipc(tmp_path / "data.arrow")
    written = (tmp_path / "data.arrow").read_bytes()
    assert b"number 8" in written
    assert b"number 9" not in written
