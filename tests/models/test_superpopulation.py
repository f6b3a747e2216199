"""Estimates of who stays alone: the process they assume, simulated; likelihoods by definition; a census, sampled."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import binom, nbinom

import incrowd as ic
from incrowd.models.slide_negative_binomial import snb_parameters, snb_stays_alone
from incrowd.models.superpopulation import pitman_parameters, pitman_stays_alone, zayatz_stays_alone

Ints = NDArray[np.int64]


@cache
def pitman_populations(alpha: float, theta: float) -> list[Ints]:
    """Return six populations of 6,000 people."""
    rng = np.random.default_rng(0)
    return [pitman_process(6000, alpha, theta, rng) for _ in range(6)]


def pitman_process(number: int, alpha: float, theta: float, rng: np.random.Generator) -> Ints:
    """Seat people one by one, as the process says; return everybody's class."""
    sizes: list[int] = []
    classes = np.empty(number, dtype=np.int64)
    for person in range(number):
        if rng.random() * (theta + person) < theta + alpha * len(sizes):
            classes[person] = len(sizes)
            sizes.append(0)
        else:
            while True:  # a class is joined in proportion to its size less alpha
                joined = classes[rng.integers(person)]
                if rng.random() * sizes[joined] < sizes[joined] - alpha:
                    break
            classes[person] = joined
        sizes[classes[person]] += 1
    return classes


def log_likelihood(sizes: Ints, alpha: float, theta: float) -> float:
    """Multiply what each person finds on coming in, class by class."""
    found = sum(math.log(theta + alpha * earlier) for earlier in range(1, len(sizes)))
    found -= sum(math.log(theta + earlier) for earlier in range(1, int(sizes.sum())))
    return found + sum(math.log(inside - alpha) for size in sizes.tolist() for inside in range(1, size))


@given(st.lists(st.integers(1, 12), min_size=2, max_size=25).filter(lambda sizes: max(sizes) > 1))
def test_no_other_parameters_are_likelier(sizes: list[int]) -> None:
    def unlikelihood(at: NDArray[np.float64]) -> float:
        alpha = 1 / (1 + math.exp(-at[0]))
        return -log_likelihood(np.array(sizes), alpha, math.exp(at[1]) - alpha)

    found = log_likelihood(np.array(sizes), *pitman_parameters(np.array(sizes)))
    for start in ([-4, 0], [0, 2], [2, 5]):
        best = minimize(unlikelihood, start, method="Nelder-Mead", bounds=[(-12, 12), (-12, 12)])
        assert found >= -best.fun - 1e-4


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
def test_who_is_alone_stays_so_if_each_newcomer_goes_elsewhere(fraction: float) -> None:
    sizes = np.array([1, 1, 1, 1, 2, 2, 3, 9])
    alpha, theta = pitman_parameters(sizes)
    newcomers = range(20, round(20 / fraction))
    elsewhere = math.prod(1 - (1 - alpha) / (theta + there) for there in newcomers)
    assert pitman_stays_alone(sizes, fraction) == pytest.approx(elsewhere, rel=1e-9)


@pytest.mark.parametrize(("alpha", "theta"), [(0.1, 50), (0.5, 200), (0.8, 100)])
@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_a_population_of_its_own_kind_is_estimated_well(alpha: float, theta: float, fraction: float) -> None:
    rng = np.random.default_rng(1)
    pitman, zayatz, truth = [], [], []
    for classes in 3 * pitman_populations(alpha, theta):
        people = np.bincount(classes)
        rows = np.bincount(classes[rng.random(6000) < fraction], minlength=len(people))
        sizes = rows[rows > 0]
        truth.append(((rows == 1) & (people == 1)).sum() / (rows == 1).sum())
        pitman.append(pitman_stays_alone(sizes, fraction))
        zayatz.append(zayatz_stays_alone(sizes, fraction))
    assert np.mean(pitman) == pytest.approx(np.mean(truth), rel=0.15)
    if fraction == 0.5:
        assert np.mean(zayatz) == pytest.approx(np.mean(truth), rel=0.15)
    else:
        assert np.mean(zayatz) > np.mean(truth)  # classes of the sample are smaller than those of the population


@pytest.mark.parametrize("columns", [["age", "sex", "education", "race"], ["age", "birth_place"]])
def test_a_census_is_estimated_fairly(columns: list[str]) -> None:
    people = ic.datasets.census(20_000, seed=2).with_columns(people=pl.len().over(columns))
    for fraction, estimate in ((0.1, pitman_stays_alone), (0.5, zayatz_stays_alone), (0.5, snb_stays_alone)):
        sample = people.filter(pl.Series(np.random.default_rng(3).random(20_000) < fraction))
        groups = sample.group_by(columns).agg(pl.len().alias("rows"), pl.first("people"))
        alone = groups.filter(pl.col("rows") == 1)
        truth = (alone["people"] == 1).mean()
        found = estimate(groups["rows"].to_numpy().astype(np.int64), fraction)
        assert truth / 1.5 < found < truth * 1.5


