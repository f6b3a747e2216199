"""One Spark session for all tests here; Java is found, or installed where CI says that everything must run.

It ends with them, and not with the last of all tests: Spark takes CPU also while it waits.
"""

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
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MetaspaceSize=256m -XX:ReservedCodeCacheSize=192m"
"""A Java that starts fast, for work that is soon done; and that does not throw away what it has compiled."""
COMPONENTS, CLUSTER = SCRIPTS / "components", SCRIPTS / "spark-cluster"


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
def class_archive(java: None) -> Path:
    """The file of Spark's loaded classes, for this Java and this PySpark: to load them is half of Spark's start.

    The first session makes it, and it stays beside the packages. Where it cannot be made, or no longer fits, Java loads
    its classes as ever.
    """
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    version = subprocess.run([_program("java"), "-version"], capture_output=True, text=True, check=True)
    made_for = f"{version.stderr} {pyspark.__version__} {pyspark.__file__}"
    return Path(sys.prefix) / "spark-classes" / f"{sha256(made_for.encode()).hexdigest()[:16]}.jsa"


def _program(name: str) -> str | Path:
    home = os.environ.get("JAVA_HOME")
    return Path(home) / "bin" / name if home else name


@pytest.fixture(scope="package")
def quick(class_archive: Path, request: pytest.FixtureRequest) -> str:
    """Options for a quick Java, which takes Spark's classes from the archive."""
    if not class_archive.exists():
        request.getfixturevalue("spark")
    return _quick(class_archive) if class_archive.exists() else QUICK


def _quick(archive: Path) -> str:
    # Nothing is said of an archive that does not fit: what Spark's scripts write is read by others.
    return f"{QUICK} -Xlog:disable -XX:SharedArchiveFile={archive}"


@pytest.fixture(scope="package")
def spark(class_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small session on two cores of this machine."""
    from incrowd.engines.spark.session import start

    archived = class_archive.exists()
    java = _quick(class_archive) if archived else f"{QUICK} -Xlog:disable -XX:+RecordDynamicDumpInfo"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = start(
        "local[2]",
        {
            "spark.driver.memory": "1g",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
            # Room for new objects, which are soon dead.
            "spark.driver.extraJavaOptions": f"{java} -Xms1g -Xmn500m -Dderby.stream.error.file=/dev/null",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            # Each lookup and each grouping takes one page of memory and clears it: 16 MB for a few rows, if unsaid.
            "spark.buffer.pageSize": "256k",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.leafNodeDefaultParallelism": "1",  # lookups have some hundred lines
            "spark.sql.ui.explainMode": "simple",  # each plan is told to listeners, of whom none is there to read it
            # Small queries: compiling them would take most of the time. test_spark_command.py runs Spark as it comes.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.lightweightPlanChangeValidation": "false",  # Spark's rules are not what is tested
            "spark.ui.showConsoleProgress": "false",
            "spark.executorEnv.PYTHONPATH": str(SCRIPTS.parent),
            "spark.python.daemon.module": "tests.engines.python_daemon",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",  # for `connect`: one that is free
        },
    )
    for name in ("callSite.short", "callSite.long"):  # else Spark walks up the stack for each of its steps
        session.sparkContext.setLocalProperty(name, "tests")
    classes: Any = session.sparkContext._jvm
    for name in ("PythonUtils", "PythonSQLUtils", "functions", "org.apache.spark.sql.functions"):
        setattr(classes, name, getattr(classes, name))  # else Java looks through all packages, each time
    if not archived:
        _archive_classes(session, class_archive, tmp_path_factory.mktemp("archive"))
    yield session
    session.stop()


@pytest.fixture(scope="package")
def connect(spark: SparkSession) -> Iterator[str]:
    """Return the address of a Spark Connect server, in the Java of the session: another Java would take 20 s of CPU."""
    pytest.importorskip("grpc", reason="Spark Connect's packages are not here: pip install 'pyspark[connect]'")
    context: Any = spark.sparkContext
    package = context._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(package, "SparkConnectService$"), "MODULE$")  # as Scala calls its objects
    service.start(context._jsc.sc())
    yield f"sc://127.0.0.1:{service.localPort()}"
    at_once = context._jvm.scala.Option.empty()
    service.stop(at_once, at_once)


def _archive_classes(session: SparkSession, archive: Path, folder: Path) -> None:
    """Write what Java has loaded when a table has been published and saved."""
    import incrowd as ic

    ic.datasets.census(200).write_parquet(folder / "people.parquet")
    people = session.read.parquet(str(folder / "people.parquet"))
    release = ic.publish(ic.read(people, quasi=["age", "sex"], keep=["race"], others="drop"), ic.KAnonymity(5))
    for form in ("parquet", "csv"):
        release.save(folder / form, format=form)
    classes: Any = session.sparkContext._jvm
    java = str(classes.java.lang.ProcessHandle.current().pid())
    with suppress(OSError, subprocess.CalledProcessError):
        written = folder / archive.name
        subprocess.run([_program("jcmd"), java, "VM.cds", "dynamic_dump", written], capture_output=True, check=True)
        archive.parent.mkdir(exist_ok=True)
        copied = archive.with_suffix(f".{os.getpid()}")
        shutil.move(written, copied)
        copied.rename(archive)  # at once: others may look for it


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


@pytest.fixture(scope="package")
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
