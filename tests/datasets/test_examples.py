"""The papers' tables give the papers' numbers."""

from __future__ import annotations

import polars as pl

from incrowd import datasets
from incrowd.datasets import (
    cdiffgen_houses,
    cdiffgen_people,
    sattar_patients,
    senellart_patients,
    slicing_patients,
)


def test_public_names_exist() -> None:
    assert sorted(datasets.__all__) == datasets.__all__
    assert all(hasattr(datasets, name) for name in datasets.__all__)


def test_senellart() -> None:
    assert senellart_patients().rows() == [
        ("Bob", 75001, 22, "Cold"),
        ("Bill", 75002, 29, "Flu"),
        ("Don", 75003, 22, "Cold"),
        ("Sue", 75010, 28, "HIV"),
    ]
    assert senellart_patients().columns == ["name", "zip", "age", "disease"]
    assert senellart_patients().select("zip", "age").dtypes == [pl.Int64, pl.Int64]


def test_slicing_buckets_are_those_of_the_text() -> None:
    first, second = slicing_patients().head(4), slicing_patients().tail(4)
    assert first.select("age", "sex").rows() == [(22, "M"), (22, "F"), (33, "F"), (52, "F")]
    assert first.select("zip", "disease").rows() == [
        ("47906", "dyspepsia"),
        ("47906", "flu"),
        ("47905", "flu"),
        ("47905", "bronchitis"),
    ]
    assert second.select("age", "sex").rows() == [(54, "M"), (60, "M"), (60, "M"), (64, "F")]
    assert second.select("zip", "disease").rows() == [
        ("47302", "flu"),
        ("47302", "dyspepsia"),
        ("47304", "dyspepsia"),
        ("47304", "gastritis"),
    ]


def test_cdiffgen_people_generalize_to_the_counts_of_table_2() -> None:
    asian = pl.col("country").is_in(["China", "Korea"])
    young = pl.col("age").is_between(15, 25, closed="left")
    old = pl.col("age").is_between(25, 40, closed="left")
    counts = cdiffgen_people().select(
        (asian & young).sum().alias("asian young"),
        (asian & old).sum().alias("asian old"),
        (~asian & young).sum().alias("american young"),
        (~asian & old).sum().alias("american old"),
    )
    assert counts.row(0) == (3, 2, 0, 3)
    assert cdiffgen_people()["class"].value_counts().sort("class").rows() == [("N", 5), ("Y", 3)]


def test_cdiffgen_houses_count_to_the_matrix_of_table_1() -> None:
    yes = pl.col("has_house").eq("Yes").sum().alias("yes")
    no = pl.col("has_house").eq("No").sum().alias("no")
    matrix = cdiffgen_houses().group_by("age").agg(yes, no)
    assert {age: counts for age, *counts in matrix.iter_rows()} == {
        "<20": [0, 2],
        "20-30": [1, 1],
        "30-40": [1, 2],
        "40-50": [1, 0],
    }


def test_sattar() -> None:
    assert sattar_patients().columns == ["name", "age", "sex", "zip", "disease"]
    assert sattar_patients().rows() == [
        ("Alice", 22, "F", "5095", "Cancer"),
        ("Bob", 24, "M", "5085", "HIV"),
        ("Paul", 20, "F", "5001", "Anemia"),
        ("Clark", 23, "M", "5005", "Flu"),
    ]
