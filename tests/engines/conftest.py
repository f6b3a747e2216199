"""One Spark session for all tests; Java is found, or installed where CI says that everything must run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MetaspaceSize=256m -XX:ReservedCodeCacheSize=192m"
"""A Java that starts fast, for work that is soon done; and that does not throw away what it has compiled."""
COMPONENTS, CLUSTER = SCRIPTS / "components", SCRIPTS / "spark-cluster"
TRAINING = """
import sys
import incrowd as ic
from incrowd.engines.spark.session import start
folder, options = sys.argv[1:]
spark = start("local[1]", {"spark.driver.extraJavaOptions": options, "spark.sql.shuffle.partitions": "2"})
people = ic.datasets.census(200)
people.write_parquet(f"{folder}/people.parquet")
table = ic.read(spark.read.parquet(f"{folder}/people.parquet"), quasi=["age", "sex"], keep=["race"], others="drop")
release = ic.publish(table, ic.KAnonymity(5))
release.save(f"{folder}/parquet")
release.save(f"{folder}/csv", format="csv")
gateway = spark.sparkContext._gateway
spark.stop()
gateway.shutdown()
gateway.proc.stdin.close()  # Java ends, and writes the archive
sys.exit(gateway.proc.wait())
"""
"""What Java is to have done before the classes that it has loaded are put into an archive."""


@pytest.fixture(scope="session")
def java() -> None:
    """Java for Spark; a test that asks for it skips where there is none and none can be installed."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return
    if os.environ.get("CI"):
        done = subprocess.run([COMPONENTS, "java"], check=False)
        if done.returncode != 0:
            pytest.fail(f"scripts/components java failed ({done.returncode})")
        return
    pytest.skip("Java is not here: scripts/components java installs it")


@pytest.fixture(scope="session")
def quick(java: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Options for a quick Java, which takes Spark's classes from an archive: to load them is half of Spark's start.

    The first session makes the archive, for this Java and this PySpark, and it stays beside the packages. Where it
    cannot be made, or no longer fits, Java loads its classes as ever.
    """
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    home = os.environ.get("JAVA_HOME")
    command = Path(home) / "bin" / "java" if home else "java"
    version = subprocess.run([command, "-version"], capture_output=True, text=True, check=True)
    made_for = f"{version.stderr} {pyspark.__version__} {pyspark.__file__}"
    archive = Path(sys.prefix) / "spark-classes" / f"{sha256(made_for.encode()).hexdigest()[:16]}.jsa"
    if not archive.exists():
        folder = tmp_path_factory.mktemp("training")
        options = f"{QUICK} -Xlog:disable -XX:ArchiveClassesAtExit={folder / archive.name}"
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
        training = [sys.executable, "-c", TRAINING, folder, options]
        with suppress(OSError, subprocess.CalledProcessError):
            subprocess.run(training, env=environment, capture_output=True, check=True)
            archive.parent.mkdir(exist_ok=True)
            copied = archive.with_suffix(f".{os.getpid()}")
            shutil.move(folder / archive.name, copied)
            copied.rename(archive)  # at once: others may look for it
    # Nothing is said of an archive that does not fit: what Spark's scripts write is read by others.
    return f"{QUICK} -Xlog:disable -XX:SharedArchiveFile={archive}" if archive.exists() else QUICK


@pytest.fixture(scope="session")
def spark(quick: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small session on two cores of this machine."""
    pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    from incrowd.engines.spark.session import start

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = start(
        "local[2]",
        {
            "spark.driver.memory": "1g",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
            # Room for new objects, which are soon dead.
            "spark.driver.extraJavaOptions": f"{quick} -Xms1g -Xmn500m -Dderby.stream.error.file=/dev/null",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.leafNodeDefaultParallelism": "1",  # lookups have some hundred lines
            "spark.sql.ui.explainMode": "simple",  # each plan is told to listeners, of whom none is there to read it
            # Small queries: compiling them would take most of the time. test_spark_command.py runs Spark as it comes.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.lightweightPlanChangeValidation": "false",  # Spark's rules are not what is tested
            "spark.ui.showConsoleProgress": "false",
        },
    )
    for name in ("callSite.short", "callSite.long"):  # else Spark walks up the stack for each of its steps
        session.sparkContext.setLocalProperty(name, "tests")
    yield session
    session.stop()


@dataclass(frozen=True)
class Cluster:
    """A standalone cluster: its master's URL, and the folder of its process numbers."""

    url: str
    folder: Path

    def executors(self) -> list[int]:
        """Return the processes of its executors: children of its workers."""
        workers = {int(file.read_text()) for file in self.folder.glob("worker-*.pid")}
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended meanwhile
                state, parent = status.read_text().rpartition(")")[2].split()[:2]
                if int(parent) in workers and state != "Z":  # a dead one stays on the list until it is missed
                    found.append(int(status.parent.name))
        return found


@pytest.fixture(scope="session")
def cluster(quick: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone master and two workers on this machine."""
    pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    folder = tmp_path_factory.mktemp("spark-cluster")
    environment = {
        **os.environ, "PYTHON": sys.executable, "SPARK_CLUSTER_DIR": str(folder), "JDK_JAVA_OPTIONS": quick
    }  # fmt: skip
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    started = subprocess.run([CLUSTER, "start", port], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    try:
        yield Cluster(started.stdout.strip(), folder)
    finally:
        subprocess.run([CLUSTER, "stop"], env=environment, check=True)
