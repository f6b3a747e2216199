"""Values on their way through Spark: what is published, written and coded is what one machine makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import FormulaWarning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = 60
PLACE = pl.int_range(ROWS, eager=True)
SPELLINGS = ["HIV", "HIV ", "HIV\u00a0", "Ren\u00e9", "Rene\u0301", " Ren\u00e9"]
START = datetime(2020, 3, 8, 1, 30, 0, 123456)  # clocks change in New York
FRAME = pl.DataFrame(
    {
        "q": PLACE % 6,
        "local": [START + timedelta(hours=number) for number in range(ROWS)],
        "instant": pl.Series([START + timedelta(hours=number) for number in range(ROWS)]).dt.replace_time_zone("UTC"),
        "decimal": pl.Series([Decimal(f"0.123456789012345678{number:02}") for number in range(ROWS)]),
        "big": PLACE + 2**60,
        "lasted": [timedelta(seconds=number, microseconds=7) for number in range(ROWS)],
        "text": [SPELLINGS[number % 6] for number in range(ROWS)],
        "formula": ["=1+1" if number % 3 else "-5" for number in range(ROWS)],
        "s": (PLACE % 3).cast(pl.String),
    }
)
VALUES = ("local", "instant", "decimal", "big", "lasted", "text")
FORMS: dict[str, dict[str, Any]] = {
    "anatomy": {"require": ic.LDiversity(2), "method": ic.Anatomy()},
    "slicing": {"require": ic.SlicedDiversity(2), "method": ic.Slicing()},
    "labels": {"require": ic.KAnonymity(2)},
}
KEY = ic.PseudonymKey(bytes(range(32)))


ZONES = ("America/New_York", "Asia/Kolkata")


@pytest.fixture(params=ZONES)
def zoned(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """A session in a zone of its own."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", str(before))


def on_spark(session: SparkSession) -> Any:
    from incrowd.engines.spark.arrow_batches import to_spark

    return to_spark(session, FRAME)


def told_apart(frame: Any) -> pl.DataFrame:
    """Rows in one order, with instants in one zone."""
    from incrowd.engines.spark.arrow_batches import to_polars

    rows: pl.DataFrame = frame if isinstance(frame, pl.DataFrame) else to_polars(frame)
    aware = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Datetime) and kind.time_zone]
    rows = rows.with_columns(pl.col(aware).dt.convert_time_zone("UTC")) if aware else rows
    return rows.sort(rows.columns)


@pytest.mark.parametrize("form", FORMS)
def test_no_value_changes_on_the_way(form: str, zoned: SparkSession, tmp_path: Path) -> None:
    """Quasi-identifiers and sensitive values of every kind, in every form, in the frame and in Parquet."""
    # A zone can change nothing but times: all other values go through one of them, and times in both roles.
    first = zoned.conf.get("spark.sql.session.timeZone") == ZONES[0]
    values = VALUES if first else ("local", "instant")
    # Durations are texts where they are quasi-identifiers.
    turns = (*values[:2], "lasted") if form == "anatomy" else values[:2]
    for alone in turns if first else ("instant",):
        others = [name for name in values if name != alone]
        given: dict[str, Any] = {"quasi": others, "sensitive": [alone]}
        if form == "slicing" and alone == "instant":
            given = {"quasi": [alone], "sensitive": others}
        if form == "labels":  # every value is kept once, and sensitive once
            given = {"quasi": ["q"], "sensitive": [alone], "keep": others}
            if alone == "instant":
                given |= {"sensitive": [alone, *others[1:]], "keep": others[:1]}
        expected = ic.publish(ic.read(FRAME, **given, others="drop"), **FORMS[form], seed=5)
        release = ic.publish(ic.read(on_spark(zoned), **given, others="drop"), **FORMS[form], seed=5)
        assert told_apart(release.data).equals(told_apart(expected.to_polars())), alone
        for name, table in expected.tables.items():
            assert release.tables[name].equals(table) or told_apart(release.tables[name]).equals(told_apart(table))
        release.save(tmp_path / alone, format="parquet")
        written = {name: tmp_path / alone / f"{name}.parquet" / "*.parquet" for name in ("data", *expected.tables)}
        for name, path in written.items():
            table = expected.to_polars() if name == "data" else expected.tables[name]
            # Parquet has no type for durations: Spark writes their microseconds.
            assert told_apart(pl.read_parquet(path)).equals(told_apart(table.cast({pl.Duration: pl.Int64}))), alone


