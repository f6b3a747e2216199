"""Releases that Spark writes: whole, or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import OutputError, SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.engines.conftest import Cluster

pytestmark = pytest.mark.spark

FRAME = ic.datasets.census(1200, seed=5).select("age", "sex", "race", "salary")


def release_of(frame: Any, **given: Any) -> ic.Release:
    table = ic.read(frame, quasi=["age", "sex"], **({"sensitive": ["race"], "keep": ["salary"]} | given))
    return ic.publish(table, ic.KAnonymity(5), seed=1)


@pytest.fixture(scope="module")
def release(spark: SparkSession) -> ic.Release:
    from incrowd.engines.spark.arrow_batches import to_spark

    return release_of(to_spark(spark, FRAME).repartition(2))


def rows(path: object) -> pl.DataFrame:
    files = sorted(Path(str(path)).glob("*.csv"))
    parts = [pl.read_csv(file, infer_schema=False) for file in files] or [pl.read_parquet(f"{path}/*.parquet")]
    frame = pl.concat(parts)
    return frame.sort(frame.columns)


def test_a_release_in_parts(release: ic.Release, tmp_path: Path) -> None:
    data = release.save(tmp_path / "out")
    assert data == tmp_path / "out" / "data.parquet"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "data.parquet",
        "labels.json",
        "recipe.toml",
        "summary.json",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left beside it"
    expected = release_of(FRAME).to_polars()
    assert rows(data).equals(expected.sort(expected.columns))
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == release.summary
    again = ic.read(data, quasi=["age", "sex"], sensitive=["race"], keep=["salary"])
    assert again.engine.count(again.schema).tally.rows == 1200, "one machine reads the parts as one table"


def test_csv_in_parts(release: ic.Release, tmp_path: Path) -> None:
    data = release.save(tmp_path / "out", format="csv")
    expected = release_of(FRAME).to_polars().select(pl.all().cast(pl.String))
    assert rows(data).equals(expected.sort(expected.columns))


def test_a_place_that_is_taken(release: ic.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    with pytest.raises(OutputError, match="exists already"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", force=True)
    with pytest.raises(OutputError, match="Spark does not write 'arrow'"):
        release.save(tmp_path / "other", format="arrow")
    (tmp_path / "out" / "note.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds other files"):
        release.save(tmp_path / "out", force=True)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this machine's file system for one of Hadoop's."""
    from incrowd.engines.spark import saving

    monkeypatch.setattr(saving, "_HERE", "nowhere://")


def test_an_address_of_this_machine_is_a_path(release: ic.Release, tmp_path: Path) -> None:
    place: Any = (tmp_path / "an out").as_uri()
    assert str(release.save(place)) == f"{place}/data.parquet"
    release.save(tmp_path / "an out", force=True)
    assert {path.name for path in (tmp_path / "an out").iterdir()} == {
        "data.parquet",
        "labels.json",
        "recipe.toml",
        "summary.json",
    }


@pytest.mark.usefixtures("elsewhere")
def test_what_appears_in_the_meantime_or_holds_other_files_stays(
    release: ic.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incrowd.engines.spark import saving

    place: Any = (tmp_path / "out").as_uri()
    write = saving._write_tables

    def meanwhile(*given: Any) -> None:
        write(*given)
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "thesis.txt").write_text("mine")

    monkeypatch.setattr(saving, "_write_tables", meanwhile)
    with pytest.raises(OutputError, match="exists already"):
        release.save(place)
    with pytest.raises(OutputError, match="holds other files besides"):
        release.save(place, force=True)
    assert [path.name for path in tmp_path.rglob("*") if path.suffix != ".crc"] == ["out", "thesis.txt"]


@pytest.mark.usefixtures("elsewhere")
def test_a_release_that_stepped_aside_for_a_run_that_died_is_put_back(release: ic.Release, tmp_path: Path) -> None:
    place: Any = (tmp_path / "out").as_uri()
    release.save(place)
    (tmp_path / "out").rename(tmp_path / ".out.0123456789ab.old")
    with pytest.raises(OutputError, match="exists already"):
        release.save(place)
    assert rows(tmp_path / "out" / "data.parquet").height == 1200
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".crc"] == ["out"]


@pytest.mark.usefixtures("elsewhere")
def test_a_file_system_of_sparks_own(release: ic.Release, tmp_path: Path) -> None:
    place: Any = (tmp_path / "out").as_uri()
    assert str(release.save(place)) == f"{place}/data.parquet"
    assert {path.name for path in (tmp_path / "out").iterdir() if path.suffix != ".crc"} >= {
        "data.parquet", "labels.json", "recipe.toml", "summary.json",
    }  # fmt: skip
    assert rows(tmp_path / "out" / "data.parquet").height == 1200
    with pytest.raises(OutputError, match="exists already"):
        release.save(place)
    release.save(place, force=True)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".crc"] == ["out"]
    with pytest.raises(OutputError, match="no access to this file system"):
        release.save("nosuch://host/out")


