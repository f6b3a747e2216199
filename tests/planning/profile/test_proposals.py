"""What is proposed for whole tables: what an expert would, and with care where nobody can know."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.intervals import Intervals
from incrowd.planning.profile import ColumnProfile, profile
from incrowd.planning.profile import survey as survey_module


def proposals(source: object) -> dict[str, ColumnProfile]:
    return {column.name: column for column in profile(source).columns}


def roles(source: object) -> dict[str, str]:
    return {name: column.role for name, column in proposals(source).items()}


MESSY_ROLES = {
    "patient_id": "identifier",
    "name": "identifier",
    "email": "identifier",
    "phone": "identifier",
    "birth_date": "quasi",
    "sex": "quasi",
    "zip": "quasi",
    "admission": "quasi",
    "weight_kg": "quasi",
    "diagnosis": "sensitive",
    "notes": "drop",
    "insurance": "quasi",
    "empty": "drop",
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_hospital(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"patients{suffix}"
    patients = ic.datasets.messy_patients(1_000)
    if suffix == ".csv":
        patients.write_csv(path)
    else:
        patients.write_parquet(path)
    assert roles(path) == MESSY_ROLES


def test_a_census() -> None:
    found = profile(ic.datasets.census(3_000))
    assert {column.name: column.role for column in found.columns} == {
        **dict.fromkeys(["age", "sex", "education", "marital", "race", "birth_place", "occupation"], "quasi"),
        "salary": "sensitive",
    }
    assert found.quasi is not None
    # The same question, asked of the table itself.
    quasi = list(found.quasi.columns)
    sizes = ic.datasets.census(3_000).group_by(quasi).len()["len"]
    assert (found.quasi.groups, found.quasi.unique_rows) == (len(sizes), (sizes == 1).sum())
    assert found.quasi.k == sizes.min()
    assert not found.notes


@pytest.mark.adult
@pytest.mark.parametrize("name", ["adult.csv", "adult_with_missing.csv"])
def test_adult(adult: Path, name: str) -> None:
    found = proposals(adult / name)
    by_role = {
        role: {name for name, column in found.items() if column.role == role}
        for role in ("sensitive", "drop", "weight")
    }
    assert by_role["sensitive"] == {"capital-gain", "capital-loss", "income"}
    assert by_role["drop"] == {"education-num"}
    assert by_role["weight"] == {"fnlwgt"}
    assert "'education'" in found["education-num"].reason
    assert all(column.role == "quasi" for column in found.values() if column.name not in set().union(*by_role.values()))
    country = found["native-country"].hierarchy
    assert isinstance(country, Categories)
    assert dict(country.rows)["England"] == "Europe"


def test_unknown_columns_are_quasi_identifiers_and_said_to_be_unsure() -> None:
    found = proposals(pl.DataFrame({"foo": [i % 7 for i in range(100)], "bar": ["a", "b"] * 50}))
    for column in found.values():
        assert (column.role, column.unsure) == ("quasi", True)
        assert "not recognised" in column.reason


def test_what_tells_nobody_apart_is_kept_and_what_is_empty_is_dropped() -> None:
    table = pl.DataFrame(
        {"ward": ["A"] * 30, "none": [None] * 30, "age": range(30)}, schema_overrides={"none": pl.Int64}
    )
    assert roles(table) == {"ward": "keep", "none": "drop", "age": "quasi"}


def test_a_constant_with_gaps_tells_people_apart() -> None:
    assert roles(pl.DataFrame({"foo": ["A", None] * 20}))["foo"] == "quasi"


def test_a_sensitive_value_that_all_share_is_pointed_out() -> None:
    column = proposals(pl.DataFrame({"age": range(40), "disease": ["flu"] * 40}))["disease"]
    assert column.role == "sensitive"
    assert "same value" in column.reason


def test_a_table_of_constants_still_has_a_quasi_identifier() -> None:
    assert roles(pl.DataFrame({"foo": ["x"] * 30, "bar": ["y"] * 30})) == {"foo": "quasi", "bar": "quasi"}


def test_one_row_is_judged_by_names() -> None:
    found = profile(pl.DataFrame({"name": ["Bob"], "age": [30], "zip": ["00120"], "disease": ["flu"]}))
    assert [column.role for column in found.columns] == ["identifier", "quasi", "quasi", "sensitive"]
    assert any("nothing can be published" in note for note in found.notes)


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (list(range(100)), "identifier"),  # numbers the rows
        ([f"K{i:05d}" for i in range(100)], "identifier"),
        ([f"{i} green bottles" for i in range(100)], "identifier"),  # hardly two rows alike
        ([4_000_000 + 37_003 * i for i in range(100)], "identifier"),  # as a register gives them out
        ([37.5 * i for i in range(100)], "quasi"),  # an amount
        ([f"day {i} was sunny and then it rained for a very long time" for i in range(100)], "drop"),
        ([timedelta(days=i % 9) for i in range(100)], "drop"),
    ],
)
def test_what_a_column_without_a_telling_name_is(values: list[object], role: str) -> None:
    assert roles(pl.DataFrame({"foo": values, "age": [i % 50 for i in range(100)]}))["foo"] == role


def test_a_code_that_is_everywhere_is_no_identifier_whatever_its_name() -> None:
    codes = [f"T{i:04d}" for i in range(100)]
    few = [i % 4 for i in range(100)]
    table = pl.DataFrame({"ward_id": few, "household_id": range(100, 200), "treatment_no": codes, "icd_code": few})
    assert roles(table) == {
        "ward_id": "quasi",
        "household_id": "identifier",
        "treatment_no": "identifier",
        "icd_code": "sensitive",
    }


def test_a_person_with_several_rows_is_noted() -> None:
    found = profile(pl.DataFrame({"patient_id": [i // 5 for i in range(100)], "age": [i % 50 for i in range(100)]}))
    assert found.columns[0].role == "identifier"
    assert any("'patient_id'" in note and "several rows" in note for note in found.notes)


def test_words_for_missing_are_noted_and_can_be_stated() -> None:
    ages = pl.DataFrame({"age": [*map(str, range(20, 60)), "?"]})
    first = profile(ages)
    assert any('--missing "?"' in note for note in first.notes)
    second = profile(ages, missing=["?"])
    assert isinstance(second.columns[0].hierarchy, Intervals)
    assert (second.columns[0].missing, second.source["frame"]) == (1, "polars")


def test_no_sensitive_column_is_noted() -> None:
    found = profile(pl.DataFrame({"age": range(50)}))
    assert any("looks sensitive" in note for note in found.notes)


def test_values_appear_only_in_categories(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    patients = ic.datasets.messy_patients(300)
    patients.write_csv(path)
    found = profile(path)
    shown = json.dumps(found.to_dict(), ensure_ascii=False)
    for column in found.columns:
        if isinstance(column.hierarchy, Categories):
            continue
        values = patients[column.name].drop_nulls().cast(pl.String).unique().to_list()
        assert not [value for value in values if len(value) > 4 and value in shown], column.name


def test_no_value_is_in_the_dict_of_a_flat_hierarchy() -> None:
    found = profile(pl.DataFrame({"city": [f"Stadt{i % 60}" for i in range(200)]}))
    assert isinstance(found.columns[0].hierarchy, Flat)
    assert "Stadt" not in json.dumps(found.to_dict())


def test_a_sample_says_that_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "EXACT_ROWS", 500)
    found = profile(ic.datasets.census(2_000))
    assert found.measured_rows < found.rows == 2_000
    assert any("sample" in note for note in found.notes)
    assert {column.role for column in found.columns} == {"quasi", "sensitive"}


def test_the_order_of_rows_changes_nothing() -> None:
    table = ic.datasets.messy_patients(400)
    assert profile(table).to_dict() == profile(table.reverse()).to_dict()


def test_survey_weights_are_told_from_those_of_bodies() -> None:
    rows = 200
    ages = [20 + i % 40 for i in range(rows)]
    weights = [100 + (i * 7919 % 1013) / 7 for i in range(rows)]
    found = proposals(pl.DataFrame({"age": ages, "pond": weights, "weight_kg": [50 + i % 60 for i in range(rows)]}))
    assert (found["pond"].role, found["pond"].unsure) == ("weight", False)
    assert found["weight_kg"].role == "quasi"
    # The name of a body's weight, and numbers that are none.
    found = proposals(pl.DataFrame({"age": ages, "gewicht": weights}))
    assert (found["gewicht"].role, found["gewicht"].unsure) == ("weight", True)
    # A release has one weight, and no weight is missing or below 0.
    found = proposals(pl.DataFrame({"age": ages, "wgt1": weights, "wgt2": weights[::-1]}))
    assert [found["wgt1"].role, found["wgt2"].role] == ["weight", "drop"]
    for wrong in (None, -1.0):
        found = proposals(pl.DataFrame({"age": ages, "wgt": [wrong, *weights[1:]]}))
        assert found["wgt"].role == "drop"


def test_a_weight_that_changes_within_a_person_is_not_proposed() -> None:
    rows = 400
    person = [f"p{i // 2}" for i in range(rows)]
    columns = {
        "pid": person,
        "sex": ["FM"[i // 2 % 2] for i in range(rows)],
        "birth_year": [1950 + i // 2 * 7 % 51 for i in range(rows)],
        "visit": [i * 31 % 97 for i in range(rows)],
    }
    same = proposals(pl.DataFrame({**columns, "wgt": [10 + i // 2 * 37 % 101 / 3 for i in range(rows)]}))
    assert (same["pid"].role, same["wgt"].role) == ("person", "weight")
    other = proposals(pl.DataFrame({**columns, "wgt": [10 + i * 37 % 101 / 3 for i in range(rows)]}))
    assert (other["pid"].role, other["wgt"].role) == ("person", "drop")
    assert "row to row" in other["wgt"].reason
