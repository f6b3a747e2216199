"""What columns are taken for, by their values."""

from __future__ import annotations

from uuid import UUID

import polars as pl
import pytest

from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.patterns import looks_like_codes, looks_like_free_text, recognise

ROWS = 100


def column(values: list[str], *, name: str = "x", rows: int | None = None) -> ColumnFacts:
    distinct = pl.Series(values).unique().sort()
    return ColumnFacts(
        name=name,
        look="text",
        rows=rows or len(values),
        missing=0,
        distinct=len(distinct),
        distinct_exact=True,
        values=distinct,
        complete=True,
    )


@pytest.mark.parametrize(
    ("values", "concept"),
    [
        ([f"anna.{i}@mail.example.org" for i in range(ROWS)], "email"),
        ([f"+49 171 {1000000 + i}" for i in range(ROWS)], "phone"),
        ([f"({200 + i}) 555-0{100 + i}" for i in range(ROWS)], "phone"),
        ([f"https://example.org/{i}" for i in range(ROWS)], "url"),
        ([f"10.0.{i}.1" for i in range(ROWS)], "network"),
        ([f"fe80::{i:x}:1:2" for i in range(ROWS)], "network"),
        ([str(UUID(int=i)) for i in range(ROWS)], "person id"),
        ([f"DE{10 + i % 80} 3704 0044 0532 0130 {i:02d}" for i in range(ROWS)], "official number"),
        ([f"{100 + i}-{10 + i % 80}-{1000 + i}" for i in range(ROWS)], "official number"),
        ([f"48.{1000 + i}, 2.{2000 + i}" for i in range(ROWS)], "coordinate"),
        ([f"{1 + i % 28:02d}.{1 + i % 12:02d}.19{i % 80 + 10}" for i in range(ROWS)], "event date"),
        ([f"{1 + i % 12}/{1 + i % 28}/20{i % 80 + 10}" for i in range(ROWS)], "event date"),
        (["SW1A 1AA", "EC1A 1BB", "M1 1AE"] * 30, "postal code"),
        ([f"{10000 + i % 40}" for i in range(ROWS)], "postal code"),
        ([f"Anna von {chr(65 + i % 26)}smit{chr(97 + i // 26)}" for i in range(ROWS)], "person name"),
    ],
)
def test_values_say_what_they_are(values: list[str], concept: str) -> None:
    found = recognise(column(values))
    assert found is not None
    assert found.concept.key == concept
    assert found.by == "values"


@pytest.mark.parametrize(
    "values",
    [
        ["1990-1994", "1995-1999", "2000-2004"] * 30,  # years, not telephone numbers
        [f"{i:07d}" for i in range(ROWS)],  # a code with leading zeros
        ["New York", "Los Angeles", "San Francisco"] * 30,  # few, so no names of people
        ["yes", "no"] * 50,
        ["256.1.1.1", "999.0.0.1", "10.0.0.300"] * 30,  # bytes end at 255
    ],
)
def test_values_that_only_resemble_something_are_not_it(values: list[str]) -> None:
    assert recognise(column(values)) is None


def test_one_odd_value_in_ten_is_forgiven_and_three_are_not() -> None:
    mails = [f"anna.{i}@example.org" for i in range(97)]
    assert recognise(column([*mails, "none", "?", "unknown"])) is not None
    assert recognise(column([*mails[:70], *(f"word{i}" for i in range(30))])) is None


def test_a_name_that_the_values_contradict_is_not_believed() -> None:
    assert recognise(column(["yes", "no"] * 20, name="email")) is None
    assert recognise(column(["yes", "no"], name="email")) is not None  # two rows prove nothing


def test_values_win_over_the_name() -> None:
    found = recognise(column([f"anna.{i}@example.org" for i in range(ROWS)], name="city"))
    assert found is not None
    assert (found.concept.key, found.reason) == ("email", "values look like e-mail addresses")


def test_codes_and_free_text() -> None:
    assert looks_like_codes(pl.Series([f"P-{i:06d}" for i in range(10)]))
    assert not looks_like_codes(pl.Series(["Paris", "Rome"]))
    stories = [f"on day {i} the patient came in with a cough and was sent home" for i in range(ROWS)]
    assert looks_like_free_text(column(stories))
    assert not looks_like_free_text(column(stories[:2] * 50))
