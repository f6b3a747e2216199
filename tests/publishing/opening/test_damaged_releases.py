"""Releases that lack something, hold something else or contradict themselves: each is refused in words."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import IncrowdError, RecipeError, SchemaError, SourceError
from tests.cli.command import incrowd

PEOPLE = pl.DataFrame({"age": [20, 20, 30, 30] * 4, "ill": ["flu", "cold"] * 8})


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases in several forms."""
    place = tmp_path_factory.mktemp("whole")
    declared = {"age": ic.Categories((("20",), ("30",))), "ill": ic.Categories((("flu",), ("cold",)))}
    table = ic.read(PEOPLE, quasi=["age"], sensitive=["ill"], hierarchies=declared)
    ic.publish(table, ic.KAnonymity(2), method=ic.FullDomain()).save(place / "generalized")
    ic.publish(table, ic.ProbabilisticLDiversity(2), method=ic.Anatomy()).save(place / "bucketized")
    ic.publish(table, ic.KAnonymity(2), method=ic.FullDomain(), form=ic.ShowMultisets()).save(place / "multisets")
    ic.publish(table, method=ic.FlatHistogram(9), seed=1).save(place / "noisy")
    return place


@pytest.fixture
def copy(releases: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of one of them, to damage."""
    return lambda name: Path(shutil.copytree(releases / name, tmp_path / name))


def edit(release: Path, change: Callable[[dict[str, Any]], object]) -> None:
    summary = json.loads((release / "summary.json").read_text())
    change(summary)
    (release / "summary.json").write_text(json.dumps(summary))


def refused(release: Path, kind: type[IncrowdError], words: str) -> None:
    """Both ways to read it say the same, in one line."""
    with pytest.raises(kind, match=words):
        ic.open_release(release)
    done = incrowd("audit", release, "--no-learning")
    assert (done.code, len(done.err.splitlines())) == (3, 1), done


@pytest.mark.parametrize("name", ["generalized", "bucketized", "multisets", "noisy"])
def test_what_is_whole_is_read(releases: Path, name: str) -> None:
    written = json.loads((releases / name / "summary.json").read_text())
    opened = ic.open_release(releases / name).summary
    assert (opened["rows"]["published"], opened["groups"]) == (written["rows"]["published"], written["groups"])


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"rows": NaN}', b"[" * 100_000, b'{"rows": ' + b"9" * 5000 + b"}"],
    ids=lambda text: repr(text[:10]),
)
def test_a_summary_that_is_none(copy: Callable[[str], Path], text: bytes) -> None:
    release = copy("noisy")
    (release / "summary.json").write_bytes(text)
    refused(release, SourceError, r"summary\.json is damaged")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told.update(rows=5), "rows should be a table"),
        (lambda told: told["rows"].pop("published"), "rows: published should be a whole number"),
        (lambda told: told["rows"].update(published=True), "rows: published should be a whole number"),
        (lambda told: told["rows"].update(published=10**400), "rows: published should be a whole number"),
        (lambda told: told["rows"].update({"sampling rate": "1e99999"}), "sampling rate should be a number above 0"),
        (lambda told: told["rows"].update({"sampling rate": 0}), "sampling rate should be a number above 0"),
        (lambda told: told["rows"].update(published=17), "17 rows, and there are 16"),
        (lambda told: told["groups"].update(number=3), "3 groups, and there are 2"),
        (lambda told: told["groups"].update(smallest=1), "1 rows in the smallest group, and there are 8"),
        (lambda told: told.update(groups=[]), "groups should be a table"),
        (lambda told: told.update(form="sorted"), "form should be one of bucketized, "),
        (lambda told: told.update(form=[]), "form should be one of"),
        (lambda told: told.update(loss=3), "loss should be a table"),
        (lambda told: told["loss"].update(columns=["age"]), "loss: columns should be lists of names"),
        (lambda told: told.update(guarantees={}), "guarantees should be a list"),
        (lambda told: told.update(guarantees=[1]), "each of the guarantees should be a table"),
        (lambda told: told.update(guarantees=[{"basis": "by construction"}]), "a statement with its basis"),
        (lambda told: told["guarantees"][0].update(achieved="x"), "what is achieved should be a number"),
    ],
)
def test_a_summary_that_says_what_cannot_be(
    copy: Callable[[str], Path], change: Callable[[dict[str, Any]], object], words: str
) -> None:
    release = copy("generalized")
    edit(release, change)
    refused(release, SourceError, words)


@pytest.mark.parametrize("kind", ["gone", "pipe", "directory", "loop", "device"])
@pytest.mark.parametrize("name", ["summary.json", "recipe.toml", "data.csv"])
def test_what_is_no_file(copy: Callable[[str], Path], kind: str, name: str) -> None:
    release = copy("generalized")
    path = release / name
    path.unlink()
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "loop":
            path.symlink_to(name)
        case "device":
            path.symlink_to("/dev/zero")
    refused(
        release,
        IncrowdError,
        "there is no|cannot be read|does not say|not a file|not an ordinary file|no data file|holds no",
    )


def test_fewer_rows_than_were_published(copy: Callable[[str], Path]) -> None:
    release = copy("noisy")
    lines = (release / "data.csv").read_text().splitlines(keepends=True)
    (release / "data.csv").write_text("".join(lines[:-1]))
    refused(release, SourceError, "contradicts itself")


def test_two_tables_of_which_one_is_another_s(copy: Callable[[str], Path]) -> None:
    release = copy("generalized")
    PEOPLE.write_parquet(release / "data.parquet")
    refused(release, SourceError, r"holds both data\.csv and data\.parquet")


@pytest.mark.parametrize(("name", "table"), [("bucketized", "sensitive"), ("noisy", "counts"), ("noisy", "measured")])
def test_a_table_of_the_form_is_missing(copy: Callable[[str], Path], name: str, table: str) -> None:
    release = copy(name)
    (release / f"{table}.csv").unlink()
    refused(release, SourceError, f"there is no table '{table}' in it")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (pl.col("count").cast(pl.Int64) * 2, "do not add up"),
        (pl.col("count").cast(pl.Int64) * 10**12, "do not add up"),
        (-pl.col("count").cast(pl.Int64), "do not add up"),
        (pl.lit("many").alias("count"), "do not add up"),
        (pl.lit(None, dtype=pl.String).alias("count"), "do not add up"),
        (pl.lit("0").alias("bucket"), "same number of rows in every bucket"),
        (pl.col("ill").alias("illness"), "no column 'ill'"),
        (pl.col("bucket").alias("pail"), "no column 'bucket'"),
    ],
    ids=str,
)
def test_sensitive_values_that_do_not_fit_their_buckets(
    copy: Callable[[str], Path], change: pl.Expr, words: str
) -> None:
    release = copy("bucketized")
    frame = pl.read_csv(release / "sensitive.csv", infer_schema=False)
    made = frame.with_columns(change)
    if made.width > frame.width:
        made = made.drop(change.meta.root_names())
    made.write_csv(release / "sensitive.csv")
    refused(release, SchemaError, words)


@pytest.mark.parametrize("label", ["20:1", "20:99999999999999", "20:" + "9" * 5000, '"\\x":8', "", "20"])
def test_multisets_that_do_not_fit_their_buckets(copy: Callable[[str], Path], label: str) -> None:
    release = copy("multisets")
    frame = pl.read_csv(release / "data.csv", infer_schema=False)
    frame.with_columns(pl.lit(label).alias("age")).write_csv(release / "data.csv")
    refused(release, SchemaError, "its multisets do not have as many values")


def test_a_multiset_that_is_written_in_two_ways(copy: Callable[[str], Path]) -> None:
    release = copy("multisets")
    frame = pl.read_csv(release / "data.csv", infer_schema=False).sort("bucket")
    labels = [*frame["age"].to_list()[:-1], "20:1"]
    frame.with_columns(pl.Series("age", labels)).write_csv(release / "data.csv")
    refused(release, SchemaError, "its multisets do not have as many values")


def test_rows_in_no_bucket(copy: Callable[[str], Path]) -> None:
    release = copy("bucketized")
    frame = pl.read_csv(release / "data.csv", infer_schema=False)
    buckets = [None, "x", *frame["bucket"].to_list()[2:]]
    frame.with_columns(pl.Series("bucket", buckets)).write_csv(release / "data.csv")
    refused(release, SchemaError, "there are rows in no bucket")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the columns are not described"),
        ("incrowd = 1\ncolumns = 3", "the columns are not described"),
        ('source = "x"\n', r"\[source\] is a table"),
        ('models = "k-anonymity"\n', r"\[\[models\]\] is a list"),
        ("source = { encoding = inf }\n", "encoding is a text"),
        ('source = { missing = "?" }\n', "missing is a list of texts"),
        ("slices = 5\n", "slices are lists of columns' names"),
        ("slices = [[1]]\n", "slices are lists of columns' names"),
        ('method = { name = "full-domain", min_levels = 3 }\n', "wrong kind|levels"),
        ("x = " + "[" * 5000, "not TOML"),
    ],
    ids=lambda text: text[:20],
)
def test_a_recipe_that_says_what_cannot_be(copy: Callable[[str], Path], text: str, words: str) -> None:
    release = copy("generalized")
    if text and "columns" not in text.partition("\n")[2]:
        text += '\n[columns]\nage = "quasi"\nill = "sensitive"\n'
    (release / "recipe.toml").write_text(text)
    refused(release, RecipeError, words)


@pytest.mark.parametrize("place", ["nowhere", "n" * 300, "loop", "a\0b"])
def test_a_place_that_is_none(tmp_path: Path, place: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SourceError, match="cannot be read"):
        ic.open_release(tmp_path / place)


def test_a_summary_that_is_lost_is_missed_unless_the_columns_are_described(copy: Callable[[str], Path]) -> None:
    release = copy("generalized")
    (release / "summary.json").unlink()
    refused(release, SourceError, "there is no file summary.json in it")
    assert ic.open_release(release, description=release / "recipe.toml").rows == 16


def test_a_sensitive_column_in_both_tables(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["flu", "cold", "gout", "acne"]})
    table = ic.read(frame, quasi=["age"], sensitive=["ill"])
    data = ic.publish(table, ic.LDiversity(2), method=ic.Anatomy()).save(tmp_path / "out", format="arrow")
    pl.read_ipc(data.read_bytes()).with_columns(ill=pl.lit("flu")).write_ipc(data)
    with pytest.raises(SchemaError, match="'ill' is in both tables"):
        ic.open_release(tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines[:-1], "not as it was written"),
        (lambda lines: lines.drop("places"), "no column 'places'"),
        (lambda lines: lines.with_columns(places=pl.lit("0-0 0")), "not as it was written"),
        (lambda lines: lines.with_columns(places=pl.lit("0-999")), "not as it was written"),
        (lambda lines: lines.with_columns(estimate=pl.lit("many")), "not as it was written"),
        (lambda lines: lines.with_columns(box=pl.lit("0")), "not as it was written"),
        (lambda lines: lines.with_columns(within=pl.col("box")), "not as it was written"),
    ],
)
def test_what_was_counted_is_damaged(
    copy: Callable[[str], Path], change: Callable[[pl.DataFrame], pl.DataFrame], words: str
) -> None:
    release = copy("noisy")
    path = release / "measured.csv"
    change(pl.read_csv(path, infer_schema=False)).write_csv(path)
    refused(release, SourceError, words)
