"""One test body over both engines: the same table, method and seed give the same release wherever the rows are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from tests.engines.counted_once import counted_once
from tests.engines.summaries import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 1500
FRAME = ic.datasets.census(ROWS, seed=3).with_columns(
    # Missing values of both kinds, both zeros, and rows that only kept columns tell apart.
    age=pl.when(pl.int_range(ROWS) % 50 == 0).then(None).otherwise(pl.col("age")),
    weight=pl.when(pl.int_range(ROWS) % 7 == 0)
    .then(float("nan"))
    .otherwise((pl.int_range(ROWS) * 37 % 11 - 5) / 2 * -1.0),
    name=pl.concat_str(pl.lit("Ä person "), (pl.int_range(ROWS) * 7919) % 1000),
    when=pl.date(2020, 1, 1) + pl.duration(days=pl.int_range(ROWS) % 13),
    ok=pl.int_range(ROWS) % 3 == 0,
    stands_for=20.0 + pl.int_range(ROWS) * 53 % 97 / 4,
)
TREES = {
    "age": ic.Intervals(widths=ic.datasets.CENSUS_AGE_WIDTHS, lower=0, upper=100),
    **{name: ic.Categories.from_tree(tree) for name, tree in ic.datasets.CENSUS_TREES.items() if name != "age"},
}
KEY = ic.PseudonymKey(bytes(range(32)))
QUASI = ("age", "sex", "education", "marital")


def roles(**more: Any) -> dict[str, Any]:
    trees = {name: TREES[name] for name in (*more.get("quasi", QUASI),) if name in TREES}
    return {"quasi": QUASI, "sensitive": ["occupation"], "others": "drop", "hierarchies": trees, **more}


K, L = ic.KAnonymity(5), ic.LDiversity(2)
PRIVATE = roles(
    quasi=["age", "sex"], sensitive=["marital"], hierarchies={n: TREES[n] for n in ("age", "sex", "marital")}
)
FOR_SAMPLES = {"quasi": ["sex", "marital"], "keep": ["name", "weight"]}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Mondrian": (roles(), {"require": [K, L]}),
    "Mondrian, kept columns": (roles(keep=["weight", "when", "ok"]), {"require": K}),
    "Mondrian, pseudonyms": (
        roles(pseudonyms=["name", "weight"], keep=["ok"], each_row_a_person=True),
        {"require": K},
    ),
    "Mondrian, people": (roles(person=["name"]), {"require": [K, L]}),
    "sample, people, pseudonyms": (
        roles(person=["name"], pseudonyms=["name"], keep=["ok"]),
        {"require": K, "sample": 0.7},
    ),
    "Mondrian, weights": (roles(weight="stands_for"), {"require": [K, L]}),
    "Mondrian, weights, kept columns": (roles(weight="stands_for", keep=["when", "ok"]), {"require": K}),
    "sample, relaxed, weights, kept columns": (
        roles(quasi=["age"], keep=["name"], sensitive=[], weight="stands_for"),
        {"require": K, "sample": 0.5, "method": ic.Mondrian(cuts="relaxed")},
    ),
    "Mondrian, relaxed": (roles(), {"require": K, "method": ic.Mondrian(cuts="relaxed")}),
    "Mondrian, relaxed, kept columns": (
        roles(quasi=["age", "weight"], keep=["name", "when"], sensitive=["race"]),
        {"require": K, "method": ic.Mondrian(cuts="relaxed")},
    ),
    "sample": (roles(), {"require": K, "sample": 0.6}),
    "sample, kept columns": (roles(**FOR_SAMPLES), {"require": K, "sample": 0.5}),
    "full domain": (roles(), {"require": K, "method": ic.FullDomain(max_withheld=0.05)}),
    "full domain, kept columns": (roles(keep=["name"]), {"require": K, "method": ic.FullDomain(max_withheld=0.05)}),
    "level sweep": (roles(), {"require": K, "method": ic.LevelSweep()}),
    "InfoGain Mondrian": (roles(), {"require": K, "method": ic.InfoGainMondrian(target="occupation")}),
    "k-member": (roles(quasi=["age", "sex"]), {"require": K, "method": ic.KMember()}),
    "microaggregation": (roles(quasi=["age"]), {"require": K, "method": ic.Microaggregation()}),
    "local recoding": (roles(quasi=["age", "sex"]), {"require": K, "method": ic.LocalRecoding()}),
    "top-down": (roles(), {"require": K, "method": ic.TopDownSpecialization()}),
    "bottom-up": (roles(quasi=["age", "sex"]), {"require": K, "method": ic.BottomUpGeneralization()}),
    "k-DGS": (roles(quasi=["age", "sex"]), {"method": ic.KDGS(5, levels={"age": 1})}),
    "SDGS": (
        roles(quasi=["age", "sex"], sensitive=[]),
        {"method": ic.SDGS(10, levels={"age": 2}, epsilon=2), "sample": 0.2},
    ),
    "SDGS, by person": (
        roles(quasi=["age", "sex"], sensitive=[], person="name"),
        {"method": ic.SDGS(10, levels={"age": 2}, epsilon=2, most_rows=1), "sample": 0.2},
    ),
    "slicing": (roles(quasi=["age", "sex", "education"]), {"require": ic.SlicedDiversity(2), "method": ic.Slicing()}),
    "Anatomy": (roles(), {"require": L, "method": ic.Anatomy()}),
    "buckets": (roles(), {"require": L, "form": ic.ShowBuckets()}),
    "multisets": (roles(), {"require": L, "form": ic.ShowMultisets()}),
    "DiffGen": (PRIVATE, {"method": ic.DiffGen(1, steps=4, missing=("age",))}),
    "consistent DiffGen": (PRIVATE, {"method": ic.ConsistentDiffGen(1, steps=4, missing=("age",))}),
    "flat histogram": (PRIVATE, {"method": ic.FlatHistogram(1, missing=("age",))}),
    "hierarchical histogram": (
        PRIVATE | {"quasi": ["age"], "hierarchies": {"age": TREES["age"], "marital": TREES["marital"]}},
        {"method": ic.HierarchicalHistogram(1, missing=("age",))},
    ),
    "DiffGen, by person": (
        PRIVATE | {"person": ["name", "ok"]},
        {"method": ic.DiffGen(1, steps=4, missing=("age",), most_rows=2)},
    ),
    "a population": (roles(quasi=["age", "sex"], population=FRAME), {"require": ic.KMap(5)}),
}


@pytest.fixture(scope="module")
def on_spark(spark: SparkSession) -> Iterator[Any]:
    """The one table on Spark, where each set of its columns is counted once: most cases differ in the method alone."""
    from incrowd.engines.spark.arrow_batches import to_spark

    frame = to_spark(spark, FRAME).repartition(2)
    with counted_once(frame):
        yield frame


def sorted_rows(frame: Any) -> pl.DataFrame:
    from incrowd.engines.spark.arrow_batches import to_polars

    rows = frame if isinstance(frame, pl.DataFrame) else to_polars(frame)
    return rows.select(pl.all().cast(pl.String)).sort(rows.columns)


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES)
def test_every_engine_gives_the_same_release(case: str, on_spark: Any) -> None:
    given, asked = CASES[case]
    expected, release = (
        ic.publish(ic.read(frame, **given), **asked, seed=11, pseudonym_key=KEY) for frame in (FRAME, on_spark)
    )
    assert release.rows > 0
    assert told(release) == told(expected)
    found = sorted_rows(release.data)
    assert found.equals(sorted_rows(expected.to_polars()))
    assert found.height == release.rows
    if not release.schema.found_again:  # joined rows are made by the same plan, here as in `test_spark_dates.py`
        assert sorted_rows(release.to_polars()).equals(found)
