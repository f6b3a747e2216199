"""Releases that Spark writes: whole, or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import OutputError, SourceError
from tests.bare_install.hidden import environment_with

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
source, master, pause, *targets = sys.argv[1:]
spark = start(master, {
    "spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
})
# Rows take their time when they are read for writing: the kept column is not needed for the tally.
slow = f"CASE WHEN reflect('java.lang.Thread', 'sleep', {pause}L) = '' THEN 0 ELSE salary END AS salary"
people = spark.read.parquet(source)
for target in targets:
    frame = people if target.endswith("first") else people.selectExpr("age", "sex", "race", slow)
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["race"], keep=["salary"])
    release = ic.publish(table, ic.KAnonymity(5), seed=1)
    release.save(target, force=True)
    if target.endswith("first"):
        kind = type(release.data).__module__.partition(".")[0]
        print(kind, release.data.count(), ic.open_release(target).rows, flush=True)
"""


@contextmanager
def writer(people: Path, master: str, quick: str, *targets: str, pause: int) -> Iterator[subprocess.Popen[str]]:
    """Publish `people` to some targets, with what Spark's extra brings and no more; each row takes some milliseconds.

    It publishes to several, since each Java that starts takes as much CPU as many tests.
    """
    command = [sys.executable, "-c", WRITER, str(people / "people"), master, str(pause)]
    with subprocess.Popen(
        [*command, *(str(people / target) for target in targets)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=environment_with("spark", PYSPARK_PYTHON=sys.executable, JDK_JAVA_OPTIONS=quick),
    ) as started:
        try:
            yield started
        finally:
            with suppress(ProcessLookupError):  # it is over, or was killed, as it should be
                os.killpg(started.pid, signal.SIGKILL)


def busy_with(target: Path, run: subprocess.Popen[str]) -> None:
    """Wait until Spark is busy writing to a target."""
    while run.poll() is None and not list(target.parent.glob(f".{target.name}.*")):
        time.sleep(0.05)
    time.sleep(1)
    assert run.poll() is None, "it is still busy"


def left_by(target: Path) -> list[str]:
    """Return what a killed run has left once nobody is at work for it any more."""
    for _ in range(600):  # Java may go on for a moment after its driver is gone
        left = sorted(path.name for path in target.parent.iterdir() if target.name in path.name)
        if not left and not watchers(target):
            break
        time.sleep(0.1)
    assert not watchers(target), "nobody watches any more"
    return left


def watchers(target: Path) -> list[str]:
    """Return the processes that wait for the end of runs to a target."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = command.read_bytes().decode(errors="replace").split("\0")
            found += [command.parent.name] if "incrowd.core.killed_runs" in words and str(target) in words else []
    return found


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people").mkdir()
    for part in range(4):
        FRAME[part * 300 : (part + 1) * 300].write_parquet(tmp_path / "people" / f"{part}.parquet")
    return tmp_path


def test_a_driver_that_is_killed_leaves_nothing(people: Path, quick: str) -> None:
    """A driver that has nothing but Spark's extra, whose Java is left alone."""
    with writer(people, "local[2]", quick, "first", "out", pause=20) as run:
        busy_with(people / "out", run)
        os.kill(run.pid, signal.SIGKILL)
        said, _ = run.communicate()
        assert left_by(people / "out") == [], "neither a release nor a hidden directory"
    assert said.splitlines()[-1] == "pyspark 1200 1200"
    assert_whole(people / "first")
    assert {path.name for path in people.iterdir()} == {"people", "first"}


def test_a_cluster_loses_an_executor_and_then_its_driver(cluster: Cluster, people: Path, quick: str) -> None:
    """An executor costs nothing but time; of a driver that is killed with its Java, nothing is left."""
    with writer(people, cluster.url, quick, "out", "other", pause=10) as run:
        busy_with(people / "out", run)
        lost = cluster.executors()[0]
        os.kill(lost, signal.SIGKILL)
        busy_with(people / "other", run)
        assert lost not in cluster.executors()
        assert_whole(people / "out")
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        assert left_by(people / "other") == [], "neither a release nor a hidden directory"
    assert {path.name for path in people.iterdir()} == {"people", "out"}


def assert_whole(release: Path) -> None:
    """Compare what a writer has published with what one machine does."""
    expected = release_of(FRAME).to_polars()
    assert rows(release / "data.parquet").equals(expected.sort(expected.columns))
