"""Tallies too large for the driver: other groups than on one machine, and the same guarantees, checked anew."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError, TallyTooLarge, Unsatisfiable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = 3000
LIMIT = 700
FRAME = ic.datasets.census(ROWS, seed=9).with_columns(
    row=pl.int_range(ROWS), id=pl.int_range(ROWS), age=pl.when(pl.int_range(ROWS) % 97 == 0).then(None).otherwise("age")
)
QUASI = ("age", "sex", "education", "marital")
NAME = "spark.incrowd.driverTuples"


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> Iterator[Any]:
    from incrowd.engines.spark.arrow_batches import to_spark

    frame = to_spark(spark, FRAME).repartition(3).cache()
    spark.conf.set(NAME, str(LIMIT))

    def read(**given: Any) -> ic.Table:
        return ic.read(frame, **({"quasi": QUASI, "sensitive": ["occupation"], "others": "drop"} | given))

    yield read
    spark.conf.unset(NAME)
    frame.unpersist()


def holds(label: str | None, value: Any) -> bool:
    """Read a label of an age without the library: [a, b), <b, >=a, a number, or missing."""
    if label == "*" or label is None or value is None:
        return label == "*" or (label is None and value is None)
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return float(low) <= value < float(high)
    if label.startswith("<"):
        return bool(value < float(label[1:]))
    if label.startswith(">="):
        return bool(value >= float(label[2:]))
    return float(label) == value


def test_guarantees_hold_where_no_driver_saw_the_tally(table: Any, tmp_path: Any) -> None:
    key = ic.PseudonymKey(bytes(32))
    given = table(keep=["row"], pseudonyms=["id"])
    release = ic.publish(given, [ic.KAnonymity(5), ic.DistinctLDiversity(3)], pseudonym_key=key)
    data = pl.read_parquet(release.save(tmp_path / "out") / "*.parquet")
    assert data.columns == ["id", *QUASI, "occupation", "row"]
    assert data["id"].to_list() == key.pseudonyms(data["row"]).to_list()
    assert sorted(data["row"].to_list()) == list(range(ROWS)), "every row once"
    groups: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    before = {row["row"]: row for row in FRAME.iter_rows(named=True)}
    for row in data.iter_rows(named=True):
        groups[tuple(row[name] for name in QUASI)].append(row["occupation"])
        assert row["occupation"] == before[row["row"]]["occupation"]
        assert holds(row["age"], before[row["row"]]["age"])
    sizes = [len(members) for members in groups.values()]
    assert min(sizes) >= 5
    assert min(len(set(members)) for members in groups.values()) >= 3
    assert len(groups) > 200, "it is cut, and not only into the first parts"
    told = release.summary
    assert told["groups"]["number"] == len(groups)
    assert told["groups"]["smallest"] == min(sizes)
    assert told["guarantees"][0]["achieved"] == min(sizes)
    assert told["guarantees"][1]["achieved"] == min(len(set(members)) for members in groups.values())
    assert told["loss"]["discernibility"] == sum(size**2 for size in sizes)
    local = ic.publish(
        ic.read(FRAME, quasi=QUASI, sensitive=["occupation"], others="drop"),
        [ic.KAnonymity(5), ic.DistinctLDiversity(3)],
    )
    # Parts are tiny here: borders of groups are sought among the cuts of some hundred groups, not of all of them.
    assert told["loss"]["gcp"] < 1.6 * local.summary["loss"]["gcp"]


def test_from_the_tally_alone(table: Any) -> None:
    alone = ic.publish(table(), ic.KAnonymity(10)).to_polars()
    assert alone.height == ROWS
    assert min(Counter(alone.select(QUASI).iter_rows()).values()) >= 10
    assert Counter(alone["occupation"].to_list()) == Counter(FRAME["occupation"].to_list())


def test_t_closeness_is_judged_against_the_whole_table(table: Any) -> None:
    require = [ic.KAnonymity(5), ic.TCloseness(0.5)]
    release = ic.publish(table(sensitive=["race"]), require)
    data = release.to_polars()
    whole = {value: count / ROWS for value, count in Counter(FRAME["race"].to_list()).items()}
    worst = 0.0
    for _, members in data.group_by(QUASI):
        own = Counter(members["race"].to_list())
        distance = sum(abs(own[value] / members.height - share) for value, share in whole.items()) / 2
        worst = max(worst, distance)
    assert worst <= 0.5
    assert release.summary["guarantees"][1]["achieved"] == pytest.approx(worst)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"method": ic.FullDomain()}, "full-domain needs all of them"),
        ({"method": ic.Mondrian(cuts="relaxed")}, "relaxed cuts"),
        ({"sample": 0.5}, "a sample"),
        ({"form": ic.ShowBuckets()}, "the form"),
    ],
)
def test_others_say_how_large_it_is_and_what_to_do(table: Any, asked: dict[str, Any], why: str) -> None:
    tuples = FRAME.select(*QUASI, "occupation").n_unique()
    with pytest.raises(TallyTooLarge, match=rf"the table has {tuples:,} distinct tuples.*{LIMIT:,}.*{why}.*Hint: "):
        ic.publish(table(), ic.KAnonymity(5), **asked)


def test_what_cannot_be_is_refused(table: Any) -> None:
    with pytest.raises(Unsatisfiable):
        ic.publish(table(), ic.KAnonymity(ROWS + 1))
    release = ic.publish(table(), ic.KAnonymity(ROWS))
    assert release.summary["groups"]["number"] == 1
    with pytest.raises(QueryError, match="ask the engine that holds it"):
        release.count({})
