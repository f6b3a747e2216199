"""Tallies too large for the driver: other groups than on one machine, and the same guarantees, checked anew."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError, SchemaError, SourceError, TallyTooLarge, Unsatisfiable
from tests.dates.visits import unit_name
from tests.engines.counted_once import counted_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ROWS = 3000
LIMIT = 700
FRAME = ic.datasets.census(ROWS, seed=9).with_columns(
    row=pl.int_range(ROWS),
    id=pl.int_range(ROWS),
    age=pl.when(pl.int_range(ROWS) % 97 == 0).then(None).otherwise("age"),
    day=pl.date(2020, 1, 1) + pl.duration(days=pl.int_range(ROWS) % 900),
)
QUASI = ("age", "sex", "education")
NAME = "spark.incrowd.driverTuples"


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> Iterator[Any]:
    from incrowd.engines.spark.arrow_batches import to_spark

    frame = to_spark(spark, FRAME).repartition(2).cache()
    spark.conf.set(NAME, str(LIMIT))

    def read(**given: Any) -> ic.Table:
        return ic.read(frame, **({"quasi": QUASI, "sensitive": ["occupation"], "others": "drop"} | given))

    with counted_once(frame):
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


MODELS = [ic.KAnonymity(5), ic.DistinctLDiversity(3)]
KEY = ic.PseudonymKey(bytes(32))


@pytest.fixture(scope="module")
def release(table: Any) -> ic.Release:
    """Rows that are found again in the table: with a kept column, pseudonyms and dates that are cut."""
    given = table(keep=["row"], pseudonyms=["id"], dates={"day": ic.TruncateDates("month")})
    return ic.publish(given, MODELS, pseudonym_key=KEY)


def test_guarantees_hold_where_no_driver_saw_the_tally(release: ic.Release, tmp_path: Any) -> None:
    assert release.shown.counted is None, "it was made in parts"
    data = pl.read_parquet(release.save(tmp_path / "out") / "*.parquet")
    assert data.columns == ["id", *QUASI, "occupation", "row", "day"]
    assert data["id"].to_list() == KEY.pseudonyms(data["row"]).to_list()
    assert sorted(data["row"].to_list()) == list(range(ROWS)), "every row once"
    groups: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    before = {row["row"]: row for row in FRAME.iter_rows(named=True)}
    for row in data.iter_rows(named=True):
        was = before[row["row"]]
        groups[tuple(row[name] for name in QUASI)].append(row["occupation"])
        assert row["occupation"] == was["occupation"]
        assert row["day"] == unit_name(was["day"], "month")
        assert holds(row["age"], was["age"])
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
    local = ic.publish(ic.read(FRAME, quasi=QUASI, sensitive=["occupation"], others="drop"), MODELS)
    # Parts are tiny here: borders of groups are sought among the cuts of some hundred groups, not of all of them.
    assert told["loss"]["gcp"] < 1.6 * local.summary["loss"]["gcp"]


def test_people_move_between_the_groups_of_a_part(
    table: Any, release: ic.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incrowd.engines.spark import large

    cut, parts = large.first_cuts, []

    def cuts(*given: Any) -> Any:
        placed, borders = cut(*given)
        parts.extend(line["count"] for line in placed.groupBy("part").count().collect())
        return placed, borders

    monkeypatch.setattr(large, "first_cuts", cuts)
    better = ic.publish(table(keep=["row"]), MODELS, effort=1)
    assert len(parts) > 2
    assert max(parts) <= LIMIT, "no executor searches more tuples than the driver would hold"
    assert better.shown.counted is None, "no driver saw the tally"
    data = better.to_polars()
    assert sorted(data["row"].to_list()) == list(range(ROWS))
    joined = data.join(FRAME, on="row", suffix=" before")
    assert all(holds(*pair) for pair in joined.select("age", "age before").iter_rows())
    groups = data.group_by(QUASI).agg(pl.len(), pl.col("occupation").n_unique())
    assert groups["len"].min() >= 5  # type: ignore[operator]
    assert groups["occupation"].min() >= 3  # type: ignore[operator]
    assert better.summary["loss"]["gcp"] < 0.95 * release.summary["loss"]["gcp"]


def counting_passes(spark: SparkSession, frame: DataFrame) -> tuple[DataFrame, Any]:
    """Return a frame that counts how many of its rows are read."""
    from incrowd.engines.spark.counting import arrow_only

    read = spark.sparkContext.accumulator(0)

    def passed(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    with arrow_only():
        return frame.mapInArrow(passed, frame.schema), read


def test_a_tally_in_parts_is_counted_once_and_kept_no_longer_than_needed(spark: SparkSession, table: Any) -> None:
    """What `test_spark_large_people.py` shows of people, too."""
    require_counted_once(spark, table().engine.source.given, quasi=["age"], sensitive=["occupation"])


def require_counted_once(spark: SparkSession, frame: DataFrame, **roles: Any) -> ic.Release:
    rows = frame.count()  # those of a frame that is kept are kept from here on
    frame, read = counting_passes(spark, frame)
    given = ic.read(frame, others="drop", **roles)
    before = kept(spark)
    with pytest.raises(TallyTooLarge):
        ic.publish(given, ic.KAnonymity(10), sample=0.5)
    assert read.value == rows
    assert kept(spark) == before, "what is refused leaves nothing with the executors"
    release = ic.publish(given, ic.KAnonymity(10))
    assert read.value == 2 * rows
    assert release.summary["rows"]["published"] == rows
    assert kept(spark) == before + 1, "what is published is kept, and its tally is not"
    return release


def test_why_spark_died_is_told_where_nothing_can_be_let_go(spark: SparkSession) -> None:
    from incrowd.engines.spark import counting

    class Gone:
        def unpersist(self) -> None:
            raise ConnectionRefusedError

    def dies() -> None:
        with counting.keeping_large():
            found = counting._KEPT.get()
            assert found is not None
            found.append(Gone())  # type: ignore[arg-type]
            raise SourceError("it died")

    with pytest.raises(SourceError, match="it died"):
        dies()
    assert counting._KEPT.get() is None


def kept(spark: SparkSession) -> int:
    """Return how many frames executors keep."""
    return int(spark.sparkContext._jsc.getPersistentRDDs().size())  # type: ignore[union-attr]


def test_t_closeness_is_judged_against_the_whole_table(table: Any) -> None:
    """Rows are made from the tally alone: nothing else is published."""
    release = ic.publish(table(), [ic.KAnonymity(10), ic.TCloseness(0.5)])
    data = release.to_polars()
    assert data.height == ROWS
    assert min(Counter(data.select(QUASI).iter_rows()).values()) >= 10
    assert Counter(data["occupation"].to_list()) == Counter(FRAME["occupation"].to_list())
    whole = {value: count / ROWS for value, count in Counter(FRAME["occupation"].to_list()).items()}
    worst = 0.0
    for _, members in data.group_by(QUASI):
        own = Counter(members["occupation"].to_list())
        distance = sum(abs(own[value] / members.height - share) for value, share in whole.items()) / 2
        worst = max(worst, distance)
    assert worst <= 0.5
    assert release.summary["guarantees"][1]["achieved"] == pytest.approx(worst)


TREES = {
    "age": ic.Intervals(widths=ic.datasets.CENSUS_AGE_WIDTHS, lower=0, upper=100),
    **{name: ic.Categories.from_tree(ic.datasets.CENSUS_TREES[name]) for name in QUASI if name != "age"},
}
WAYS: dict[str, tuple[dict[str, Any], float]] = {
    # How much more than one machine it may lose, at four tiny parts: benchmarks/spark_parts.py measures large ones.
    "relaxed": ({"method": ic.Mondrian(cuts="relaxed")}, 1.4),  # equal rows go to several groups
    "microaggregation": ({"method": ic.Microaggregation(), "show": "label"}, 1.3),
    "local recoding": ({"method": ic.LocalRecoding()}, 1.3),  # rows are withheld
    "top-down": ({"method": ic.TopDownSpecialization()}, 1.1),  # all are searched at once, less specific
    "k-DGS": ({"method": ic.KDGS(5, levels={"age": 3, "education": 3})}, 1.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_method_works_in_parts(way: str, table: Any) -> None:
    asked, more = WAYS[way]
    keep = [] if way == "k-DGS" else ["row"]
    release = ic.publish(table(hierarchies=TREES, keep=keep), ic.KAnonymity(5), **asked)
    assert release.shown.counted is None, "no driver saw the tally"
    data = release.to_polars()
    sizes = Counter(data.select(QUASI).iter_rows()).values()
    assert min(sizes) >= 5
    told = release.summary
    assert told["groups"]["number"] == len(sizes)
    assert told["guarantees"][0]["achieved"] == min(sizes)
    assert told["rows"] == {"in": ROWS, "published": data.height, "withheld": ROWS - data.height}
    if keep:  # every row beside what is its own, and inside of what it shows
        assert data["row"].n_unique() == data.height
        joined = data.join(FRAME, on="row", suffix=" before")
        assert joined["occupation"].equals(joined["occupation before"])
        assert all(holds(*pair) for pair in joined.select("age", "age before").iter_rows())
    local = ic.publish(
        ic.read(FRAME, quasi=QUASI, sensitive=["occupation"], keep=keep, others="drop", hierarchies=TREES),
        ic.KAnonymity(5),
        **asked,
    ).summary
    assert told["loss"]["gcp"] <= more * local["loss"]["gcp"] + 1e-9
    assert told["rows"]["withheld"] <= max(local["rows"]["withheld"] * 2, 0.05 * ROWS)


def test_levels_that_the_driver_can_hold_give_what_one_machine_gives(table: Any) -> None:
    asked = {"method": ic.FullDomain(max_withheld=0.05)}
    released = ic.publish(table(hierarchies=TREES), ic.KAnonymity(5), **asked).to_polars()
    given = ic.read(FRAME, quasi=QUASI, sensitive=["occupation"], others="drop", hierarchies=TREES)
    local = ic.publish(given, ic.KAnonymity(5), **asked).to_polars()
    assert released.select(local.columns).sort(local.columns).equals(local.sort(local.columns))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"method": ic.KDGS(5)}, "at the levels that k-dgs is to show"),
        ({"method": ic.Microaggregation()}, "to show the mean of 'age'"),
        ({"sample": 0.5}, "a sample"),
        ({"seconds": 1}, r"in a time cannot be found again, .* \(effort=4\)"),
        ({"method": ic.LocalSuppression(max_seconds=60)}, r"in a time cannot be found again \(leave out max_seconds\)"),
        ({"form": ic.ShowMultisets()}, "the form"),
    ],
)
def test_others_say_how_large_it_is_and_what_to_do(table: Any, asked: dict[str, Any], why: str) -> None:
    given = {"hierarchies": TREES} if isinstance(asked.get("method"), ic.KDGS) else {}
    with pytest.raises(TallyTooLarge, match=rf"the table has .* distinct tuples.*{LIMIT:,}.*{why}.*Hint: "):
        ic.publish(table(**given), ic.KAnonymity(5), **asked)


BUCKETS: dict[str, dict[str, Any]] = {
    "Anatomy": {"require": ic.DistinctLDiversity(3), "method": ic.Anatomy()},
    "slicing": {"require": ic.SlicedDiversity(2), "method": ic.Slicing()},
}


@pytest.mark.parametrize("way", BUCKETS)
def test_rows_in_buckets_never_meet_the_driver(way: str, table: Any, tmp_path: Any, monkeypatch: Any) -> None:
    from incrowd.forms.sliced import SlicedTable

    def never(*given: Any, **more: Any) -> Any:
        raise AssertionError("the driver makes rows")

    with monkeypatch.context() as patched:  # executors are processes of their own
        patched.setattr(SlicedTable, "batches", never)
        release = ic.publish(table(), **BUCKETS[way])
        release.save(tmp_path / "out")
    assert release.shown.counted is None
    data = pl.read_parquet(tmp_path / "out" / "data.parquet" / "*.parquet")
    for column in QUASI:
        assert Counter(data[column].to_list()) == Counter(FRAME[column].to_list()), "each value as often as before"
    sizes = Counter(data["bucket"].to_list())
    assert sorted(sizes) == list(range(release.summary["groups"]["number"]))
    if way == "Anatomy":
        rows = FRAME.group_by(QUASI).len().sort(QUASI)
        assert data.group_by(QUASI).len().sort(QUASI).equals(rows), "people are as they were"
        beside = pl.read_parquet(tmp_path / "out" / "sensitive.parquet" / "*.parquet")
        held = beside.group_by("bucket").agg(pl.col("occupation").n_unique(), pl.col("count").sum())
        assert held["occupation"].min() >= 3
        assert dict(held.select("bucket", "count").iter_rows()) == sizes
        assert set(release.tables) == {"sensitive"}
        told = dict(beside.group_by("occupation").agg(pl.col("count").sum()).iter_rows())
        assert told == Counter(FRAME["occupation"].to_list())
    checked = ic.check(tmp_path / "out")  # by the files alone, over all buckets of all parts
    assert [model.satisfied for model in checked.models] == [True]
    assert checked.models[0].achieved == pytest.approx(release.summary["guarantees"][0]["achieved"])


def test_buckets_count_rows_where_there_are_few_tuples(table: Any) -> None:
    given = table(quasi=["sex"])
    assert FRAME.select("sex", "occupation").n_unique() <= LIMIT
    release = ic.publish(given, ic.DistinctLDiversity(2), method=ic.Anatomy())
    assert release.shown.counted is None, "more rows than the driver is to hold"
    assert release.rows == ROWS


def test_what_an_executor_finds_wrong_is_told_here(table: Any) -> None:
    with pytest.raises(SchemaError, match=r"in a part of the table: .*nothing"):
        ic.publish(table(), ic.KAnonymity(5), method=ic.Mondrian(fixed=("nothing",)))


def test_what_cannot_be_is_refused(table: Any) -> None:
    with pytest.raises(Unsatisfiable):
        ic.publish(table(), ic.KAnonymity(ROWS + 1))
    release = ic.publish(table(), ic.KAnonymity(ROWS))
    assert release.summary["groups"]["number"] == 1
    with pytest.raises(QueryError, match="ask the engine that holds it"):
        release.count({})
