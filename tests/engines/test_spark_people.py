"""People with several rows on Spark: the same release as on one machine, and nothing that counts rows for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import SchemaError
from tests.engines.counted_once import counted_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [
    (f"P{person}" + " " * (person % 3 == 0 and nth == 1), 20 + person // 2 + nth * (person % 5 == 0), "xyz"[nth], nth)
    for person in range(30)
    for nth in range(3)
]
TABLE = pl.DataFrame(ROWS, schema=["pid", "age", "ill", "nth"], orient="row")


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> Iterator[DataFrame]:
    """The table, each of whose tallies is counted once."""
    made = spark.createDataFrame(ROWS, ["pid", "age", "ill", "nth"])
    with counted_once(made):
        yield made


def rows(release: ic.Release) -> list[tuple]:
    return sorted(release.to_polars().rows())


@pytest.mark.parametrize(
    "roles",
    [{"drop": ["nth"]}, {"keep": ["nth"]}, {"drop": ["nth"], "pseudonyms": ["pid"]}],
    ids=["counted", "kept", "pseudonyms"],
)
@pytest.mark.parametrize("sample", [1, 0.7])
def test_the_release_is_that_of_one_machine(frame: DataFrame, roles: dict[str, Any], sample: float) -> None:
    key = ic.PseudonymKey(bytes(32))
    here, there = (
        ic.publish(
            ic.read(source, quasi=["age"], sensitive=["ill"], person="pid", **roles),
            ic.KAnonymity(3),
            sample=sample,
            seed=5,
            pseudonym_key=key if "pseudonyms" in roles else None,
        )
        for source in (TABLE, frame)
    )
    assert here.people is not None
    assert there.people is not None
    assert there.people.group_sizes.tolist() == here.people.group_sizes.tolist()
    assert rows(there) == rows(here)
    if "pseudonyms" in roles:
        assert there.to_polars()["pid"].n_unique() == here.people.published


def test_names_are_found_to_repeat_where_the_driver_cannot_hold_them(frame: DataFrame, spark: SparkSession) -> None:
    spark.conf.set("spark.incrowd.driverTuples", "20")
    try:
        table = ic.read(frame, quasi=["age"], sensitive=["ill"], identifiers=["pid"], drop=["nth"])
        with pytest.raises(SchemaError, match="90 rows have 30 different values"):
            ic.publish(table, ic.KAnonymity(3))
    finally:
        spark.conf.unset("spark.incrowd.driverTuples")
