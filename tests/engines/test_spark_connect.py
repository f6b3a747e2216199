"""Sessions of Spark Connect: what they can do is what other sessions do; what they cannot is refused in plain words.

They cannot be in one process with a session of another kind, so that all of it is one script.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import SourceError

pytestmark = pytest.mark.spark

FRAME = ic.datasets.census(600, seed=5).select("age", "sex", "race", "salary")
ROLES = {"quasi": ["age", "sex"], "sensitive": ["race"], "keep": ["salary"]}
SCRIPT = """
import sys
import incrowd as ic
from incrowd.engines.spark.session import start
from incrowd.errors import OutputError
address, folder = sys.argv[1:]
spark = start(address)
assert type(spark).__module__.startswith("pyspark.sql.connect")
roles = {"quasi": ["age", "sex"], "sensitive": ["race"], "keep": ["salary"]}
table = ic.read(spark.read.parquet(f"{folder}/people.parquet"), **roles)
release = ic.publish(table, ic.KAnonymity(5), seed=1)
release.save(f"{folder}/out")
try:
    release.save("hdfs://host/out")
except OutputError as error:
    print(error)
spark.conf.set("spark.incrowd.driverTuples", "80")
ic.publish(table, ic.KAnonymity(5), seed=1).save(f"{folder}/parts")
spark.stop()
"""


def test_a_release_by_spark_connect(connect: str, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "people.parquet")
    without_java = {**os.environ, "PATH": str(tmp_path / "nothing"), "JAVA_HOME": ""}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, connect, str(tmp_path)]
    done = subprocess.run(command, env=without_java, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    assert "cannot be written in a session of Spark Connect" in done.stdout
    expected = ic.publish(ic.read(FRAME, **ROLES), ic.KAnonymity(5), seed=1).to_polars()
    data = pl.read_parquet(tmp_path / "out" / "data.parquet" / "*.parquet")
    assert data.sort(data.columns).equals(expected.sort(expected.columns))
    parts = pl.read_parquet(tmp_path / "parts" / "data.parquet" / "*.parquet")
    assert parts.height == 600
    assert parts.group_by("age", "sex").len()["len"].min() >= 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "parts", "people.parquet"]


def test_what_is_missing_for_spark_connect_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not here: pip install 'incrowd[spark]'")
    from incrowd.engines.spark.session import start

    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(SourceError, match=r"is Spark Connect, and packages are missing.*pyspark\[connect\]"):
        start("sc://nowhere")
