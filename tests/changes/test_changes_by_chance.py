"""PRAM, rank swapping and noise: what chance does on average, and against plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.changes.change import Column
from incrowd.errors import SchemaError, UncoveredValue

PEOPLE = 40_000
NAMES = ["a", "b", "c", "d"]
SHARES = np.array([0.6, 0.25, 0.1, 0.05])


def named(number: int = PEOPLE) -> Column:
    codes = np.repeat(np.arange(4), (SHARES * number).astype(int))
    return Column("x", pl.Series(NAMES), codes, np.ones(len(codes), dtype=np.int64))


def numbers(values: np.ndarray) -> Column:
    distinct, codes = np.unique(values, return_inverse=True)
    return Column("x", pl.Series(distinct), codes.astype(np.int64), np.ones(len(values), dtype=np.int64))


def close(found: np.ndarray, expected: np.ndarray, number: int) -> None:
    """Five standard errors of a share: one run in a million fails by chance, and the seed is fixed."""
    assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / number + 1e-12)).all()


def moves(column: Column, made: pl.Series, names: list[str]) -> np.ndarray:
    """How often each value became each other, counted one by one."""
    found = Counter(zip(column.values.gather(column.code_of).to_list(), made.to_list(), strict=True))
    return np.array([[found[before, after] for after in names] for before in column.values.to_list()], dtype=float)


def test_pram_keeps_a_value_with_its_probability_and_spreads_the_others_evenly() -> None:
    column = named()
    made = ic.PRAM(0.7).perturb(column, np.random.default_rng(1))
    counted = moves(column, made, NAMES)
    expected = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    for line, row in zip(counted, expected, strict=True):
        close(line / line.sum(), row, int(line.sum()))
    assert ic.PRAM(0.7).told(column) == {"values": 4}


def test_invariant_pram_keeps_the_frequencies() -> None:
    column = named()
    made = ic.PRAM(0.4, invariant=True).perturb(column, np.random.default_rng(2))
    counted = moves(column, made, NAMES)
    close(counted.sum(axis=0) / PEOPLE, SHARES, PEOPLE)
    for place, line in enumerate(counted):
        close(line / line.sum(), 0.4 * np.eye(4)[place] + 0.6 * SHARES, int(line.sum()))


def test_pram_by_a_matrix() -> None:
    matrix = {"a": {"a": 0.5, "z": 0.5}, "b": {"b": 1.0}, "c": {"a": 0.2, "b": 0.3, "c": 0.5}, "d": {"z": 1.0}}
    column, change = named(), ic.PRAM(matrix=matrix)
    counted = moves(column, change.perturb(column, np.random.default_rng(3)), [*NAMES, "z"])
    for line, name in zip(counted, NAMES, strict=True):
        expected = np.array([matrix[name].get(other, 0.0) for other in [*NAMES, "z"]])
        close(line / line.sum(), expected, int(line.sum()))
    with pytest.raises(UncoveredValue):
        ic.PRAM(matrix={"a": {"a": 1.0}}).perturb(column, np.random.default_rng(3))


@pytest.mark.parametrize("number", [0, 1, 5])
def test_pram_of_nobody_and_of_one_value(number: int) -> None:
    codes = np.zeros(number, dtype=np.int64)
    column = Column("x", pl.Series(["a"]), codes, np.ones(number, dtype=np.int64))
    for change in (ic.PRAM(0.1), ic.PRAM(0.1, invariant=True)):
        assert change.perturb(column, np.random.default_rng(0)).to_list() == ["a"] * number


def swaps_by_a_loop(even: list[float], reach: int) -> list[int]:
    """Moore's procedure: everybody who is still free takes one of the free ones ahead, not too far."""
    free, partner = set(range(len(even))), list(range(len(even)))
    for place in range(len(even)):
        if place not in free:
            continue
        free.discard(place)
        ahead = [other for other in range(place + 1, min(place + reach, len(even) - 1) + 1) if other in free]
        if ahead:
            other = ahead[min(int(even[place] * len(ahead)), len(ahead) - 1)]
            free.discard(other)
            partner[place], partner[other] = other, place
    return partner


