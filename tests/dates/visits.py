"""Visits of patients, some of whom come often; and what plain Python makes of a treatment of their dates."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

import incrowd as ic

Row = dict[str, Any]


def visits(people: int = 40, *, most: int = 4, seed: int = 1, missing: float = 0.1) -> pl.DataFrame:
    """Make up visits; ages are even, so that groups are found, and each row has a mark that is kept."""
    dice = random.Random(seed)
    rows: list[Row] = []
    for person in range(people):
        for _ in range(dice.randint(1, most)):
            seen = date(2020, 1, 1) + timedelta(days=dice.randrange(700))
            rows.append(
                {
                    "patient": f"P{person:03}",
                    "age": 20 + person // 4 * 2,
                    "ill": dice.choice(["flu", "cold", "gout", "hiv"]),
                    "visit": None if dice.random() < missing else seen,
                    "paid": seen + timedelta(days=dice.randrange(60)),
                    "mark": len(rows),
                }
            )
    dice.shuffle(rows)
    return pl.DataFrame(rows, schema_overrides={"visit": pl.Date, "paid": pl.Date})


def read(frame: Any, dates: Mapping[str, Any], *, linked: bool = False, **options: Any) -> ic.Table:
    given: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"], "person": "patient", "keep": ["mark"]}
    given |= {"pseudonyms": ["patient"] if linked else [], "others": "drop", "dates": dates}
    return ic.read(frame, **{**given, **options})


def published(frame: Any, dates: Mapping[str, Any], *, linked: bool = False, **options: Any) -> ic.Release:
    return ic.publish(read(frame, dates, linked=linked), ic.KAnonymity(3), **options)


def beside(release: ic.Release, before: pl.DataFrame) -> list[tuple[Row, Row]]:
    """Return pairs of a published row and the row that it was made of, found by its mark."""
    rows = {row["mark"]: row for row in before.to_dicts()}
    return [(row, rows[int(row["mark"])]) for row in release.to_polars().to_dicts()]


def by_person(pairs: Sequence[tuple[Row, Row]]) -> dict[str, list[tuple[Row, Row]]]:
    found = defaultdict(list)
    for after, before in pairs:
        found[before["patient"]].append((after, before))
    return dict(found)


def shift_of(after: Any, before: Any) -> int | None:
    """Return by how many whole days a date was moved; None where it is missing on both sides."""
    if after is None or before is None:
        assert after is None
        assert before is None
        return None
    if isinstance(after, str):
        assert after[10:] == before[10:]
        after, before = date.fromisoformat(after[:10]), date.fromisoformat(before[:10])
    moved = after - before
    assert moved == timedelta(days=moved.days)
    return int(moved.days)


def unit_name(day: date | datetime, unit: str) -> str:
    """Return the part of the calendar that a day is in, by the plainest means."""
    year, week, _ = day.isocalendar()
    return {
        "day": f"{day.year:04}-{day.month:02}-{day.day:02}",
        "week": f"{year:04}-W{week:02}",
        "month": f"{day.year:04}-{day.month:02}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
        "decade": f"{day.year // 10 * 10:04}s",
    }[unit]


def elapsed(start: date, day: date, unit: str) -> int:
    """Count full units from one day to another, one by one."""
    if unit in ("days", "weeks"):
        return (day - start).days // (1 if unit == "days" else 7)
    months = 12 * (day.year - start.year) + day.month - start.month
    full = months if day.day >= start.day else months - 1
    return full if unit == "months" else full // 12
