"""Dates print as dates: ranges of years in labels, days without a time of day in files, numbers as they are."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import incrowd as ic
from tests.cli.command import incrowd

FRAME = pl.DataFrame(
    {
        "born": [date(1900 + row % 100, 1 + row % 100 * 7 % 12, 1 + row % 100 * 11 % 28) for row in range(300)],
        "ill": [["flu", "cold", "gout"][row % 3] for row in range(300)],
    }
)
KINDS = ("csv", "parquet", "arrow", "xlsx")


def first_day(text: str) -> date:
    """The day on which a year or a month begins, in plain Python."""
    year, month, day = (*map(int, text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def holds(label: str, day: date) -> bool:
    if label == "*":
        return True
    if label.startswith("<"):
        return day < first_day(label[1:])
    if label.startswith(">="):
        return day >= first_day(label[2:])
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return first_day(low) <= day < first_day(high)
    return day == first_day(label)


@pytest.fixture(scope="module")
def release() -> ic.Release:
    table = ic.read(FRAME, quasi=["born"], sensitive=["ill"])
    return ic.publish(table, ic.KAnonymity(20), seed=1)


def test_ranges_of_whole_years_are_written_as_years(release: ic.Release) -> None:
    labels = release.to_polars()["born"].unique().to_list()
    assert any(re.fullmatch(r"\[\d{4}, \d{4}\)", label) for label in labels)
    assert not any(re.search(r"\d{4}-01-01, \d{4}-01-01", label) for label in labels)
    for label, number in release.to_polars().group_by("born").len().iter_rows():
        assert number == sum(holds(label, day) for day in FRAME["born"].to_list())


@pytest.mark.parametrize("kind", KINDS)
def test_years_read_back_from_files(release: ic.Release, kind: str, tmp_path: Path) -> None:
    release.save(tmp_path / "r", format=kind)
    told = json.loads((tmp_path / "r" / "labels.json").read_text(encoding="utf-8"))["columns"]["born"]
    assert told["kind"] == "dates"
    label, (piece, *_) = next((text, pieces) for text, pieces in told["labels"].items() if text.startswith("["))
    assert piece == {
        "from": str(first_day(label[1:-1].split(", ")[0])),
        "below": str(first_day(label[1:-1].split(", ")[1])),
    }
    again = ic.open_release(tmp_path / "r")
    known = ic.open_release(tmp_path / "r", original=FRAME)
    for low, high in (("1910-01-01", "1935-06-30"), ("1903-03-03", None), (None, "1977-01-01")):
        query = {"born": (low, high)}
        assert again.count(query) == release.count(query) == known.count(query)
    assert ic.check(tmp_path / "r").k == release.guarantees[0].achieved
    assert sorted(known.form.group_sizes.tolist()) == sorted(release.form.group_sizes.tolist())


def test_the_scheme_of_years_is_applied_to_other_rows(release: ic.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r", format="csv")
    others = FRAME.with_columns(pl.col("born").dt.offset_by("40d"))
    others.write_csv(tmp_path / "new.csv")
    assert incrowd("apply", tmp_path / "r", tmp_path / "new.csv", "--output", tmp_path / "s").code == 0
    rows = pl.read_csv(tmp_path / "s" / "data.csv")
    assert set(rows["born"]) <= set(release.to_polars()["born"])
    for label, number in rows.group_by("born").len().iter_rows():
        assert number == sum(holds(label, day) for day in others["born"].to_list())


def test_years_of_another_tool_are_read_as_dates(tmp_path: Path) -> None:
    rows = {
        "1900-1919": 3, "[1920, 1930[": 4, "1930s": 2, "1940": 2, "[1941-01; 1941-04)": 2, "≥ 1950": 3,
    }  # fmt: skip
    labels = [label for label, number in rows.items() for _ in range(number)]
    pl.DataFrame({"born": labels, "ill": ["flu", "cold"] * (len(labels) // 2)}).write_csv(tmp_path / "p.csv")
    days = [
        *[date(1900, 1, 1), date(1919, 12, 31), date(1905, 5, 5)],
        *[date(1920, 1, 1), date(1929, 12, 31), date(1921, 1, 1), date(1922, 2, 2)],
        *[date(1930, 1, 1), date(1939, 12, 31)],
        *[date(1940, 1, 1), date(1940, 12, 31)],
        *[date(1941, 1, 1), date(1941, 3, 31)],
        *[date(1950, 1, 1), date(1990, 1, 1), date(2000, 1, 1)],
    ]
    original = pl.DataFrame({"born": days, "ill": ["flu", "cold"] * (len(days) // 2)})
    hierarchy = '[columns.born]\nrole = "quasi"\nhierarchy = { kind = "dates" }\n'
    (tmp_path / "d.toml").write_text(f'[columns]\nill = "sensitive"\n{hierarchy}', encoding="utf-8")
    opened = ic.open_release(tmp_path / "p.csv", description=tmp_path / "d.toml", original=original)
    assert sorted(opened.form.group_sizes.tolist()) == sorted(rows.values())
    alone = ic.open_release(tmp_path / "p.csv", description=tmp_path / "d.toml")
    for found in (opened, alone):
        assert found.count({"born": ("1920-01-01", "1929-12-31")}) == 4
        assert found.count({"born": ("1941-01-01", "1941-03-31")}) == 2
        assert found.count({"born": ("1900-01-01", "1919-12-31")}) == 3


MIDNIGHT = [datetime(2020, 1, 1 + row % 28) for row in range(20)]
TIMES = [datetime(2020, 1, 1 + row % 28, row % 3 * 6, 0, 0, 120000 * (row % 2)) for row in range(20)]


def visits(unit: str = "us") -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [30 + row % 2 for row in range(20)],
            "day": pl.Series(MIDNIGHT, dtype=pl.Datetime(unit)),  # type: ignore[arg-type]
            "moment": pl.Series(TIMES, dtype=pl.Datetime(unit)),  # type: ignore[arg-type]
            "seen": pl.Series(MIDNIGHT, dtype=pl.Datetime(unit)),  # type: ignore[arg-type]
            "count": [None if row % 5 == 0 else float(row) for row in range(20)],
        }
    )


def saved(frame: Any, place: Path, kind: str) -> Any:
    table = ic.read(frame, quasi=["age"], sensitive=["seen"], keep=["day", "moment", "count"])
    return ic.publish(table, ic.KAnonymity(5), seed=1).save(place, format=kind)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_midnight_is_no_time_in_a_csv(unit: str, tmp_path: Path) -> None:
    path = saved(visits(unit), tmp_path / "r", "csv")
    found = pl.read_csv(path, infer_schema=False)
    for name in ("day", "seen"):
        assert sorted(found[name]) == sorted(f"{moment:%Y-%m-%d}" for moment in MIDNIGHT)
    # In a column with times of day, midnight is one of them; and no second has zeros at its end.
    assert sorted(found["moment"]) == sorted(
        f"{moment:%Y-%m-%dT%H:%M:%S}" + (".12" if moment.microsecond else "") for moment in TIMES
    )
    assert sorted(found["count"].drop_nulls()) == sorted(str(row) for row in range(20) if row % 5)
    again = ic.open_release(tmp_path / "r", original=visits(unit))
    assert again.count({"seen": "2020-01-05"}) == 1.0
    assert ic.check(tmp_path / "r").k == 10


def test_midnight_in_a_frame_of_pandas(tmp_path: Path) -> None:
    path = saved(visits().to_pandas(), tmp_path / "r", "csv")
    found = pd.read_csv(path, dtype=str)
    assert set(found["day"].str.len()) == {len("2020-01-01")}
    assert set(found["count"].dropna()) == {str(row) for row in range(20) if row % 5}


def test_midnight_in_a_workbook_and_in_a_database(tmp_path: Path) -> None:
    path = saved(visits(), tmp_path / "r", "xlsx")
    found = pl.read_excel(path, engine="calamine")
    assert (found.schema["day"], found.schema["seen"]) == (pl.Date, pl.Date)
    assert found.schema["moment"] == pl.Datetime("ms")
    table = ic.read(visits(), quasi=["age"], sensitive=["seen"], keep=["day", "moment", "count"])
    ic.publish(table, ic.KAnonymity(5), seed=1).save(f"sqlite:///{tmp_path / 'out.db'}#r")
    with sqlite3.connect(tmp_path / "out.db") as opened:
        days, moments = zip(*opened.execute('SELECT "day", "moment" FROM r').fetchall(), strict=True)
    opened.close()
    assert set(map(len, days)) == {len("2020-01-01")}
    assert not any(moment.endswith("0000") for moment in moments)


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_midnight_in_a_statistics_file(kind: str, tmp_path: Path) -> None:
    path = saved(visits(), tmp_path / "r", kind)
    found, told = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[kind](str(path))
    assert all(isinstance(day, date) and not isinstance(day, datetime) for day in found["day"])
    assert "TIME" in told.original_variable_types["moment"].upper() or "%tc" in told.original_variable_types["moment"]


def test_types_are_kept_where_files_have_them(tmp_path: Path) -> None:
    found = pl.read_parquet(saved(visits(), tmp_path / "r", "parquet"))
    assert found.schema["day"] == found.schema["seen"] == pl.Datetime("us")
    assert found.schema["count"] == pl.Float64


def test_bounds_of_times_at_midnight_are_days(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.col("born").cast(pl.Datetime("us")))
    table = ic.read(frame, quasi=["born"], sensitive=["ill"])
    release = ic.publish(table, ic.KAnonymity(20), show="bounds", seed=1)
    path = release.save(tmp_path / "r", format="csv")
    assert "00:00" not in path.read_text(encoding="utf-8")
    assert "00:00:00" not in (tmp_path / "r" / "labels.json").read_text(encoding="utf-8")
    again = ic.open_release(tmp_path / "r")
    query = {"born": ("1910-01-01", "1935-06-30")}
    assert again.count(query) == release.count(query)
    assert sorted(again.form.group_sizes.tolist()) == sorted(release.form.group_sizes.tolist())


def test_an_empty_and_a_single_value_of_times(tmp_path: Path) -> None:
    nothing = visits().with_columns(pl.lit(None).cast(pl.Datetime("us")).alias("day"))
    found = pl.read_csv(saved(nothing, tmp_path / "a", "csv"), infer_schema=False)
    assert found["day"].null_count() == 20
    one = visits().with_columns(pl.lit(datetime(2020, 1, 1)).alias("day"))
    assert set(pl.read_csv(saved(one, tmp_path / "b", "csv"), infer_schema=False)["day"]) == {"2020-01-01"}
