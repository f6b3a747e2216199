"""Dates on Spark: the treatments of one machine, with the same key the same dates, and the same refusals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest

import incrowd as ic
from incrowd.errors import SchemaError
from tests.dates.visits import beside, by_person, elapsed, read, shift_of, unit_name, visits
from tests.engines.counted_once import counted_once
from tests.engines.summaries import told
from tests.engines.test_engines import sorted_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ZONE = "Europe/Berlin"
KEY = ic.PseudonymKey(bytes(range(50, 82)))
VISITS = visits(60, most=5)
COPIED = VISITS.with_columns(seen="visit", billed="paid", first="visit", since="paid")
TIMES = ("visit", "paid", "seen", "billed", "first", "since")
CLOCK = pl.duration(hours=pl.col("mark") * 5 % 24, minutes=pl.col("mark") * 7 % 60, microseconds=pl.col("mark") * 1001)
WRITTEN = "%Y-%m-%dT%H:%M:%S%.6fZ"
KINDS: dict[str, pl.DataFrame] = {
    "days": COPIED,
    "times": COPIED.with_columns(pl.col(TIMES).cast(pl.Datetime("us")) + CLOCK),
    "times with a zone": COPIED.with_columns(
        (pl.col(TIMES).cast(pl.Datetime("us")) + CLOCK).dt.replace_time_zone("UTC")
    ),
    "text": COPIED.with_columns(
        pl.when(pl.col("mark") % 9 == 0)
        .then(pl.lit(" "))
        .otherwise((pl.col("visit", "seen", "first").cast(pl.Datetime("us")) + CLOCK).dt.to_string(WRITTEN) + " ")
        .name.keep(),
        pl.col("paid", "billed", "since").cast(pl.String),
    ),
}
SHIFT = ic.ShiftDates(40)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "shifted to the day": ({"visit": ic.ShiftDates(40, to="day")}, {}, {"sample": 0.6}),
    "cut": ({"visit": ic.TruncateDates("quarter"), "paid": ic.TruncateDates("day")}, {}, {}),
    "all at once": (  # each treatment, for dates of every kind; two columns are shifted alike
        {
            "visit": SHIFT,
            "billed": SHIFT,
            "paid": ic.ShiftDates(400, to="week", apart=True),
            "first": ic.DatesSinceFirst(),
            "since": ic.DatesSinceFirst("months"),
            "seen": ic.TruncateDates("month"),
        },
        {"linked": True},
        {},
    ),
    "since the first of another": (
        {"paid": ic.DatesSinceFirst("weeks", first_of="visit"), "visit": ic.TruncateDates("decade")},
        {"keep": []},
        {},
    ),
    "since a quasi-identifier": (
        {"visit": ic.DatesSinceFirst("years", first_of="paid")},
        {"quasi": ["paid"]},
        {"require": ic.KAnonymity(4)},
    ),
}


@pytest.fixture(autouse=True)
def batches(spark: SparkSession) -> Iterator[None]:
    """Batches so small that the rows of some people are in two, or in many; and a zone where clocks are changed."""
    small, zone = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.session.timeZone"
    before = str(spark.conf.get(zone))
    spark.conf.set(small, "7")
    spark.conf.set(zone, ZONE)
    yield
    spark.conf.unset(small)
    spark.conf.set(zone, before)


def to_spark(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    from incrowd.engines.spark.arrow_batches import to_spark

    return to_spark(spark, frame).repartition(2)


@pytest.fixture(scope="module")
def held(spark: SparkSession) -> Iterator[dict[str, DataFrame]]:
    """The visits with dates of each kind, which Spark holds; each of their tallies is counted once."""
    frames = {kind: to_spark(spark, frame).cache() for kind, frame in KINDS.items()}
    with counted_once(*frames.values()):
        yield frames


def release_of(frame: Any, case: str) -> ic.Release:
    dates, roles, asked = CASES[case]
    table = read(frame, dates, **roles)
    return ic.publish(table, **{"require": ic.KAnonymity(3), **asked}, seed=4, pseudonym_key=KEY)


@pytest.mark.parametrize(
    ("case", "kind"),
    [*((case, "days") for case in CASES), *(("all at once", kind) for kind in KINDS if kind != "days")],
)
def test_dates_are_those_of_one_machine(held: dict[str, DataFrame], case: str, kind: str) -> None:
    here = release_of(KINDS[kind].with_columns(cs.datetime(time_zone="*").dt.convert_time_zone(ZONE)), case)
    there = release_of(held[kind], case)
    assert there.rows > 0
    assert told(there) == told(here)
    rows = [release.to_polars().with_columns(as_instants()) for release in (here, there)]
    assert rows[1].schema == rows[0].schema
    assert sorted_rows(rows[1]).equals(sorted_rows(rows[0]))


def as_instants() -> pl.Expr:
    """Spark has no zones by column, so that its instants come back in UTC."""
    return cs.datetime(time_zone="*").dt.convert_time_zone("UTC")


def test_plain_python_agrees_through_saved_files(spark: SparkSession, tmp_path: Path) -> None:
    table = read(
        to_spark(spark, VISITS.with_columns(first=pl.col("visit"), month=pl.col("paid"))),
        {
            "visit": SHIFT,
            "paid": SHIFT,
            "first": ic.DatesSinceFirst("months"),
            "month": ic.TruncateDates("week"),
        },
        linked=True,
    )
    release = ic.publish(table, ic.KAnonymity(3))
    release.save(tmp_path / "out")
    found = pl.read_parquet(tmp_path / "out" / "data.parquet" / "*.parquet")
    rows = {row["mark"]: row for row in VISITS.to_dicts()}
    pairs = [(row, rows[row["mark"]]) for row in found.to_dicts()]
    assert len(pairs) == release.rows > 100
    shifts = {}
    for person, of_person in by_person(pairs).items():
        assert len({after["patient"] for after, _ in of_person}) == 1
        moved = {shift_of(after[name], before[name]) for after, before in of_person for name in ("visit", "paid")}
        (shifts[person],) = moved - {None}
        start = min((before["visit"] for _, before in of_person if before["visit"]), default=None)
        for after, before in of_person:
            assert after["month"] == unit_name(before["paid"], "week")
            known = start is not None and before["visit"] is not None
            assert after["first"] == (elapsed(start, before["visit"], "months") if known else None)
    assert all(-40 <= shift <= 40 for shift in shifts.values())
    assert len(set(shifts.values())) > len(shifts) / 3
    assert ic.open_release(tmp_path / "out").dates.treatments["visit"] == SHIFT


def test_shifts_are_joined_and_in_no_plan(spark: SparkSession) -> None:
    java: Any = release_of(to_spark(spark, VISITS.with_columns(unused=1)), "shifted to the day").data._jdf
    plan = str(java.queryExecution().executedPlan().toString())
    told = str(java.queryExecution().toString())
    assert "MapInArrow" in plan
    assert "unused" not in plan, "columns that are not published are not handed to Python"
    assert KEY.secret.hex().upper()[:8] not in told.upper()


def test_everybody_has_one_row_and_chance_deals(spark: SparkSession) -> None:
    once = VISITS.unique("patient", keep="first").with_columns(age=pl.col("age") // 10)
    for asked in ({"sample": 0.5}, {"method": ic.Mondrian(cuts="relaxed")}):
        releases = [
            ic.publish(
                read(frame, {"visit": SHIFT, "paid": ic.DatesSinceFirst(first_of="visit")}, sensitive=[]),
                ic.KAnonymity(3), seed=3, pseudonym_key=KEY, **asked,
            )
            for frame in (once, to_spark(spark, once))
        ]  # fmt: skip
        assert sorted_rows(releases[1].data).equals(sorted_rows(releases[0].to_polars()))


def test_somebody_with_more_rows_than_a_batch(spark: SparkSession) -> None:
    often = pl.DataFrame(
        {
            "patient": ["A"] * 50 + ["B"] * 2 + ["C"] * 11,
            "age": 1,
            "ill": "flu",
            "visit": [date(2020, 1, 1) + timedelta(days=(7 * day) % 63) for day in range(63)],
            "mark": range(63),
        }
    )
    release = ic.publish(read(to_spark(spark, often), {"visit": ic.DatesSinceFirst()}), ic.KAnonymity(3))
    for rows in by_person(beside(release, often)).values():
        first = min(before["visit"] for _, before in rows)
        assert all(after["visit"] == (before["visit"] - first).days for after, before in rows)


def test_whole_people_come_together_however_batches_end() -> None:
    pa = pytest.importorskip("pyarrow")
    from incrowd.engines.spark.dates import _whole_people

    rng = np.random.default_rng(1)
    for _ in range(200):
        person = np.sort(rng.integers(0, rng.integers(1, 8), rng.integers(0, 30)))
        ends = np.sort(rng.integers(0, len(person) + 1, rng.integers(0, 9)))
        pieces = [
            pa.RecordBatch.from_arrays([pa.array(piece), pa.array(piece * 10)], names=["person", "x"])
            for piece in np.split(person, ends)
        ]
        found = [table["person"].to_numpy() for table in _whole_people(iter(pieces))]
        assert np.array_equal(np.concatenate([*found, person[:0]]), person)
        several = [set(part.tolist()) for part in found]
        assert sum(map(len, several)) == len(set(person.tolist())), "nobody is in two"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["2020-01-01", "soon", None], "some of its values are none"),
        (["2020-01-01", "2020-02-30", None], "some of its values are none"),
        (["2020-01-01", "9999-12-31", None], "too near to the ends of the calendar"),
        ([date(2020, 1, 1), date(9999, 12, 31), None], "too near to the ends of the calendar"),
        ([datetime(2020, 1, 1), datetime(1, 1, 3), None], "too near to the ends of the calendar"),
        ([1, 2, 3], "some of its values are none"),
    ],
)
def test_what_is_no_date_is_refused_as_on_one_machine(spark: SparkSession, values: list[Any], said: str) -> None:
    frame = pl.DataFrame({"patient": [1, 2, 3], "age": 1, "ill": "x", "visit": values, "mark": 0})
    for source in (frame, to_spark(spark, frame)):
        with pytest.raises(SchemaError, match=rf"column 'visit' .*{said}") as raised:
            ic.publish(read(source, {"visit": SHIFT}), ic.KAnonymity(2))
        assert "soon" not in str(raised.value)
    # What stands for a missing date is none that is refused.
    if values[1] == "soon":
        told = {"visit": SHIFT, "mark": ic.TruncateDates()}
        dated = frame.with_columns(mark=pl.lit("-"))
        for source in (dated, to_spark(spark, dated)):
            table = read(source, told, missing=["soon", "-"], keep=[])
            assert ic.publish(table, ic.KAnonymity(2)).to_polars()["visit"].null_count() == 2
