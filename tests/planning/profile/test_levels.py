"""Hierarchies that are proposed: readable, and covering all values."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.planning.profile.name_groups import known_groups
from incrowd.planning.profile.number_levels import propose_hierarchy, readable_widths
from incrowd.planning.profile.survey import survey
from incrowd.sources import open_source


def proposed(values: list[Any], concept: str | None = None) -> Hierarchy:
    return propose_hierarchy(survey(open_source(pl.DataFrame({"x": values}))).columns["x"], concept)


def test_ages_become_fives_tens_and_twenties_with_the_oldest_together() -> None:
    assert proposed(list(range(17, 95)), "age") == Intervals(widths=(5, 10, 20, 40), upper=90)
    assert proposed(list(range(17, 80)), "age") == Intervals(widths=(5, 10, 20, 40))


@pytest.mark.parametrize(
    ("values", "concept", "hierarchy"),
    [
        ([date(1950, 1, 1), date(1987, 2, 3)], "birth", Dates(units=("month", "quarter", "year", "decade"))),
        ([date(2021, 1, 1), date(2023, 2, 3)], None, Dates(units=("month", "quarter", "year"))),
        (
            [datetime(2021, 1, 1, 5), datetime(2023, 2, 3, 6)],
            None,
            Dates(units=("day", "month", "quarter", "year")),
        ),
        (["31.12.1999", "01.02.2000"], "event date", Masking(side="left", steps=(3, 6))),
        (["12/31/1999", "01/02/2000"], "event date", Masking(side="left", steps=(6,))),
        (["1999-12", "2000-01"], "event date", Masking(steps=(3, 4))),
        (["00120", "90210"], "postal code", Masking(steps=(1, 2, 3, 4))),
        ([2139, 90210], "postal code", Masking(steps=(1, 2, 3, 4))),
        ([1, 2, 2, 1], "sex", Categories.from_tree(["1", "2"], taken_from="data")),
        ([0, 1, 2, 3, 4, 5, 6], "family", Intervals(widths=(2, 4))),
        ([True, False], None, Categories.from_tree(["false", "true"], taken_from="data")),
        ([f"C{i:03d}" for i in range(60)], None, Masking(steps=(1, 2, 3))),
        ([f"place {i}" for i in range(60)], "place", Flat()),
        ([48.1234, 50.5, 47.1, 3.0, 1.5, 2.5], "coordinate", Intervals(widths=(0.01, 0.1, 1, 10))),
    ],
)
def test_what_is_proposed(values: list[Any], concept: str | None, hierarchy: Hierarchy) -> None:
    assert proposed(values, concept) == hierarchy


def test_categories_are_listed_in_the_order_that_people_would_use() -> None:
    found = proposed([">=80", "10-14", "5-9", "<5", "15-19"], "age")
    assert isinstance(found, Categories)
    assert [row[0] for row in found.rows] == ["<5", "5-9", "10-14", "15-19", ">=80"]


def test_countries_schooling_and_marriage_are_grouped() -> None:
    assert known_groups("origin", ["US", "DEU", "Côte d'Ivoire", "Viet-Nam"]) == {
        "Africa": ["Côte d'Ivoire"],
        "Asia": ["Viet-Nam"],
        "Europe": ["DEU"],
        "Northern America": ["US"],
    }
    assert known_groups("education", ["Bachelors", "9th", "Doctorate", "1st-4th"]) == {
        "Primary school or none": ["1st-4th"],
        "Secondary school": ["9th"],
        "Higher education": ["Bachelors", "Doctorate"],
    }
    assert known_groups("family", ["Married-civ-spouse", "Never-married", "verwitwet"]) == {
        "With a partner": ["Married-civ-spouse"],
        "Without a partner": ["Never-married", "verwitwet"],
    }


def test_few_unknown_values_are_set_apart_and_many_leave_the_list_ungrouped() -> None:
    countries = ["Italy", "Spain", "Japan", "China", "Peru"]
    grouped = known_groups("origin", [*countries, "Atlantis"])
    assert grouped is not None
    assert grouped["Elsewhere or unknown"] == ["Atlantis"]
    assert known_groups("origin", [*countries, "Atlantis", "Lemuria", "Mu"]) is None
    assert known_groups("place", countries) is None


def test_a_group_never_has_the_name_of_a_value() -> None:
    assert known_groups("origin", ["Italy", "Japan", "Spain", "China", "Kenya", "Asia"]) is None


@settings(deadline=None, max_examples=18)
@given(st.floats(1e-6, 1e12), st.booleans())
def test_widths_nest_and_are_readable(reach: float, whole: bool) -> None:
    widths = readable_widths(reach, whole=whole)
    assert Intervals(widths=widths).widths == widths  # refuses widths that do not nest
    assert 1 <= len(widths) <= 8
    assert all(len(Decimal(repr(width)).normalize().as_tuple().digits) == 1 for width in widths[:4])
    if whole:
        assert all(width == int(width) and width > 1 for width in widths) or reach < 2


@settings(deadline=None, max_examples=18)
@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), min_size=1, max_size=20))
def test_what_is_proposed_covers_any_text(values: list[str | None]) -> None:
    facts = survey(open_source(pl.DataFrame({"x": values}, schema={"x": pl.String}))).columns["x"]
    for concept in (None, "postal code", "origin", "event date"):
        propose_hierarchy(facts, concept).build("x", facts.values)


@settings(deadline=None, max_examples=18)
@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=True), st.integers(-(2**40), 2**40)), min_size=1, max_size=20))
def test_what_is_proposed_covers_any_numbers(values: list[float | None]) -> None:
    facts = survey(open_source(pl.DataFrame({"x": values}, schema={"x": pl.Float64}, strict=False))).columns["x"]
    propose_hierarchy(facts, None).build("x", facts.values)
