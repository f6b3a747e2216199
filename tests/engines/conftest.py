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
from pathlib import Path
from typing import TYPE_CHECKING

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
def spark(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small session on two cores of this machine."""
    pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    from incrowd.engines.spark.session import start

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = start(
        "local[2]",
        {
            "spark.driver.memory": "1g",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
            "spark.driver.extraJavaOptions": f"{QUICK} -Dderby.stream.error.file=/dev/null",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            # Small queries: compiling them would take most of the time. test_spark_command.py runs Spark as it comes.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        },
    )
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
def cluster(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone master and two workers on this machine."""
    pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    folder = tmp_path_factory.mktemp("spark-cluster")
    environment = {**os.environ, "PYTHON": sys.executable, "SPARK_CLUSTER_DIR": str(folder)}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    started = subprocess.run([CLUSTER, "start", port], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    try:
        yield Cluster(started.stdout.strip(), folder)
    finally:
        subprocess.run([CLUSTER, "stop"], env=environment, check=True)
