"""What went wrong with tables that nobody here wrote: one small table for each fault."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.planning.profile import Profile, profile
from incrowd.planning.profile.column_names import concept_of_name
from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.writing import recipe_text

ROWS = 240
CHANCE = np.random.default_rng(5)


def column(values: Any, name: str = "x") -> ColumnProfile:
    ages = pl.Series("age", CHANCE.integers(20, 80, ROWS))
    found = profile(pl.DataFrame([pl.Series(name, values), ages]))
    return next(one for one in found.columns if one.name == name)


def test_whole_numbers_with_gaps_get_whole_intervals() -> None:
    values = [None if place % 9 == 0 else float(number) for place, number in enumerate(CHANCE.integers(0, 9, ROWS))]
    assert column(values, "visits").hierarchy.widths == (2.0, 4.0)  # type: ignore[union-attr]
    # Written with a point in a file, they are no codes of people either.
    assert column([f"{number}.00" for number in range(1000, 1000 + ROWS)], "price").role == "quasi"


def test_times_that_are_all_midnight_have_no_level_of_days() -> None:
    start = datetime(2020, 1, 1)
    midnight = [start + timedelta(days=int(day)) for day in CHANCE.integers(0, 900, ROWS)]
    assert column(midnight, "ordered").hierarchy.units == ("month", "quarter", "year")  # type: ignore[union-attr]
    noon = [moment + timedelta(hours=12) for moment in midnight]
    assert column(noon, "ordered").hierarchy.units[0] == "day"  # type: ignore[union-attr]


def test_numbers_of_places_are_names() -> None:
    found = column(CHANCE.integers(1, 17, ROWS), "region").hierarchy
    assert found is not None
    assert found.name == "categories"


@pytest.mark.parametrize(
    ("name", "concept"),
    [("Haushaltsnettoeinkommen", "money"), ("Haushaltsgröße", "family"), ("female", "sex"), ("spent", "money")],
)
def test_names(name: str, concept: str) -> None:
    found = concept_of_name(name)
    assert found is not None
    assert found.key == concept


def test_a_charge_is_money_where_it_has_cents() -> None:
    assert column(np.round(CHANCE.random(ROWS) * 1000, 2), "charge").concept == "money"
    assert column(CHANCE.choice(["theft", "fraud", "assault"], ROWS), "charge").concept == "justice"


def test_an_owner_by_name_is_an_identifier() -> None:
    names = CHANCE.choice(["Anna Weber", "Bernd Groß", "Clara Maier", "David Stein"], ROWS)
    assert column(names, "owner").role == "identifier"
    assert column(names, "dish").role == "quasi"


def visits() -> pl.DataFrame:
    born = [date(1950, 1, 1) + timedelta(days=int(day)) for day in CHANCE.choice(9000, ROWS // 4, replace=False)]
    return pl.DataFrame(
        {
            "mrn": [100_000 + row // 4 for row in range(ROWS)],
            "dob": [born[row // 4] for row in range(ROWS)],
            "sex": ["FM"[row // 4 % 2] for row in range(ROWS)],
            "seen": [date(2020, 1, 1) + timedelta(days=int(day)) for day in CHANCE.integers(0, 700, ROWS)],
            "charge": np.round(CHANCE.random(ROWS) * 9000, 2),
        }
    )


def test_a_number_of_patients_that_repeats_is_the_person(tmp_path: Path) -> None:
    found = profile(visits())
    roles = {one.name: one.role for one in found.columns}
    assert (roles["mrn"], roles["dob"], roles["charge"]) == ("person", "quasi", "sensitive")
    assert "each_row_a_person" not in recipe_text(found, recipe_path=tmp_path / "r.toml").replace("say each_row", "")


def test_a_number_that_another_trait_changes_within_is_no_person() -> None:
    changing = visits().with_columns(pl.Series("dob", visits()["seen"]), pl.Series("sex", ["F", "M"] * (ROWS // 2)))
    assert {one.name: one.role for one in profile(changing).columns}["mrn"] != "person"


def test_an_unsure_identifier_does_not_make_each_row_a_person(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "name": CHANCE.choice(["Anna", "Bernd", "Clara"], ROWS),
            "comment code": [f"k{number * 7919 % 100_003} a" for number in range(ROWS)],
            "age": CHANCE.integers(20, 80, ROWS),
        }
    )
    found: Profile = profile(frame)
    unsure = [one.name for one in found.columns if one.role == "identifier" and one.unsure and one.distinct == ROWS]
    if unsure:
        assert "\neach_row_a_person = true" not in recipe_text(found, recipe_path=tmp_path / "r.toml")
