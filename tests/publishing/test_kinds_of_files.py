"""Releases in the kind of file that the table came in, in databases and through pipes, and read back."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.codebook import Codebook, Variable
from incrowd.core.families import registered
from incrowd.errors import OutputError, SourceError
from incrowd.hierarchies.values import as_text
from incrowd.publishing.sinks.csv import CsvSink
from incrowd.sources import open_source, read_rows
from incrowd.sources.piped import piped
from tests.cli.command import incrowd
from tests.sources.conftest import postgresql  # noqa: F401

KINDS = ("sav", "dta", "xpt", "xlsx", "parquet", "arrow", "csv")
SEX = {1: "male", 2: "female", -9: "refused"}
REGIONS = {1: "Nörd", 2: "South", 3: "East", 4: "West", 5: "only one of ours"}
ROLES: dict[str, Any] = {
    "quasi": ["age", "sex", "region"],
    "sensitive": ["dx", "ill"],
    "keep": ["income", "seen", "code"],
}


@cache
def rows() -> pl.DataFrame:
    number, chance = 300, Random(3)
    return pl.DataFrame(
        {
            "age": [chance.choice([None, *range(18, 90)]) for _ in range(number)],
            "sex": [chance.choice([1, 2, 1, 2, -9]) for _ in range(number)],
            "region": [chance.choice([1, 2, 3, 4, 77]) for _ in range(number)],
            "dx": [chance.choice(["A01", "B02", "007"]) for _ in range(number)],
            "ill": [chance.choice([0, 1]) for _ in range(number)],
            "income": [chance.choice([None, chance.randint(1000, 9000) / 8]) for _ in range(number)],
            "seen": [date(2020, 1, 1) + timedelta(days=chance.randint(0, 900)) for _ in range(number)],
            "code": [f"0{chance.randint(0, 99)}" for _ in range(number)],
        }
    )


def write(frame: pl.DataFrame, place: Path, kind: str) -> Path:
    path = place / f"people.{kind}"
    labels = {"sex": SEX, "region": REGIONS, "ill": {0: "no", 1: "yes"}, "income": {0: "none"}}
    names = {"age": "Age in years", "sex": "Sex of the person"}
    match kind:
        case "sav":
            pyreadstat.write_sav(
                frame,
                str(path),
                variable_value_labels=labels,
                missing_ranges={"sex": [-9]},
                column_labels=names,
                variable_measure={"region": "nominal", "age": "scale"},
                variable_format={"seen": "EDATE10", "income": "F9.3"},
            )
        case "dta":
            pyreadstat.write_dta(frame, str(path), variable_value_labels=labels, column_labels=names)
        case "xpt":
            pyreadstat.write_xport(frame, str(path), column_labels=names)
        case _:
            registered("sinks")[kind]().write(iter([frame]), path, separator=",")
    return path


def texts(values: pl.Series) -> Counter[str | None]:
    """Return how often each value is there, as people read it."""
    return Counter(as_text(values).to_list())


def assert_same(release: ic.Release, again: ic.Release) -> None:
    mine, theirs = release.to_polars(), again.to_polars()
    assert mine.columns == theirs.columns
    for name in mine.columns:
        numbers = mine[name].dtype.is_float()  # CSV writes 5.0
        found = theirs[name].cast(pl.Float64) if numbers and theirs[name].dtype == pl.String else theirs[name]
        assert texts(mine[name]) == texts(found), name
    assert again.warnings == release.warnings
    assert again.summary["groups"] == release.summary["groups"]
    assert again.count({"age": (30, 50)}) == release.count({"age": (30, 50)})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> ic.Release:
    """A release of a labelled table, which is saved in many ways, and nothing changes it."""
    path = write(rows(), tmp_path_factory.mktemp("labelled"), "sav")
    return ic.publish(ic.read(path, **ROLES), ic.KAnonymity(5), seed=1)


# --- the same kind again ---


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_comes_back_as_its_own_kind(kind: str, tmp_path: Path) -> None:
    table = ic.read(write(rows(), tmp_path, kind), **ROLES)
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    data = release.save(tmp_path / "out")
    assert data.name == f"data.{kind}"
    if kind not in ("csv", "arrow"):  # types survive: text has none, and Arrow's are those of Parquet
        found = read_rows(open_source(data))
        wanted = {"income": pl.Float64, "seen": pl.Date, "code": pl.String, "dx": pl.String}
        assert {name: found.schema[name] for name in wanted} == wanted
    again = ic.open_release(tmp_path / "out")
    assert_same(release, again)
    checked = ic.check(tmp_path / "out")
    assert checked.k is not None
    assert checked.k >= 5
    assert [model.satisfied for model in checked.models] == [True]


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_is_read_back_from_a_labelled_table(kind: str, release: ic.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "out", format=kind)
    assert_same(release, ic.open_release(tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.usefixtures("few_queries")
def test_audit_of_files_is_that_of_memory(tmp_path: Path) -> None:
    source = write(rows(), tmp_path, "sav")
    release = ic.publish(ic.read(source, **ROLES), ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "out")
    mine = release.audit(learn=False, remedies=False).to_dict()
    theirs = ic.open_release(tmp_path / "out", original=str(source)).audit(learn=False, remedies=False).to_dict()
    assert mine["attacks"] == theirs["attacks"]


# --- labels ---


def test_labels_formats_and_codes_for_missing_of_spss_survive(release: ic.Release, tmp_path: Path) -> None:
    path = release.save(tmp_path / "out")
    frame, told = pyreadstat.read_sav(str(path), user_missing=True, output_format="polars")
    assert told.column_names_to_labels["age"] == "Age in years"
    assert told.missing_ranges == {"sex": [{"lo": -9, "hi": -9}]}
    assert told.original_variable_types["seen"] == "EDATE10"
    assert told.original_variable_types["income"] == "F9.3"
    assert told.variable_value_labels["sex"].items() >= SEX.items()
    assert told.variable_value_labels["ill"] == {0: "no", 1: "yes"}
    shown = release.to_polars()["region"].to_list()
    coded = [told.variable_value_labels["region"].get(code, str(int(code))) for code in frame["region"].to_list()]
    assert Counter(shown) == Counter(coded)
    own = {text: code for code, text in REGIONS.items()}
    for code, text in told.variable_value_labels["region"].items():
        assert code == own.get(text, code)  # what is a value of the table has its own code
        assert text in own or code > 1000


def test_no_label_names_what_only_unpublished_people_have(tmp_path: Path) -> None:
    for kind in ("sav", "dta"):
        place = tmp_path / kind
        place.mkdir()
        path = write(rows(), place, kind)
        release = ic.publish(ic.read(path, **ROLES), ic.KAnonymity(5), seed=1)
        written = release.save(place / "out")
        read = pyreadstat.read_sav if kind == "sav" else pyreadstat.read_dta
        assert REGIONS[5] in read(str(path))[1].variable_value_labels["region"].values()
        assert REGIONS[5] not in read(str(written))[1].variable_value_labels["region"].values()
        assert REGIONS[5].encode() not in written.read_bytes()


@pytest.mark.parametrize("options", [{"value_labels": "codes"}, {"missing_codes": "values"}])
def test_how_labels_are_shown_is_read_from_the_recipe(options: dict[str, str], tmp_path: Path) -> None:
    release = ic.publish(ic.read(write(rows(), tmp_path, "sav"), **ROLES, **options), ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "out")
    assert_same(release, ic.open_release(tmp_path / "out"))
    again = ic.Recipe.load(tmp_path / "out" / "recipe.toml").run(seed=1)
    assert again.to_polars().equals(release.to_polars())


def test_a_recipe_names_the_sheet(tmp_path: Path) -> None:
    path = write(rows(), tmp_path, "xlsx")
    release = ic.publish(ic.read(path, **ROLES, sheet=1, header_row=1), ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "recipe.toml").read_text()
    assert 'sheet = "data"' in text
    assert "header_row = 1" in text
    assert_same(release, ic.open_release(tmp_path / "out", original=str(path)))


VALUES = st.lists(st.sampled_from(["male", "female", "3", "*", "{a, b}", "x (code)", None]), min_size=1, max_size=8)
BOOKS = st.dictionaries(st.integers(0, 2000), st.sampled_from(["male", "female", "m", "3", "other"]), max_size=5)


@settings(max_examples=18, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=VALUES, labels=BOOKS, kind=st.sampled_from(["sav", "dta"]), missing=st.sampled_from([(), ((1500, 2000),)]))
def test_generated_cells_are_read_back_whatever_the_labels(
    tmp_path: Path, cells: list[str | None], labels: dict[int, str], kind: str, missing: Any
) -> None:
    program = {"sav": "SPSS", "dta": "Stata"}[kind]
    book = Codebook({"a": Variable("a label", labels, missing if kind == "sav" else ())}, program)
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=pl.String), "b": [1] * len(cells)})
    path = tmp_path / f"a.{kind}"
    registered("sinks")[kind]().write_labelled(iter([frame]), path, separator=",", codebook=book)
    read = read_rows(open_source(path))
    # Labels that are the same for two codes were shown with their code, so these cells are none of them.
    assert as_text(read["a"]).to_list() == cells
    assert open_source(path).codebook.of("a").label == "a label"  # type: ignore[union-attr]


# --- what cannot be written ---


@pytest.mark.parametrize(
    ("frame", "kind", "message"),
    [
        (pl.DataFrame({"a b": [1]}), "sav", "cannot hold a column named 'a b'"),
        (pl.DataFrame({"a": [1], "A": [1]}), "dta", "differ in letter case alone"),
        (pl.DataFrame({"a": [float("inf")]}), "xlsx", "infinite numbers"),
        (pl.DataFrame({"a": ["x" * 40_000]}), "sav", "more than 32,767 bytes"),
        (pl.DataFrame({"a": ["x\0y"]}), "dta", "zero byte"),
        (pl.DataFrame({"a": pl.zeros(1_048_577, eager=True)}), "xlsx", "an Excel sheet holds 1,048,575 rows"),
    ],
)
def test_what_a_kind_cannot_hold_is_refused(frame: pl.DataFrame, kind: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=message):
        registered("sinks")[kind]().write(iter([frame]), tmp_path / f"a.{kind}", separator=",")


@pytest.mark.parametrize("kind", ["xlsx", "sav", "dta", "xpt"])
def test_all_or_nothing(kind: str, release: ic.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.txt").touch()
    before = sorted(path.name for path in tmp_path.iterdir())

    def broken(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("incrowd.publishing.saving.recipe_of", broken)
    with pytest.raises(OutputError, match="No space left"):
        release.save(tmp_path / "out", format=kind)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


# --- databases ---


@pytest.fixture(params=["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgresql")
        return url
    return f"{request.param}:///{tmp_path / 'out.db'}"


def test_a_release_in_a_database_is_the_release(database: str, release: ic.Release) -> None:
    place = f'{database}#the "released" rows'
    assert "s3cret" not in str(release.save(place))
    again = ic.open_release(place)
    assert_same(release, again)
    assert ic.check(place).k == ic.check(release.to_polars(), quasi=ROLES["quasi"], each_row_a_person=True).k
    assert read_rows(open_source(database, query='SELECT * FROM "the ""released"" rows"')).height == release.rows


def test_a_release_of_several_tables_in_a_database(database: str, tmp_path: Path) -> None:
    table = ic.read(write(rows(), tmp_path, "csv"), quasi=["age", "sex"], sensitive=["dx"], others="drop")
    release = ic.publish(table, ic.DistinctLDiversity(2), method=ic.Anatomy(tables="two"), seed=1)
    release.save(f"{database}#buckets")
    again = ic.open_release(f"{database}#buckets")
    assert again.count({"age": (30, 50)}) == pytest.approx(release.count({"age": (30, 50)}))
    assert again.summary["groups"] == release.summary["groups"]


def test_a_name_that_is_taken(database: str, release: ic.Release) -> None:
    place = f"{database}#taken"
    release.save(place)
    with pytest.raises(OutputError, match=r"#taken exists already.*force") as told:
        release.save(place)
    assert "s3cret" not in str(told.value)
    release.save(place, force=True)
    assert_same(release, ic.open_release(place))
    with pytest.raises(OutputError, match="a table that is no release; it is not replaced"):
        release.save(f"{database}#taken_files", force=True)


def test_a_transaction_that_breaks_leaves_nothing(
    database: str, release: ic.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(f"{database}#first")
    some = release.to_polars()[:10]

    def broken(self: object, *, runs: bool) -> Iterator[pl.DataFrame]:
        yield some
        raise OutputError("stopped half way")

    monkeypatch.setattr(type(release), "batches_to_write", broken)
    for name in ("first", "second"):
        with pytest.raises(OutputError, match="stopped half way"):
            release.save(f"{database}#{name}", force=True)
    monkeypatch.undo()
    assert_same(release, ic.open_release(f"{database}#first"))
    with pytest.raises(SourceError):
        ic.open_release(f"{database}#second")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_new_database_is_not_left_half_made(
    kind: str, release: ic.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object, *, runs: bool) -> Iterator[pl.DataFrame]:
        raise OutputError("stopped")
        yield

    monkeypatch.setattr(type(release), "batches_to_write", broken)
    with pytest.raises(OutputError, match="stopped"):
        release.save(f"{kind}:///{tmp_path / 'new.db'}#a")
    assert not list(tmp_path.glob("new.db*"))


def test_a_file_that_is_no_database(release: ic.Release, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database, whatever its name says" * 100)
    for kind in ("sqlite", "duckdb"):
        with pytest.raises(OutputError, match="cannot be written"):
            release.save(f"{kind}:///{tmp_path / 'text.db'}#a")
    assert (tmp_path / "text.db").read_text().startswith("this is no database")


def test_types_of_columns_in_databases(release: ic.Release, tmp_path: Path) -> None:
    release.save(f"sqlite:///{tmp_path / 'a.db'}#r")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        kinds = dict(connection.execute("SELECT name, type FROM pragma_table_info('r')").fetchall())
    connection.close()
    assert kinds | {"income": "REAL", "seen": "TEXT", "code": "TEXT"} == kinds
    release.save(f"duckdb:///{tmp_path / 'a.duckdb'}#r")
    with duckdb.connect(str(tmp_path / "a.duckdb"), read_only=True) as other:
        found = {row[0]: row[1] for row in other.execute("DESCRIBE r").fetchall()}
    assert found | {"income": "DOUBLE", "seen": "DATE", "code": "VARCHAR"} == found


# --- pipes, on the command line ---


def run(*words: str, place: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "incrowd", *words], cwd=place, input=given, capture_output=True, timeout=200
    )


def pipe_in(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process find bytes in its standard input, which it reads once in its life."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content)))
    monkeypatch.setattr("incrowd.sources.opening.piped", cache(piped.__wrapped__))


@pytest.mark.slow
def test_a_pipe_through_publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = "".join(f'{name} = "{role}"\n' for role in ("quasi", "sensitive", "keep") for name in ROLES[role])
    (tmp_path / "a.toml").write_text(
        f'incrowd = 1\nseed = 1\n[source]\npath = "-"\n[[models]]\nname = "k-anonymity"\nk = 5\n[columns]\n{columns}'
    )
    given = write(rows(), tmp_path, "csv").read_bytes()
    done = run("publish", "a.toml", "-o", "-", place=tmp_path, given=given)
    assert done.returncode == 0, done.stderr
    expected = ic.publish(ic.read(tmp_path / "people.csv", **ROLES), ic.KAnonymity(5), seed=1).to_polars()
    CsvSink().write(iter([expected]), tmp_path / "expected.csv", separator=",")
    assert done.stdout == (tmp_path / "expected.csv").read_bytes()
    assert b"5-anonymity" in done.stderr
    # That bytes go through a pipe is seen; the rest needs no process of its own.
    monkeypatch.chdir(tmp_path)
    pipe_in(given, monkeypatch)
    parquet = incrowd("publish", "a.toml", "-o", "-", "--format", "parquet", "-q", encoding="latin-1")
    assert pl.read_parquet(parquet.out.encode("latin-1")).height == 300
    assert incrowd("publish", "a.toml", "-o", "-", "--json").code == 2
    pipe_in(b"age,sex\n1,2\n", monkeypatch)
    broken = incrowd("publish", "a.toml", "-o", "-")
    assert broken.code != 0
    assert broken.out == ""


@pytest.mark.usefixtures("few_queries")
def test_commands_for_a_workbook_and_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(rows(), tmp_path, "xlsx")
    done = incrowd("profile", "people.xlsx", "--sheet", "data", "--header-row", "1", "-o", "a.toml")
    assert done.code == 0, done.err
    (tmp_path / "a.toml").write_text(
        'incrowd = 1\nothers = "drop"\n[source]\npath = "people.xlsx"\nsheet = "data"\n[[models]]\n'
        'name = "k-anonymity"\nk = 5\n[columns]\nage = "quasi"\nsex = "quasi"\ndx = "sensitive"\n'
    )
    assert incrowd("publish", "a.toml", "-o", "sqlite:///out.db#r", "-q").code == 0
    again = incrowd("publish", "a.toml", "-o", "sqlite:///out.db#r", "-q")
    assert (again.code, "exists already" in again.err) == (5, True)
    checked = incrowd("check", "sqlite:///out.db#r")
    assert checked.code == 0, checked.err
    assert "5-anonymity" in checked.out
    audited = incrowd("audit", "sqlite:///out.db#r", "--no-learning", "--no-remedies")
    assert audited.code == 0, audited.err
