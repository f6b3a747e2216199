"""The messy hospital table has the flaws that it promises, and is otherwise sane."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from incrowd.datasets import messy_patients


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return messy_patients(20_000, seed=1)


def test_types(patients: pl.DataFrame) -> None:
    assert patients.schema == {
        "patient_id": pl.String,
        "name": pl.String,
        "email": pl.String,
        "phone": pl.String,
        "birth_date": pl.Date,
        "sex": pl.String,
        "zip": pl.String,
        "admission": pl.Date,
        "weight_kg": pl.Float64,
        "diagnosis": pl.String,
        "notes": pl.String,
        "insurance": pl.String,
        "empty": pl.String,
    }


@pytest.mark.parametrize("rows", [0, 1, 2, 17])
def test_rows_and_types_of_small_tables(rows: int, patients: pl.DataFrame) -> None:
    few = messy_patients(rows)
    assert few.height == rows
    assert few.schema == patients.schema


def test_default_size() -> None:
    assert messy_patients().height == 2_000


def test_seed_decides() -> None:
    assert messy_patients(500, seed=4).equals(messy_patients(500, seed=4))
    assert not messy_patients(500, seed=4).equals(messy_patients(500, seed=5))


def test_negative_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="rows must be 0 or more, not -1"):
        messy_patients(-1)


def test_identifiers_look_the_part(patients: pl.DataFrame) -> None:
    for column, pattern in {
        "patient_id": r"^P-\d{6}$",
        "email": r"^[^ @']+@example\.org$",
        "phone": r"^(\(\d{3}\) 555-01\d\d|\+1 \d{3} 555 01\d\d)$",
        "zip": r"^\d{5}$",
    }.items():
        assert patients[column].drop_nulls().str.contains(pattern).all(), column
    assert patients["patient_id"].is_unique().all()
    assert patients["email"].is_unique().all()
    assert not patients["patient_id"].is_sorted()


@pytest.mark.parametrize("column", ["birth_date", "sex", "zip", "weight_kg"])
def test_some_are_null(patients: pl.DataFrame, column: str) -> None:
    assert 0.01 < patients[column].is_null().mean() < 0.06


def test_the_default_table_has_every_flaw() -> None:
    patients = messy_patients()
    for column in ("birth_date", "sex", "zip", "weight_kg"):
        assert 0 < patients[column].null_count() < patients.height
    assert patients["weight_kg"].is_nan().any()
    assert patients["zip"].str.starts_with("00").any()
    assert patients["empty"].is_null().all()
    assert 0.99 < patients["insurance"].eq("Statutory").mean() <= 1
    for mark in (",", '"', ";", "\n", "\r\n", "\t", "☕", "は"):
        assert patients["notes"].str.contains(mark, literal=True).any(), mark


def test_birth_comes_before_admission(patients: pl.DataFrame) -> None:
    age = (pl.col("admission") - pl.col("birth_date")).dt.total_days() / 365.25
    low, high = patients.select(age.min().alias("low"), age.max().alias("high")).row(0)
    assert 0 <= low < 1
    assert 90 < high <= 100


def test_diagnoses_are_skewed(patients: pl.DataFrame) -> None:
    counts = patients["diagnosis"].value_counts(sort=True)
    assert counts.height == 25
    assert counts["count"][0] > 30 * counts["count"][-1]


def test_diagnoses_depend_on_age_and_sex(patients: pl.DataFrame) -> None:
    born = pl.col("admission") - pl.col("birth_date")
    patients = patients.with_columns(age=born.dt.total_days() / 365.25)
    assert "M" not in patients.filter(pl.col("diagnosis") == "Childbirth")["sex"]
    assert "F" not in patients.filter(pl.col("diagnosis") == "Prostate cancer")["sex"]
    stroke = patients.filter(pl.col("diagnosis") == "Stroke")["age"].median()
    asthma = patients.filter(pl.col("diagnosis") == "Asthma")["age"].median()
    assert stroke > asthma + 20


def test_survives_a_csv_file(tmp_path: Path) -> None:
    patients = messy_patients(300).with_columns(pl.col("weight_kg").fill_nan(None))
    path = tmp_path / "patients.csv"
    patients.write_csv(path)
    assert_frame_equal(pl.read_csv(path, schema=patients.schema), patients)