def test_a_place_that_cannot_rename(release: ic.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from incrowd.engines.spark import saving

    monkeypatch.setattr(saving, "_HERE", "nowhere://")
    monkeypatch.setattr(saving, "_RENAMES_AT_ONCE", ())
    place: Any = (tmp_path / "out").as_uri()
    release.save(place)
    release.save(place, force=True)
    assert rows(tmp_path / "out" / "data.parquet").height == 1200
    assert (tmp_path / "out" / "summary.json").stat().st_mtime >= (tmp_path / "out" / "recipe.toml").stat().st_mtime


def test_a_table_that_changed_after_it_was_counted_is_not_written(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    FRAME.write_parquet(source)
    made = release_of(spark.read.parquet(str(source)))
    # One person moves to another group: neither rows nor values are new.
    FRAME.with_columns(
        age=pl.when(pl.int_range(pl.len()) == 0).then(FRAME["age"].mode()[0]).otherwise("age"),
        sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("Female")).otherwise("sex"),
    ).write_parquet(source)
    spark.catalog.refreshByPath(str(source))
    with pytest.raises(SourceError, match="changed since its rows were counted"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"people.parquet"}


def test_noisy_counts_have_tables_besides_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    from incrowd.engines.spark.arrow_batches import to_spark

    trees = {"sex": ic.Categories.from_tree(["Female", "Male"])}
    table = ic.read(to_spark(spark, FRAME), quasi=["sex"], others="drop", hierarchies=trees)
    ic.publish(table, method=ic.FlatHistogram(1), seed=1).save(tmp_path / "out")
    assert rows(tmp_path / "out" / "counts.parquet").height == 2


WRITER = """
import sys
import incrowd as ic
from incrowd.engines.spark.session import start
source, target, master, pause = sys.argv[1:]
spark = start(master, {
    "spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
})
# Rows take their time when they are read for writing: the kept column is not needed for the tally.
slow = f"CASE WHEN reflect('java.lang.Thread', 'sleep', {pause}L) = '' THEN 0 ELSE salary END AS salary"
frame = spark.read.parquet(source).selectExpr("age", "sex", "race", slow)
table = ic.read(frame, quasi=["age", "sex"], sensitive=["race"], keep=["salary"])
ic.publish(table, ic.KAnonymity(5), seed=1).save(target, force=True)
"""


def start_writer(folder: Path, master: str, quick: str, *, pause: int) -> subprocess.Popen[bytes]:
    """Publish from `people` to `out`; return when Spark is busy writing. Each row takes `pause` milliseconds."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder / "people"), str(folder / "out"), master, str(pause)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "JDK_JAVA_OPTIONS": quick},
    )
    while writer.poll() is None and not list(folder.glob(".out.*")):
        time.sleep(0.05)
    time.sleep(1)
    assert writer.poll() is None, "it is still busy"
    return writer


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people").mkdir()
    for part in range(4):
        FRAME[part * 300 : (part + 1) * 300].write_parquet(tmp_path / "people" / f"{part}.parquet")
    return tmp_path


@pytest.mark.parametrize("what", ["driver", "driver and Java"])
def test_a_driver_that_is_killed_leaves_nothing(people: Path, what: str, quick: str) -> None:
    writer = start_writer(people, "local[2]", quick, pause=20)
    (os.kill if what == "driver" else os.killpg)(writer.pid, signal.SIGKILL)
    writer.wait()
    for _ in range(600):  # Java may go on for a moment after its driver is gone
        if [path.name for path in people.iterdir()] == ["people"] and not watchers(people):
            break
        time.sleep(0.1)
    assert [path.name for path in people.iterdir()] == ["people"], "neither a release nor a hidden directory"
    assert not watchers(people), "and nobody watches any more"


def watchers(folder: Path) -> list[str]:
    """Return the processes that wait for the end of runs to a folder."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = command.read_bytes().decode(errors="replace").split("\0")
            found += [command.parent.name] if "incrowd.core.killed_runs" in words and f"{folder}/out" in words else []
    return found


def test_an_executor_that_is_lost_costs_nothing_but_time(cluster: Cluster, people: Path, quick: str) -> None:
    writer = start_writer(people, cluster.url, quick, pause=10)
    lost = cluster.executors()[0]
    os.kill(lost, signal.SIGKILL)
    assert writer.wait(timeout=300) == 0
    assert lost not in cluster.executors()
    expected = release_of(FRAME).to_polars()
    assert rows(people / "out" / "data.parquet").equals(expected.sort(expected.columns))
    assert {path.name for path in people.iterdir()} == {"people", "out"}
