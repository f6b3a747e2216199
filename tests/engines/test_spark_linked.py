"""Linked tables on Spark: the release of one machine, written by Spark, and judged by whoever joins its files."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import OutputError, SchemaError, SourceError, TallyTooLarge
from tests.engines.summaries import told
from tests.engines.test_engines import sorted_rows
from tests.publishing.linked_files import require_hidden
from tests.publishing.test_linked import PEOPLE, VISITS, made_up_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KEY = ic.PseudonymKey(bytes(range(3, 35)))
TABLES = made_up_tables()
DAYS = np.random.default_rng(2).integers(0, 900, VISITS)
# Some keys are spelt with a space behind them, and some visits have no date.
TABLES["visits"] = TABLES["visits"].with_columns(
    pid=pl.when(pl.int_range(VISITS) % 7 == 0).then(pl.col("pid") + " ").otherwise("pid"),
    day=pl.when(pl.int_range(VISITS) % 11 > 0).then(
        pl.lit(date(2020, 1, 1)) + pl.duration(days=pl.Series(DAYS)),
    ),
)
MODELS = [ic.KAnonymity(8), ic.ProbabilisticLDiversity(1.4), ic.KmAnonymity(3, m=2)]
DATES = {"dates": {"day": ic.ShiftDates(30)}}


HELD: dict[str, Any] = {}
"""The tables on Spark, which holds them in two parts each."""


def to_spark(spark: SparkSession, frame: pl.DataFrame) -> Any:
    from incrowd.engines.spark.arrow_batches import to_spark

    return to_spark(spark, frame).repartition(2)


def linked(spark: SparkSession | None, *, held: bool = True, **of_visits: Any) -> ic.Table:
    if spark is not None and not HELD:
        HELD.update({name: to_spark(spark, one).cache() for name, one in TABLES.items()})
    frames = TABLES if spark is None else HELD
    if spark is not None and not held:  # other rows first: of equal ones, Spark would take those that it holds
        frames = {name: to_spark(spark, one.reverse()) for name, one in TABLES.items()}
    return ic.read_tables(
        ic.read(frames["people"], person="pid", quasi=["age", "sex"], sensitive=["blood"]),
        visits=ic.read(
            frames["visits"], person="pid", sensitive=["disease"], others="drop", **{"keep": ["ward"], **of_visits}
        ),
        bought=ic.read(frames["bought"], person="pid", items=["item"]),
    )


@pytest.fixture(scope="module")
def release(spark: SparkSession) -> ic.Release:
    """Visits with a kept column and dates that are shifted."""
    return ic.publish(linked(spark, **DATES), MODELS, seed=6, pseudonym_key=KEY)


def require_same(there: ic.Release, here: ic.Release) -> None:
    assert told(there) == told(here)
    assert sorted_rows(there.data).equals(sorted_rows(here.to_polars()))
    assert list(there.tables) == ["visits", "bought"]
    for name in there.tables:
        assert sorted_rows(there.tables[name]).equals(sorted_rows(here.tables[name]))
        assert there.tables[name].columns == here.tables[name].columns


def test_tables_are_those_of_one_machine(release: ic.Release) -> None:
    require_same(release, ic.publish(linked(None, **DATES), MODELS, seed=6, pseudonym_key=KEY))


def test_tables_of_a_sample_are_those_of_one_machine_where_some_are_withheld(spark: SparkSession) -> None:
    since = {"keep": [], "dates": {"day": ic.DatesSinceFirst("weeks")}}
    asked: dict[str, Any] = {"method": ic.FullDomain(max_withheld=0.2), "sample": 0.6}
    here, there = (
        ic.publish(linked(session, **since), MODELS[::2], seed=9, pseudonym_key=KEY, **asked)
        for session in (None, spark)
    )
    assert here.summary["rows"]["withheld"] > 0
    require_same(there, here)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_naive_adversary_who_joins_the_files_that_spark_wrote(release: ic.Release, tmp_path: Path, form: str) -> None:
    release.save(tmp_path / "out", format=form)

    def rows(name: str) -> list[dict[str, Any]]:
        parts = sorted((tmp_path / "out" / f"{name}.{form}").glob(f"*.{form}"))
        read = pl.read_parquet if form == "parquet" else pl.read_csv
        return pl.concat([read(part) for part in parts]).to_dicts()

    people, visits, bought = rows("data"), rows("visits"), rows("bought")
    assert (len(people), len(visits)) == (PEOPLE, VISITS)
    require_hidden(people, visits, bought, keys=TABLES["people"]["pid"], k=8, share=1 / 1.4, shown_by=3)
    if form == "parquet":
        found = {model.statement: model.satisfied for model in ic.check(tmp_path / "out").models}
        assert found == {str(model): True for model in MODELS}


def test_neither_python_nor_columns_that_are_not_wanted(spark: SparkSession) -> None:
    release = ic.publish(linked(spark, held=False, keep=[]), MODELS, pseudonym_key=KEY)
    plan = str(release.tables["visits"]._jdf.queryExecution().executedPlan().toString())
    assert "Python" not in plan
    assert "Arrow" not in plan
    assert "ward" not in plan
    assert release.tables["visits"].collect() == release.tables["visits"].collect()


def test_events_that_change_are_not_published(spark: SparkSession, tmp_path: Path) -> None:
    TABLES["people"].write_parquet(tmp_path / "people.parquet")
    TABLES["visits"].write_parquet(tmp_path / "visits.parquet")
    visits = spark.read.parquet(str(tmp_path / "visits.parquet"))
    release = ic.publish(
        ic.read_tables(
            ic.read(spark.read.parquet(str(tmp_path / "people.parquet")), person="pid", quasi=["age"], others="drop"),
            visits=ic.read(visits, person="pid", sensitive=["disease"], others="drop"),
        ),
        ic.KAnonymity(5),
    )
    TABLES["visits"][1:].write_parquet(tmp_path / "visits.parquet")
    with pytest.raises(SourceError, match="has changed since its rows were counted"):
        release.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_flat_table_is_split_on_spark(spark: SparkSession) -> None:
    flat = TABLES["visits"].with_columns(pl.col("pid").str.strip_chars()).join(TABLES["people"], on="pid")
    given: dict[str, Any] = {"person": "pid", "quasi": ["age", "sex"], "sensitive": ["blood", "disease"]}
    given |= {"keep": ["ward"], **DATES}
    here, there = (
        ic.publish(
            ic.split_rows(ic.read(frame, **given), "visits"),
            [ic.KAnonymity(5), ic.ProbabilisticLDiversity(1.2)],
            seed=1,
            pseudonym_key=KEY,
        )
        for frame in (flat, to_spark(spark, flat))
    )
    assert there.data.columns == ["pid", "age", "sex", "blood"]
    assert sorted_rows(there.data).equals(sorted_rows(here.to_polars()))
    assert sorted_rows(there.tables["visits"]).equals(sorted_rows(here.tables["visits"]))
    # A column that is there in one row and missing in another of the same person changes.
    gaps = pl.DataFrame({"pid": [1, 1, 2, 2, 3], "age": [5] * 5, "x": [1, None, 2, 2, None], "y": ["a"] * 5})
    for frame in (gaps, to_spark(spark, gaps)):
        split = ic.split_rows(ic.read(frame, person="pid", quasi=["age"], sensitive=["x", "y"]), "rows")
        assert (tuple(split.schema.sensitive), tuple(split.schema.events)) == (("y",), ("x",))
    changed = to_spark(spark, gaps.with_columns(age=pl.Series([5, 6, 5, 5, 5])))
    with pytest.raises(SchemaError, match="'age' changes from row to row"):
        ic.split_rows(ic.read(changed, person="pid", quasi=["age"], sensitive=["x", "y"]))


def test_recipes_name_linked_tables_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    TABLES["people"].write_csv(tmp_path / "people.csv")
    TABLES["visits"].write_parquet(tmp_path / "visits.parquet")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """incrowd = 1
