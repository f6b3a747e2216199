"""What Spark is asked to do, seen in its own plans: each pass reads the table once, and no row meets Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from tests.engines.counted_once import counted_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

KEY = ic.PseudonymKey(bytes(range(100, 132)))


@pytest.fixture(scope="module")
def people(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFrame]:
    """A folder of three files, each of whose tallies is counted once."""
    folder = tmp_path_factory.mktemp("people")
    frame = ic.datasets.census(3000, seed=1).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    for part in range(3):
        frame[part * 1000 : (part + 1) * 1000].write_parquet(folder / f"part-{part}.parquet")
    read = spark.read.parquet(str(folder))
    with counted_once(read):
        yield read


def plan(frame: DataFrame) -> str:
    java: Any = frame._jdf
    return str(java.queryExecution().executedPlan().toString())


def scans(frame: DataFrame) -> int:
    return len(re.findall(r"FileScan|BatchScan", plan(frame)))


def release_of(people: DataFrame, **asked: Any) -> ic.Release:
    table = ic.read(
        people, quasi=["age", "sex"], sensitive=["race"], pseudonyms=["row"], keep=["salary"], others="drop"
    )
    return ic.publish(table, ic.KAnonymity(5), seed=1, pseudonym_key=KEY, **asked)


def test_the_tally_scans_the_table_once(people: DataFrame) -> None:
    from incrowd.engines.spark.counting import grouped
    from incrowd.engines.spark.source import open_spark

    counted = grouped(open_spark(people), ["age", "sex", "race"])
    assert scans(counted) == 1
    assert "Python" not in plan(counted)
    assert "salary" not in plan(counted), "columns that are not counted are not read"


@pytest.fixture
def as_it_comes(spark: SparkSession) -> Iterator[SparkSession]:
    """Let Spark choose how many pieces it makes of what it has shuffled, as it does by itself."""
    usual = {name: spark.conf.get(name) for name in ("spark.sql.adaptive.enabled", "spark.sql.shuffle.partitions")}
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    spark.conf.set("spark.sql.shuffle.partitions", "60")
    yield spark
    for name, before in usual.items():
        spark.conf.set(name, str(before))


@pytest.mark.parametrize("most", [None, 100], ids=["on the driver", "in parts"])
def test_few_lines_are_counted_in_few_tasks(people: DataFrame, as_it_comes: SparkSession, most: int | None) -> None:
    not_yet_counted = "education" if most is None else "marital"
    table = ic.read(people, quasi=["age", "sex"], sensitive=[not_yet_counted], others="drop")
    pieces = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before, context = as_it_comes.conf.get(pieces), as_it_comes.sparkContext
    context.setJobGroup(f"few lines {most}", "")
    try:
        if most is None:
            ic.publish(table, ic.KAnonymity(5), seed=1)
        else:
            as_it_comes.conf.set("spark.incrowd.driverTuples", str(most))
            ic.publish(table, ic.KAnonymity(5), method=ic.FullDomain(), seed=1)
    finally:
        as_it_comes.conf.unset("spark.incrowd.driverTuples")
        for name in ("spark.jobGroup.id", "spark.job.description"):
            context.setLocalProperty(name, None)  # type: ignore[arg-type]
    done = context.statusTracker()
    stages = {stage for job in done.getJobIdsForGroup(f"few lines {most}") for stage in done.getJobInfo(job).stageIds}
    tasks = [info.numTasks for info in map(done.getStageInfo, stages) if info is not None]
    assert 0 < max(tasks) < 60, "no stage has a task for each piece that there might be"
    assert as_it_comes.conf.get(pieces) == before


@pytest.mark.parametrize("asked", [{}, {"sample": 0.5}, {"method": ic.Mondrian(cuts="relaxed")}])
def test_applying_scans_the_table_once_without_python(people: DataFrame, asked: dict[str, Any]) -> None:
    frame = release_of(people, **asked).data
    assert scans(frame) == 1
    assert "Python" not in plan(frame)
    assert "education" not in plan(frame)


def test_a_release_of_the_tally_alone_does_not_read_the_table_again(people: DataFrame) -> None:
    table = ic.read(people, quasi=["age", "sex"], sensitive=["race"], others="drop")
    assert scans(ic.publish(table, ic.KAnonymity(5)).data) == 0


@pytest.fixture
def threshold(spark: SparkSession) -> Iterator[None]:
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(name)
    spark.conf.set(name, "1kb")
    yield
    spark.conf.set(name, str(before))


def test_a_small_lookup_is_broadcast(people: DataFrame) -> None:
    told = plan(release_of(people).data)
    assert "SortMergeJoin" not in told
    assert "BroadcastHashJoin" in told


def test_a_large_lookup_is_shuffled_and_gives_the_same(people: DataFrame, threshold: None) -> None:
    shuffled = release_of(people)
    assert "SortMergeJoin" in plan(shuffled.data)
    local = ic.read(
        people.toArrow(), quasi=["age", "sex"], sensitive=["race"], pseudonyms=["row"], keep=["salary"], others="drop"
    )
    expected = ic.publish(local, ic.KAnonymity(5), seed=1, pseudonym_key=KEY).to_polars()
    assert shuffled.to_polars().sort("row").equals(expected.sort("row"))


def test_the_key_of_pseudonyms_is_in_no_plan(people: DataFrame) -> None:
    java: Any = release_of(people).data._jdf
    told = str(java.queryExecution().toString()).upper()
    assert "HMAC_INNER" in told, "the plan is the one that makes pseudonyms"
    inner = bytes(byte ^ 0x36 for byte in KEY.secret)
    for secret in (KEY.secret, inner):
        assert secret.hex().upper()[:8] not in told
        assert " ".join(f"{byte:02X}" for byte in secret[:4]) not in told


def test_the_order_of_the_rows_leaves_no_trace(people: DataFrame, spark: SparkSession) -> None:
    backwards = people.orderBy(people["row"].desc()).coalesce(1)
    pieces = [release_of(frame).data.collect() for frame in (people, backwards)]
    assert pieces[0] == pieces[1]


def test_a_frame_keeps_its_rows_when_it_is_computed_again(people: DataFrame) -> None:
    frame = release_of(people, sample=0.5).data
    assert frame.collect() == frame.collect()


def test_odd_names_and_types(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT id % 3 AS `a.b`, CAST(id % 2 AS DECIMAL(5,2)) AS `A B`, CAST(NULL AS VOID) AS `x``y`,"
        " TIMESTAMP_NTZ '2020-01-01 10:00:00' AS `*`, id AS `group`, CAST(id AS FLOAT) AS tuple FROM range(60)"
    )
    table = ic.read(frame, quasi=["a.b", "A B", "x`y"], sensitive=["*"], keep=["group"], pseudonyms=["tuple"])
    release = ic.publish(table, ic.KAnonymity(5), pseudonym_key=KEY)
    assert release.data.columns == ["tuple", "a.b", "A B", "x`y", "*", "group"]
    assert sorted(release.to_polars()["group"].to_list()) == list(range(60))


def test_nested_columns_and_doubled_names_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ic.errors.SourceError, match=r"'xs' \(array<int>\)"):
        ic.read(spark.sql("SELECT array(1) AS xs, 1 AS y"), quasi=["y"], others="drop")
    with pytest.raises(ic.errors.SourceError, match="more than one column is named 'y'"):
        ic.read(spark.sql("SELECT 1 AS y, 2 AS y"), quasi=["y"])
    with pytest.raises(ic.errors.EmptyTable):
        ic.publish(ic.read(spark.sql("SELECT 1 AS y WHERE false"), quasi=["y"]), ic.KAnonymity(2))


def test_errors_of_spark_quote_no_value(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("SELECT CAST(concat('secret', id) AS INT) AS y FROM range(3)")
    with pytest.raises(ic.errors.SourceError, match="CAST_INVALID_INPUT") as raised:
        ic.publish(ic.read(frame, quasi=["y"]), ic.KAnonymity(2))
    assert "secret" not in str(raised.value)
