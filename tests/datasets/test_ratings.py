"""Generated ratings: sparse, wide, and held together by taste."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.datasets.ratings import BLOCK_ROWS, GENRES, OLDEST, YOUNGEST, ratings

PEOPLE = ["age", "sex", "region", "occupation"]


def items_of(people: pl.DataFrame) -> pl.DataFrame:
    return people.drop(PEOPLE)


def test_shape_and_values() -> None:
    people = ratings(3_000)
    assert people.shape == (3_000, 4 + 120)
    assert people["age"].is_between(YOUNGEST, OLDEST).all()
    assert people.select(PEOPLE).null_count().row(0) == (0, 0, 0, 0)
    items = items_of(people)
    assert set(items.dtypes) == {pl.Int8}
    assert all(items[name].drop_nulls().is_between(1, 5).all() for name in items.columns)


def test_most_cells_are_missing_and_hardly_two_people_are_alike() -> None:
    items = items_of(ratings(3_000))
    given = 1 - sum(items.null_count().row(0)) / items.height / items.width
    assert 0.05 < given < 0.1
    assert items.n_unique() > 0.9 * items.height


def test_taste_shows() -> None:
    """Who has rated an item has also rated others of its genre, more often than others do."""
    items = items_of(ratings(5_000))
    rated = items.select(pl.all().is_not_null()).to_numpy().astype(float)
    together = np.corrcoef(rated.T)
    genre = np.arange(items.width) % len(GENRES)
    same = (genre[:, None] == genre) & ~np.eye(items.width, dtype=bool)
    # Some people rate more than others, so all items go together a little.
    assert together[same].mean() > 2 * together[genre[:, None] != genre].mean()


def test_students_are_young_and_the_retired_old() -> None:
    people = ratings(5_000)
    ages = dict(people.group_by("occupation").agg(pl.col("age").mean()).iter_rows())
    assert ages["student"] < 30
    assert ages["retired"] > 60


def test_a_table_is_a_function_of_its_seed() -> None:
    assert ratings(50, seed=3).equals(ratings(50, seed=3))
    assert not ratings(50, seed=3).equals(ratings(50, seed=4))


def test_blocks_differ_from_one_another() -> None:
    people = ratings(BLOCK_ROWS + 100, items=5)
    assert people.height == BLOCK_ROWS + 100
    assert not people[:100].equals(people[BLOCK_ROWS:])


@pytest.mark.parametrize(("rows", "items"), [(0, 120), (5, 0), (0, 0), (1, 1)])
def test_small_tables(rows: int, items: int) -> None:
    assert ratings(rows, items).shape == (rows, 4 + items)
    assert ratings(rows, items).schema == ratings(3, items).schema


@pytest.mark.parametrize(("name", "values"), [("rows", (-1, 3, 0)), ("items", (3, -1, 0)), ("seed", (3, 3, -1))])
def test_numbers_below_zero(name: str, values: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=f"{name} must be 0 or more"):
        ratings(values[0], values[1], seed=values[2])