seed = 2
[source]
path = "people.csv"
[[models]]
name = "k-anonymity"
k = 6
[columns]
pid = "person"
age = "quasi"
sex = "quasi"
blood = "sensitive"
[tables.visits]
path = "visits.parquet"
others = "drop"
columns = { pid = "person", disease = "sensitive", day = { role = "date", date = { kind = "truncate" } } }
"""
    )
    here, there = (ic.Recipe.load(recipe).run(session=session) for session in (None, spark))
    assert told(there) == told(here)
    there.save(tmp_path / "out")
    again = ic.Recipe.load(tmp_path / "out" / "recipe.toml").run(session=spark)
    assert again.tables["visits"].columns == ["pid", "disease", "day"]


def test_a_linked_release_is_replaced_on_other_file_systems(
    release: ic.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incrowd.engines.spark import saving

    monkeypatch.setattr(saving, "_HERE", "nowhere://")  # as if it were none of this machine's
    place = f"file://{tmp_path}/out"
    release.save(place)
    release.save(place, force=True)
    assert (tmp_path / "out" / "visits.parquet").is_dir()
    (tmp_path / "out" / "notes.parquet").write_text("mine")
    with pytest.raises(OutputError, match="holds other files besides"):
        release.save(place, force=True)


def test_mistakes(spark: SparkSession) -> None:
    people = ic.read(to_spark(spark, TABLES["people"]), person="pid", quasi=["age"], others="drop")
    visits = ic.read(to_spark(spark, TABLES["visits"]), person="pid", sensitive=["disease"], others="drop")
    few = ic.read(to_spark(spark, TABLES["people"][:50]), person="pid", quasi=["age"], others="drop")
    with pytest.raises(SchemaError, match="not in the table of people"):
        ic.publish(ic.read_tables(few, visits=visits), ic.KAnonymity(2))
    here = ic.read(TABLES["visits"], person="pid", sensitive=["disease"], others="drop")
    with pytest.raises(SchemaError, match="'visits' is on the engine local, and the people are on spark"):
        ic.read_tables(people, visits=here)
    spark.conf.set("spark.incrowd.driverTuples", str(PEOPLE))
    try:
        with pytest.raises(TallyTooLarge):  # people and their diseases are more than people
            ic.publish(ic.read_tables(people, visits=visits), ic.KAnonymity(2))
    finally:
        spark.conf.unset("spark.incrowd.driverTuples")
    late = TABLES["visits"].with_columns(day=pl.lit(date(9999, 12, 30)))
    dated = ic.read(to_spark(spark, late), person="pid", sensitive=["disease"], others="drop", **DATES)
    with pytest.raises(SchemaError, match="too near to the ends of the calendar"):
        ic.publish(ic.read_tables(people, visits=dated), ic.KAnonymity(2))
