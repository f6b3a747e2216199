"""Threads share the work of loops, and change nothing of what comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.common.threads import VARIABLE, threads, using
from incrowd.errors import RecipeError
from incrowd.kernels import partition

ROWS = 150_000


@pytest.fixture(scope="module")
def many() -> ic.Table:
    """More distinct rows than one thread is started for."""
    dice = np.random.default_rng(3)
    columns = {name: dice.integers(0, 50 + 30 * place, ROWS) for place, name in enumerate("abc")}
    frame = pl.DataFrame({**columns, "ill": dice.integers(0, 9, ROWS)})
    return ic.read(frame, quasi=["a", "b", "c"], sensitive=["ill"])


@pytest.mark.parametrize(
    ("method", "models"),
    [
        (ic.Mondrian(), [ic.KAnonymity(5)]),
        (ic.Mondrian(cuts="relaxed", labels="tight"), [ic.KAnonymity(30), ic.DistinctLDiversity(4)]),
    ],
    ids=["strict", "relaxed"],
)
def test_any_number_of_threads_publishes_the_same(many: ic.Table, method: Any, models: list[Any]) -> None:
    alone, *others = (ic.publish(many, models, method=method, seed=1, threads=number) for number in (1, 2, 5))
    for other in others:
        assert other.to_polars().equals(alone.to_polars())


@pytest.mark.parametrize("size", [1, 40_000, 200_000])
@pytest.mark.parametrize("pieces", [1, 3, 50_000])
def test_places_are_sorted_by_piece_as_numpy_sorts_them(size: int, pieces: int) -> None:
    dice = np.random.default_rng(size + pieces)
    order, piece_of = dice.permutation(size), dice.integers(0, pieces, size)
    for number in (1, 4):
        with using(number):
            found, starts = partition.sort_by_piece(order, piece_of, pieces)
        assert np.array_equal(found, order[np.argsort(piece_of, kind="stable")])
        assert np.array_equal(np.diff(starts), np.bincount(piece_of, minlength=pieces))


def test_the_environment_says_how_many_unless_the_caller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert threads() >= 1
    monkeypatch.setenv(VARIABLE, "3")
    assert threads() == 3
    with using(2):
        assert threads() == 2
        with using(None):
            assert threads() == 2
    assert threads() == 3


@pytest.mark.parametrize("wrong", ["0", "two", "-1", "1.5", "²"])
def test_a_number_of_threads_that_is_none_is_refused(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, wrong)
    with pytest.raises(RecipeError, match="not a whole number above 0"):
        threads()


def test_the_same_for_the_parameter(many: ic.Table) -> None:
    with pytest.raises(RecipeError, match="threads"):
        ic.publish(many, ic.KAnonymity(5), threads=0)


def test_joining_groups_gives_the_same_with_threads() -> None:
    frame = ic.datasets.census(3000, seed=2).select("age", "education", "birth_place", "occupation")
    table = ic.read(frame, quasi=["age", "education", "birth_place"], sensitive=["occupation"])
    method, models = ic.FullDomain(leftovers="recode"), [ic.KAnonymity(3), ic.DistinctLDiversity(3)]
    alone, several = (ic.publish(table, models, method=method, seed=1, threads=number) for number in (1, 4))
    assert several.to_polars().equals(alone.to_polars())