def test_zayatz_by_hand() -> None:
    # Of three lone classes, one pair and one of five, half of the people: 3/2, 2/4 and 5/32 leave just one behind.
    assert zayatz_stays_alone(np.array([1, 1, 1, 2, 5]), 0.5) == (3 / 2) / (3 / 2 + 2 / 4 + 5 / 32)


@pytest.mark.parametrize("stays_alone", [pitman_stays_alone, zayatz_stays_alone, snb_stays_alone])
def test_extremes(stays_alone: Callable[[Ints, float], float]) -> None:
    assert stays_alone(np.array([1, 2, 3]), 1.0) == 1  # the table is the population
    assert stays_alone(np.array([1]), 0.01) == 1  # nothing tells otherwise
    assert stays_alone(np.ones(500, dtype=np.int64), 0.01) == 1
    tall = np.array([1, 10**9, 10**9])
    assert 0 <= stays_alone(tall, 0.001) <= stays_alone(tall, 0.1) <= 1


def test_a_smaller_fraction_leaves_fewer_alone() -> None:
    sizes = np.array([1] * 40 + [2] * 20 + [7] * 5)
    chances = [pitman_stays_alone(sizes, fraction) for fraction in (1e-9, 1e-4, 0.01, 0.1, 0.5, 1.0)]
    assert chances == sorted(chances)
    assert chances[0] < 1e-4


def test_millions_of_rows_lose_no_digits() -> None:
    # The two ways of taking a difference of log Γ meet at a million.
    below, above = (
        pitman_stays_alone(np.array([1] * 100 + [5] * 50), rows) for rows in (350 / 999_000, 350 / 1_001_000)
    )
    assert above < below < above * 1.003


@pytest.mark.parametrize(
    ("alpha", "beta", "fraction"), [(0.5, 0.2, 0.1), (0.5, 0.2, 0.5), (2, 0.5, 0.3), (20, 0.95, 0.3)]
)
def test_classes_of_slide_negative_binomials_are_estimated_well(alpha: float, beta: float, fraction: float) -> None:
    rng = np.random.default_rng(1)
    found, truth = [], []
    for _ in range(6):
        people = 1 + rng.negative_binomial(alpha, beta, 5000)
        rows = rng.binomial(people, fraction)
        truth.append(((rows == 1) & (people == 1)).sum() / (rows == 1).sum())
        found.append(snb_stays_alone(rows[rows > 0], fraction))
    assert np.mean(found) == pytest.approx(np.mean(truth), rel=0.1)


def unlikelihood_of_rows(sizes: Ints, fraction: float) -> Callable[[float, float], float]:
    """Draw from a class of every size in turn: the definition of a sample, as far as sizes matter."""
    people = np.arange(1, 2000)
    nobody, some = binom.pmf(0, people, fraction), binom.pmf(sizes[:, None], people, fraction)

    def unlikelihood(alpha: float, beta: float) -> float:
        weights = nbinom.pmf(people - 1, alpha, beta)
        return -float(np.log(np.maximum(some @ weights, 1e-300) / max(1 - weights @ nobody, 1e-300)).sum())

    return unlikelihood


@settings(max_examples=8, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 8), min_size=3, max_size=15).filter(lambda sizes: max(sizes) > 1),
    fraction=st.sampled_from([0.2, 0.5]),
)
def test_no_other_slide_negative_binomial_is_likelier(sizes: list[int], fraction: float) -> None:
    rows = np.array(sizes)
    alpha, left = snb_parameters(rows, fraction)
    beta = fraction * left / (1 - (1 - fraction) * left)
    unlikelihood = unlikelihood_of_rows(rows, fraction)
    found = unlikelihood(alpha, beta)
    for other_alpha in (0.1, 0.5, 1, 2, 5, 20):
        for other_beta in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95):
            assert found <= unlikelihood(other_alpha, other_beta) + 1e-6


def test_a_lone_row_is_all_of_its_class_by_the_definition() -> None:
    rows, fraction = np.array([1, 1, 1, 1, 2, 2, 3, 9]), 0.4
    alpha, left = snb_parameters(rows, fraction)
    beta = fraction * left / (1 - (1 - fraction) * left)
    people = np.arange(1, 5000)
    leaves_one = nbinom.pmf(people - 1, alpha, beta) * binom.pmf(1, people, fraction)
    assert snb_stays_alone(rows, fraction) == pytest.approx(leaves_one[0] / leaves_one.sum(), rel=1e-6)
