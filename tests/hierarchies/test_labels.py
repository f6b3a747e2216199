"""Every label reads back as what was written, whatever the names are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.hierarchies import labels
from incrowd.hierarchies.labels import Anything, Name, OneOf, Range
from tests.any_text import any_text
from tests.hierarchies.grown import CHECKED

NASTY = [
    "*",
    "**",
    "",
    " ",
    " padded ",
    "{",
    "}",
    "{a, b}",
    '"quoted"',
    '"',
    "a, b",
    "a,b",
    "back\\slash",
    "new\nline",
    "tab\t",
    "<=50K",
    ">=65",
    "[1, 2)",
    "null",
    "Zürich",
    "東京",
    "\u2028",
    "*\n",
]
names = st.sampled_from(NASTY) | st.text(st.sampled_from('*{}",[]()<>= \\\nab'), max_size=6) | any_text(8)
numbers = st.integers().map(str) | st.floats(allow_nan=False).map(repr)
dates = st.dates().map(str) | st.datetimes().map(str)
bounds = numbers | dates


@CHECKED
@given(names)
@example("*")
@example("{a, b}")
def test_a_name_reads_back(name: str) -> None:
    assert labels.read(labels.write_name(name), ordered=False) == Name(name)


@CHECKED
@given(st.lists(names, min_size=1, max_size=5))
@example(["*"])
@example(["a, b", "{", '"'])
def test_a_set_reads_back(members: list[str]) -> None:
    assert labels.read(labels.write_set(members), ordered=False) == OneOf(tuple(members))


@CHECKED
@given(st.none() | bounds, st.none() | bounds)
def test_a_half_open_range_reads_back(low: str | None, high: str | None) -> None:
    expected = Anything() if low is None and high is None else Range(low, high)
    assert labels.read(labels.write_range(low, high), ordered=True) == expected


@CHECKED
@given(bounds, bounds)
def test_a_closed_range_reads_back(low: str, high: str) -> None:
    assert labels.read(labels.write_closed(low, high), ordered=True) == Range(low, high, closed=True)


@CHECKED
@given(st.lists(st.tuples(bounds, bounds).map(lambda pair: labels.write_range(*pair)) | bounds, min_size=2, max_size=4))
def test_a_set_of_ranges_reads_back(members: list[str]) -> None:
    assert labels.read(labels.write_set(members), ordered=True) == OneOf(tuple(members))


@CHECKED
@given(bounds)
def test_a_single_number_or_date_reads_back(value: str) -> None:
    assert labels.read(value, ordered=True) == Name(value)


@CHECKED
@given(names, st.lists(names, min_size=1, max_size=3))
def test_a_name_and_a_set_never_look_alike(name: str, members: list[str]) -> None:
    assert labels.write_name(name) != labels.write_set(members)


@CHECKED
@given(names)
def test_no_name_looks_like_anything(name: str) -> None:
    assert labels.write_name(name) != labels.ANY


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("*", Anything()),
        ("[-5, -3)", Range("-5", "-3")),  # negative bounds
        ("[-0.5, 1e-07)", Range("-0.5", "1e-07")),  # exponents
        ("<-20", Range(None, "-20")),
        (">=1988-01-01", Range("1988-01-01", None)),  # hyphens
        ("[1987-11-03 04:05:00, 1988-01-01 00:00:00)", Range("1987-11-03 04:05:00", "1988-01-01 00:00:00")),
        ("1980s", Name("1980s")),
    ],
)
def test_labels_of_ordered_columns(label: str, meaning: labels.Label) -> None:
    assert labels.read(label, ordered=True) == meaning


def test_names_that_only_look_like_ranges_stay_as_they_are() -> None:
    assert [labels.write_name(name) for name in ("<=50K", ">50K", "[20-30]")] == ["<=50K", ">50K", "[20-30]"]