@pytest.mark.parametrize("zoned", ZONES[:1], indirect=True)
def test_csv_holds_what_one_machine_writes(zoned: SparkSession, tmp_path: Path) -> None:
    given: dict[str, Any] = {"quasi": ["q"], "sensitive": ["s"], "keep": ["local", "decimal", "big", "lasted", "text"]}
    ic.publish(ic.read(FRAME, **given, others="drop"), ic.KAnonymity(2), seed=5).save(tmp_path / "one", format="csv")
    release = ic.publish(ic.read(on_spark(zoned), **given, others="drop"), ic.KAnonymity(2), seed=5)
    release.save(tmp_path / "many", format="csv")
    expected = pl.read_csv(tmp_path / "one" / "data.csv", infer_schema=False)
    assert told_apart(_written(tmp_path / "many")).equals(told_apart(expected))


def test_csv_tells_instants_with_their_offset(zoned: SparkSession, tmp_path: Path) -> None:
    table = ic.read(on_spark(zoned), quasi=["q"], sensitive=["instant"], others="drop")
    ic.publish(table, ic.KAnonymity(2)).save(tmp_path / "out", format="csv")
    found = _written(tmp_path / "out")["instant"].str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z")
    assert sorted(found.dt.convert_time_zone("UTC")) == sorted(FRAME["instant"])


@pytest.mark.parametrize("zoned", ZONES[1:], indirect=True)
def test_one_key_gives_one_code_everywhere(zoned: SparkSession) -> None:
    given: dict[str, Any] = {"quasi": ["q"], "sensitive": ["s"], "pseudonyms": list(VALUES), "others": "drop"}
    given["each_row_a_person"] = True
    expected = ic.publish(ic.read(FRAME, **given), ic.KAnonymity(2), seed=5, pseudonym_key=KEY)
    release = ic.publish(ic.read(on_spark(zoned), **given), ic.KAnonymity(2), seed=5, pseudonym_key=KEY)
    assert told_apart(release.data).equals(told_apart(expected.to_polars()))


def test_texts_that_look_alike_are_one_value(spark: SparkSession) -> None:
    for exact, number in ((False, 3), (True, 7)):
        table = ic.read(on_spark(spark), quasi=["q"], sensitive=["text"], others="drop", exact_text=exact)
        assert table.engine.count(table.schema).tally.trees["text"].size == number


def test_texts_look_alike_also_where_the_tally_stays_on_spark(spark: SparkSession) -> None:
    spark.conf.set("spark.incrowd.driverTuples", "20")
    try:
        table = ic.read(on_spark(spark), quasi=["big"], sensitive=["text"], others="drop")
        release = ic.publish(table, [ic.KAnonymity(2), ic.LDiversity(2)])
        assert told_apart(release.data)["text"].n_unique() == 2
    finally:
        spark.conf.unset("spark.incrowd.driverTuples")


def test_words_that_are_missing(spark: SparkSession) -> None:
    words = ["NaN", "nan", " ", "NA", "NULL", "None", "?", "? ", "Nan", "x"]
    frame = spark.createDataFrame([("a", word) for word in words], "q string, s string")
    for missing, expected in (
        ((), {None, "NA", "NULL", "None", "?", "Nan", "x"}),
        (("?", " NA"), {None, "NULL", "None", "Nan", "x"}),
    ):
        table = ic.read(frame, quasi=["q"], sensitive=["s"], missing=missing)
        assert set(table.engine.count(table.schema).tally.trees["s"].values) == expected


def test_formulas_are_told_of_and_made_plain_text(spark: SparkSession, tmp_path: Path) -> None:
    frame = on_spark(spark).withColumnRenamed("formula", "=f.x")
    table = ic.read(frame, quasi=["q"], sensitive=["s"], keep=["=f.x"], others="drop")
    release = ic.publish(table, ic.KAnonymity(2))
    with pytest.warns(FormulaWarning, match=r"=f.x \(41\)"):
        release.save(tmp_path / "told", format="csv")
    assert "=f.x (41)" in json.loads((tmp_path / "told" / "summary.json").read_text())["warnings"][-1]
    release.save(tmp_path / "safe", format="csv", spreadsheet_safe=True)
    written = _written(tmp_path / "safe")
    assert set(written["'=f.x"]) == {"'=1+1", "-5"}
    assert ic.Recipe.load(tmp_path / "safe" / "recipe.toml").output["spreadsheet_safe"] is True


def _written(release: Path) -> pl.DataFrame:
    parts = [path for path in (release / "data.csv").glob("*.csv") if path.stat().st_size]
    return pl.concat([pl.read_csv(path, infer_schema=False) for path in parts])