@pytest.mark.parametrize(("number", "reach"), [(0, 1), (1, 1), (2, 1), (9, 2), (64, 5), (200, 200), (257, 31)])
def test_partners_are_those_of_a_plain_loop(number: int, reach: int) -> None:
    from incrowd.kernels.rank_swapping import swap_near

    even = np.random.default_rng(number).random(number)
    assert swap_near(even, reach).tolist() == swaps_by_a_loop(even.tolist(), reach)


def test_swaps_keep_all_values_and_stay_within_the_ranks() -> None:
    values = np.random.default_rng(4).permutation(5000) * 3
    made = ic.RankSwapping(0.02).perturb(numbers(values), np.random.default_rng(5)).to_numpy()
    assert sorted(made) == sorted(values), "everybody's value is somebody's again"
    far = np.abs(made - values) // 3  # ranks, since values are 0, 3, 6, …
    assert far.max() <= 0.02 * 5000
    assert (far > 0).mean() > 0.98
    assert 30 < far.mean() < 70, "chance picks from all of the window"


def test_swaps_of_ties_dates_and_names() -> None:
    tied = numbers(np.zeros(50, dtype=np.int64))
    assert ic.RankSwapping(0.5).perturb(tied, np.random.default_rng(0)).to_list() == [0] * 50
    days = pl.Series(["2020-01-01", "2020-01-02"]).str.to_date()
    dated = Column("x", days, np.array([0, 1]), np.ones(2, dtype=np.int64))
    assert ic.RankSwapping(1.0).perturb(dated, np.random.default_rng(0)).to_list() == days.to_list()[::-1]
    with pytest.raises(SchemaError, match="for numbers and dates"):
        ic.RankSwapping(0.1).perturb(named(40), np.random.default_rng(0))


@pytest.mark.parametrize("whole", [True, False])
def test_noise_has_the_variance_that_is_told(whole: bool) -> None:
    values = np.random.default_rng(6).integers(0, 1000, PEOPLE) * (1 if whole else 0.5)
    column, change = numbers(values), ic.Noise(20.0)
    added = change.perturb(column, np.random.default_rng(7)).to_numpy() - values
    told = change.told(column)
    assert told["sd"] == 20.0
    assert added.var() == pytest.approx(told["variance"], rel=5 * np.sqrt(2 / PEOPLE))
    assert abs(added.mean()) < 5 * 20 / np.sqrt(PEOPLE)
    kurtosis = ((added - added.mean()) ** 4).mean() / added.var() ** 2
    assert kurtosis == pytest.approx(3, abs=0.15), "it is normal"
    assert abs(np.corrcoef(added, values)[0, 1]) < 0.03, "and has nothing to do with the value"


def test_relative_noise_is_a_share_of_the_columns_own_deviation() -> None:
    values = np.random.default_rng(8).normal(100, 30, 2000)
    column = numbers(values)
    assert ic.Noise(relative=0.5).deviation(column) == float(f"{0.5 * values.std():.3g}")
    constant = numbers(np.full(10, 7.5))
    assert ic.Noise(relative=0.5).perturb(constant, np.random.default_rng(0)).to_list() == [7.5] * 10


def test_noise_leaves_no_more_decimals_than_it_hides() -> None:
    values = np.random.default_rng(9).random(500) * 100
    made = ic.Noise(2.0).perturb(numbers(values), np.random.default_rng(0)).to_numpy()
    assert np.array_equal(made, np.round(made, 2))
    whole = ic.Noise(0.3).perturb(numbers(np.arange(500)), np.random.default_rng(0))
    assert whole.dtype == pl.Int64


def test_one_seed_one_draw_and_without_a_seed_another_each_time() -> None:
    from incrowd.common.randomness import randomness

    column = numbers(np.arange(300))
    for change in (ic.PRAM(0.3), ic.RankSwapping(0.2), ic.Noise(5.0)):
        first, second = (change.perturb(column, randomness(3)).to_list() for _ in range(2))
        assert first == second
        assert change.perturb(column, randomness(None)).to_list() != change.perturb(column, randomness(None)).to_list()
