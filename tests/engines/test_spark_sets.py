"""Sets of items on Spark: the release of one machine, and what is written is judged by counting combinations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import OutputError, SchemaError, SourceError
from tests.engines.summaries import told
from tests.engines.test_engines import sorted_rows
from tests.publishing.test_items import people_with_sets, rarest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

KEY = ic.PseudonymKey(bytes(range(7, 39)))
PEOPLE = people_with_sets(300, kinds=12).with_columns(
    pid=pl.concat_str(pl.lit("P"), pl.int_range(300)),
    age=pl.col("age") // 10,  # so that people are alike
    mark=pl.int_range(300),
)
AS_TEXT = PEOPLE.with_columns(
    bought=pl.when(pl.col("mark") % 20 == 0).then(None).otherwise(pl.col("bought").list.join("| "))
)
AS_NUMBERS = PEOPLE.with_columns(
    pl.col("bought").list.eval(pl.element().str.extract(r"(\d+)").cast(pl.Int64)),
)
SETS = {"quasi": ["age", "sex"], "sensitive": ["disease"], "items": ["bought"], "others": "drop"}
ASKED = {"require": [ic.KAnonymity(10), ic.KmAnonymity(3, m=2)]}
CASES: dict[str, tuple[pl.DataFrame, dict[str, Any], dict[str, Any]]] = {
    "lists": (PEOPLE, SETS, ASKED),
    "texts": (AS_TEXT, SETS | {"item_separator": "|"}, ASKED | {"items": ic.SubtreeGeneralization()}),
    "kept columns": (PEOPLE, SETS | {"person": "pid", "keep": ["mark"]}, ASKED),
    "pseudonyms, a sample": (
        PEOPLE,
        SETS | {"person": "pid", "pseudonyms": ["pid"], "keep": ["mark"]},
        ASKED | {"sample": 0.7},
    ),
    "sensitive items": (PEOPLE, SETS | {"person": "pid"}, {"require": [ic.KAnonymity(10), ic.LKCPrivacy(2, 3, 0.8)]}),
    "nothing but sets, of numbers": (
        AS_NUMBERS,
        {"items": ["bought"], "others": "drop"},
        {"require": ic.KmAnonymity(4, m=2)},
    ),
}


def to_spark(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    from incrowd.engines.spark.arrow_batches import to_spark

    return to_spark(spark, frame).repartition(2)


def flat(frame: Any) -> pl.DataFrame:
    from incrowd.engines.spark.arrow_batches import to_polars

    rows = frame if isinstance(frame, pl.DataFrame) else to_polars(frame)
    return sorted_rows(rows.with_columns(pl.col("bought").list.join(" + ")))


@pytest.mark.parametrize("case", CASES)
def test_sets_are_those_of_one_machine(spark: SparkSession, case: str) -> None:
    frame, roles, asked = CASES[case]
    here, there = (
        ic.publish(ic.read(source, **roles), **asked, seed=8, pseudonym_key=KEY)
        for source in (frame, to_spark(spark, frame))
    )
    assert there.rows > 0
    assert told(there) == told(here)
    found = flat(there.data)
    assert found.equals(flat(here.to_polars()))
    assert found.height == there.rows


@pytest.mark.parametrize("kept", [[], ["mark"]], ids=["counted", "joined"])
def test_combinations_are_counted_in_what_spark_wrote(spark: SparkSession, tmp_path: Path, kept: list[str]) -> None:
    table = ic.read(to_spark(spark, PEOPLE), **SETS, person="pid", keep=kept)
    release = ic.publish(table, **ASKED)
    release.save(tmp_path / "lists")
    found = pl.read_parquet(tmp_path / "lists" / "data.parquet" / "*.parquet")
    assert release.data.count() == release.rows
    k, fewest = rarest([((row["age"], row["sex"]), row["bought"]) for row in found.to_dicts()], 2)
    assert k >= 10
    assert fewest >= 3
    assert fewest == release.guarantees[-1].achieved
    assert all(model.satisfied for model in ic.check(tmp_path / "lists").models)
    release.save(tmp_path / "texts", format="csv")
    parts = list((tmp_path / "texts" / "data.csv").glob("*.csv"))
    texts = pl.concat(pl.read_csv(part, infer_schema=False) for part in parts).with_columns(
        pl.col("bought").fill_null("")
    )
    assert sorted_rows(texts).equals(sorted_rows(found.with_columns(pl.col("bought").list.join(";"))))


def test_an_item_that_holds_the_separator_is_not_written_as_text(spark: SparkSession, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1, 1, 1], "bought": [["a;b", "c"]] * 4})
    table = ic.read(to_spark(spark, frame), quasi=["age"], items=["bought"])
    release = ic.publish(table, [ic.KAnonymity(2), ic.KmAnonymity(2, m=1)])
    with pytest.raises(OutputError, match="column 'bought' has items that hold"):
        release.save(tmp_path / "out", format="csv")
    assert not (tmp_path / "out").exists()
    release.save(tmp_path / "out")


def test_more_people_than_the_driver_holds_are_refused_in_words(spark: SparkSession) -> None:
    spark.conf.set("spark.incrowd.driverTuples", "299")
    try:
        for person in ((), "pid"):
            with pytest.raises(SourceError, match=r"300 people with sets of items.*299 at most.*Hint: raise"):
                ic.publish(ic.read(to_spark(spark, PEOPLE), **SETS, person=person), **ASKED)
        spark.conf.set("spark.incrowd.driverTuples", "300")
        assert ic.publish(ic.read(to_spark(spark, PEOPLE), **SETS), **ASKED).rows == 300
    finally:
        spark.conf.unset("spark.incrowd.driverTuples")


def test_what_cannot_be_is_refused_as_on_one_machine(spark: SparkSession) -> None:
    twice = pl.concat([PEOPLE, PEOPLE[:5]])
    empty = PEOPLE.clear()
    for frame in (twice, to_spark(spark, twice)):
        with pytest.raises(SchemaError, match="everybody has one row, and here some people have several"):
            ic.publish(ic.read(frame, **SETS, person="pid"), **ASKED)
        with pytest.raises(SchemaError, match=r"cannot be found again to publish 'mark'.*Hint: say whose a row is"):
            ic.publish(ic.read(frame, **SETS, keep=["mark"]), **ASKED)
        with pytest.raises(SourceError, match=r"values that are not plain: 'bought'"):
            ic.read(frame, quasi=["age"], others="drop")
    for frame in (empty, to_spark(spark, empty)):
        with pytest.raises(ic.errors.EmptyTable):
            ic.publish(ic.read(frame, **SETS), **ASKED)


def test_a_recipe_opens_lists_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    recipe = tmp_path / "people.toml"
    recipe.write_text(
        """incrowd = 1
seed = 3
[source]
path = "people.parquet"
[[models]]
name = "k-anonymity"
k = 10
[[models]]
name = "km-anonymity"
k = 3
m = 2
[columns]
pid = "person-pseudonym"
age = "quasi"
sex = "quasi"
disease = "sensitive"
bought = "items"
mark = "keep"
"""
    )
    rows = [ic.Recipe.load(recipe).run(session=session) for session in (None, spark)]
    assert told(rows[0]) == told(rows[1])
    refused = recipe.read_text().replace('"items"', '"keep"').partition('[[models]]\nname = "km')
    recipe.write_text(refused[0] + refused[2].partition("m = 2\n")[2])
    for session in (None, spark):
        with pytest.raises(SourceError, match="values that are not plain: 'bought'"):
            ic.Recipe.load(recipe).run(session=session)
