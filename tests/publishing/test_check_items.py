"""Sets of items of any table, and columns that seem to tell whose a row is: `check` without a recipe."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd as ic
from incrowd.cli.app import app
from incrowd.errors import SchemaError
from tests.publishing.test_items import people_with_sets, rarest


def naive(table: pl.DataFrame, m: int) -> float:
    """Return how many people of a group show the rarest combination of exactly m items."""
    rows = [((row["age"], row["sex"]), row["bought"]) for row in table.iter_rows(named=True)]
    smaller = rarest(rows, m - 1)[1] if m > 1 else float("inf")
    return min(rarest(rows, m)[1], smaller)


@pytest.mark.parametrize("seed", range(3))
def test_the_rarest_items_are_counted(seed: int, tmp_path: Path) -> None:
    table = people_with_sets(300, 8, seed).with_columns(age=pl.col("age") // 30)
    found = ic.check(table, quasi=["age", "sex"], items="bought", known_items=3, require=[ic.KmAnonymity(2, m=2)])
    counted = [value for value in found.items.values() if value is not None]
    for m in (1, 2, 3):
        assert min(counted[:m]) == naive(table, m)
    assert found.models[0].satisfied == (naive(table, 2) >= 2)
    table.write_parquet(tmp_path / "sets.parquet")
    assert ic.check(tmp_path / "sets.parquet", quasi=["age", "sex"], items="bought", known_items=3).items == found.items
    table.with_columns(pl.col("bought").list.join("|")).write_csv(tmp_path / "sets.csv")
    args = ["check", str(tmp_path / "sets.csv"), "-q", "age,sex", "--items", "bought", "--item-separator", "|"]
    result = CliRunner().invoke(app, [*args, "--known-items", "3", "--json", "--k", "2"])
    told = json.loads(result.stdout)
    assert told["items"] == found.items
    assert result.exit_code == (1 if min(counted) < 2 or found.k is None or found.k < 2 else 0)


def test_items_of_several_rows_are_those_of_their_person() -> None:
    sets = people_with_sets(200, 6, 1).with_row_index("pid")
    rows = sets.with_columns(age=pl.col("age") // 40).explode("bought", empty_as_null=True)
    flat = rows.with_columns(pl.col("bought").fill_null(""))
    together = rows.group_by("pid", "age", "sex").agg(pl.col("bought").drop_nulls())
    found = ic.check(flat, quasi=["age", "sex"], person="pid", items="bought")
    assert found.items == ic.check(together.drop("pid"), quasi=["age", "sex"], items="bought").items
    with pytest.raises(SchemaError, match="person by person"):
        ic.check(flat.with_columns(age=pl.int_range(pl.len())), quasi=["age"], person="pid", items="bought")


def test_a_model_of_sets_needs_a_column_of_sets() -> None:
    with pytest.raises(SchemaError, match="no column is of items"):
        ic.check(people_with_sets(50).drop("bought"), quasi=["age"], require=[ic.KmAnonymity(2)])


def visits(people: int, each: int) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "code": np.repeat(rng.permutation(people), each),
            "age": np.repeat(rng.integers(20, 80, people), each),
            "sex": np.repeat(rng.choice(["F", "M"], people), each),
            "ill": rng.choice(["flu", "gout"], people * each),
        }
    )


def test_a_column_that_tells_whose_a_row_is_is_not_passed_over() -> None:
    table = visits(500, 6)
    with pytest.raises(SchemaError, match="'code' repeats"):
        ic.check(table, quasi=["age", "sex"], sensitive=["ill"])
    assert ic.check(table, quasi=["age", "sex"], sensitive=["ill"], person="code").people == 500
    rows = ic.check(table, quasi=["age", "sex"], sensitive=["ill"], each_row_a_person=True)
    assert rows == ic.check(table.drop("code"), quasi=["age", "sex"], sensitive=["ill"])


@pytest.mark.parametrize("other", ["unique", "constant", "few", "by place", "by chance"])
def test_other_columns_are_no_people(other: str) -> None:
    table = visits(300, 1)
    rng = np.random.default_rng(1)
    columns = {
        "unique": np.arange(300),
        "constant": np.ones(300),
        "few": rng.integers(0, 5, 300),
        "by place": table["age"].to_numpy() * 2,  # goes with the age, and with nothing else
        "by chance": rng.integers(0, 100, 300),
    }
    assert ic.check(table.with_columns(code=columns[other]), quasi=["age", "sex"]).people is None
