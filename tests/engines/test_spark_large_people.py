"""More people than the driver holds: groups are counted in people, and all rows of a person are in one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import SchemaError, TallyTooLarge, Unsatisfiable
from tests.engines.counted_once import counted_once
from tests.engines.test_spark_large import holds, require_counted_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PEOPLE, LIMIT = 1200, 700
NAME = "spark.incrowd.driverTuples"
KEY = ic.PseudonymKey(bytes(range(9, 41)))
ONES = ic.datasets.census(PEOPLE, seed=5).with_columns(who=pl.int_range(PEOPLE), times=pl.int_range(PEOPLE) % 4 + 1)
FRAME = (
    ONES.select(pl.all().repeat_by("times"))
    .explode(pl.all())
    .with_columns(nth=pl.int_range(pl.len()).over("who"), row=pl.int_range(pl.len()))
    .with_columns(
        # Some people get older from row to row, some lack an age once, and names are spelt in several ways.
        age=pl.when((pl.col("who") % 17 == 0) & (pl.col("nth") == 1))
        .then(None)
        .otherwise(pl.col("age") + pl.col("nth") * (pl.col("who") % 5 == 0) * 3),
        pid=pl.concat_str(pl.col("who"), pl.when(pl.col("nth") == 2).then(pl.lit(".0 ")).otherwise(pl.lit(""))),
        illness=pl.concat_str(pl.lit("i"), (pl.col("row") * 7) % 11),
        day=pl.date(2020, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 300),
    )
)
QUASI = ("age", "education")
MODELS = [ic.KAnonymity(5), ic.ProbabilisticLDiversity(1.6), ic.DistinctLDiversity(2), ic.TCloseness(0.8)]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> Iterator[Any]:
    from incrowd.engines.spark.arrow_batches import to_spark

    frame = to_spark(spark, FRAME).repartition(2).cache()
    spark.conf.set(NAME, str(LIMIT))

    def read(**given: Any) -> ic.Table:
        roles = {"quasi": QUASI, "sensitive": ["illness"], "person": "pid", "others": "drop"}
        return ic.read(frame, **{**roles, **given})

    with counted_once(frame):
        yield read
    spark.conf.unset(NAME)
    frame.unpersist()


@pytest.fixture(scope="module")
def saved(table: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[ic.Release, Path]:
    """Rows that are found again in the table: with a kept column, pseudonyms and dates that are cut."""
    given = table(keep=["row"], pseudonyms=["pid"], dates={"day": ic.TruncateDates()})
    release = ic.publish(given, MODELS, pseudonym_key=KEY)
    folder = tmp_path_factory.mktemp("people") / "out"
    release.save(folder)
    return release, folder


def test_every_group_has_k_people_and_everybody_one_group(saved: tuple[ic.Release, Path]) -> None:
    release, folder = saved
    assert release.shown.counted is None, "no driver saw the tally"
    data = pl.read_parquet(folder / "data.parquet" / "*.parquet")
    assert sorted(data["row"].to_list()) == FRAME["row"].to_list(), "every row once"
    before = {row["row"]: row for row in FRAME.iter_rows(named=True)}
    people, groups_of = defaultdict(set), defaultdict(set)
    for row in data.iter_rows(named=True):
        was, group = before[row["row"]], tuple(row[name] for name in QUASI)
        people[group].add(was["who"])
        groups_of[was["who"]].add(group)
        assert row["illness"] == was["illness"]
        assert row["day"] == f"{was['day']:%Y-%m}"
        assert holds(row["age"], was["age"])
    assert min(map(len, people.values())) >= 5
    assert {len(groups) for groups in groups_of.values()} == {1}
    assert len(people) > 50, "it is cut, and not only into the first parts"
    told = release.summary
    assert told["people"] == {
        "in": PEOPLE,
        "published": PEOPLE,
        "withheld": 0,
        "in the smallest group": min(map(len, people.values())),
        "in the largest group": max(map(len, people.values())),
    }
    assert told["guarantees"][0]["achieved"] == min(map(len, people.values()))
    assert told["groups"]["smallest"] == min(Counter(data.select(QUASI).iter_rows()).values())
    # One pseudonym for each person, and the one that a smaller table of theirs would have.
    names = {before[row["row"]]["who"]: row["pid"] for row in data.iter_rows(named=True)}
    codes = key_of(FRAME["who"].unique().sort().cast(pl.String))
    assert [names[who] for who in range(PEOPLE)] == codes
    assert data["pid"].n_unique() == PEOPLE


def key_of(names: pl.Series) -> list[str]:
    order = names.cast(pl.Int64).arg_sort()
    return KEY.pseudonyms(names.gather(order)).to_list()


def test_values_are_those_that_people_have(saved: tuple[ic.Release, Path]) -> None:
    release, folder = saved
    data = pl.read_parquet(folder / "data.parquet" / "*.parquet")
    who = dict(zip(FRAME["row"].to_list(), FRAME["who"].to_list(), strict=True))
    people, have = defaultdict(set), defaultdict(lambda: defaultdict(set))
    for row in data.iter_rows(named=True):
        group = tuple(row[name] for name in QUASI)
        people[group].add(who[row["row"]])
        have[group][row["illness"]].add(who[row["row"]])
    most = max(len(held) / len(people[group]) for group, values in have.items() for held in values.values())
    assert most <= 1 / 1.6
    assert min(different(len(people[group]), values) for group, values in have.items()) >= 2
    assert any(len(values) > different(len(people[group]), values) for group, values in have.items())
    told = [guarantee.achieved for guarantee in release.guarantees]
    assert told[:3] == [
        min(map(len, people.values())),
        pytest.approx(1 / most),
        min(different(len(people[group]), values) for group, values in have.items()),
    ]
    checked = ic.check(folder).models  # by the files alone, on one machine
    assert all(model.satisfied for model in checked)
    assert [model.achieved for model in checked] == pytest.approx(told)


def different(people: int, have: dict[str, set[int]]) -> int:
    """Return how many values there are if each person is taken for one, the frequent ones as often as can be."""
    left, found = people, 0
    for held in sorted(map(len, have.values()), reverse=True):
        found += left > 0
        left -= held
    return found


def test_from_the_tally_alone(table: Any) -> None:
    release = ic.publish(table(), ic.KAnonymity(20))
    data = release.to_polars()
    assert data.columns == [*QUASI, "illness"]
    assert Counter(data["illness"].to_list()) == Counter(FRAME["illness"].to_list())
    assert release.people is not None
    assert release.people.published == PEOPLE
    assert int(release.people.group_sizes.min()) >= 20
    assert int(release.people.group_sizes.sum()) == PEOPLE, "everybody is in one group"


def test_rows_would_have_been_counted_for_people() -> None:
    """The same table without people has groups of five rows that are fewer people: what is refused is worth it."""
    given = ic.read(FRAME, quasi=QUASI, sensitive=["illness"], keep=["who"], others="drop")
    rows = ic.publish(given, ic.KAnonymity(5)).to_polars()
    assert rows.group_by(QUASI).agg(pl.col("who").n_unique())["who"].min() < 5  # type: ignore[operator]


@pytest.mark.parametrize(
    ("roles", "asked", "why"),
    [
        ({}, {"require": ic.KAnonymity(5), "method": ic.FullDomain()}, "full-domain needs all of them"),
        ({}, {"require": ic.KAnonymity(5), "sample": 0.5}, "a sample"),
    ],
)
def test_others_are_refused_in_words(table: Any, roles: Any, asked: Any, why: str) -> None:
    with pytest.raises(TallyTooLarge, match=why):
        ic.publish(table(**roles), **asked)


def test_dates_that_are_treated_by_person_are_refused(table: Any) -> None:
    for treatment in (ic.ShiftDates(5), ic.DatesSinceFirst()):
        with pytest.raises(TallyTooLarge, match="the dates of 'day' are treated by person"):
            ic.publish(table(dates={"day": treatment}), ic.KAnonymity(5))


def test_nobody_is_nobody(table: Any, spark: SparkSession) -> None:
    from incrowd.engines.spark.arrow_batches import to_spark

    with pytest.raises(Unsatisfiable):
        ic.publish(table(), ic.KAnonymity(PEOPLE + 1))
    assert ic.publish(table(), ic.KAnonymity(PEOPLE)).summary["groups"]["number"] == 1
    lacking = to_spark(spark, FRAME.with_columns(pid=pl.when(pl.col("row") > 3).then("pid").otherwise(pl.lit(" "))))
    with pytest.raises(SchemaError, match="'pid' tells whose a row is, and some rows have no value there"):
        ic.publish(ic.read(lacking, quasi=QUASI, person="pid", others="drop"), ic.KAnonymity(5))


@pytest.mark.usefixtures("table")
def test_everybody_has_one_row_and_the_tally_is_counted_once(spark: SparkSession) -> None:
    from incrowd.engines.spark.arrow_batches import to_spark

    frame = to_spark(spark, ONES).cache()
    release = require_counted_once(spark, frame, quasi=["age"], person=["who", "times"])
    frame.unpersist()
    assert release.shown.counted is None, "no driver saw the tally"
    assert release.people is None
    assert release.to_polars().group_by("age").len()["len"].min() >= 10


def test_who_lacks_a_value_once_has_the_others(spark: SparkSession, table: Any) -> None:
    """Shares in groups and in the table are those of people with a value: a gap beside it makes nobody lack it."""
    from incrowd.engines.spark.arrow_batches import to_spark

    gaps = (pl.col("who") % 3 == 0) & (pl.col("nth") == 0) & (pl.col("times") > 1) | (pl.col("who") % 41 == 0)
    frame = FRAME.with_columns(illness=pl.when(~gaps).then(pl.concat_str(pl.lit("i"), pl.col("row") % 3)))
    given = ic.read(
        to_spark(spark, frame), quasi=["age"], sensitive=["illness"], person="pid", keep=["row"], others="drop"
    )
    release = ic.publish(given, [ic.KAnonymity(20), ic.BasicBetaLikeness(2.0)])
    assert release.shown.counted is None, "no driver saw the tally"
    value_of = dict(frame.select("row", "illness").iter_rows())
    who_of = dict(frame.select("row", "who").iter_rows())
    groups: dict[Any, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    everybody: dict[int, set[str]] = defaultdict(set)
    for row in pl.DataFrame(release.to_polars()).iter_rows(named=True):
        if value_of[row["row"]] is not None:
            groups[row["age"]][who_of[row["row"]]].add(value_of[row["row"]])
            everybody[who_of[row["row"]]].add(value_of[row["row"]])
    shares = shares_of(everybody)
    gains = [(share / shares[value]) - 1 for group in groups.values() for value, share in shares_of(group).items()]
    assert release.guarantees[1].achieved == pytest.approx(max(gains))


def shares_of(people: dict[int, set[str]]) -> dict[str, float]:
    """Return the share of those who have a value, of all who have any."""
    found = Counter(value for values in people.values() for value in values)
    return {value: number / len(people) for value, number in found.items()}
