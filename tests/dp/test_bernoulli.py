"""Draws with probability exp(−x): worked out exactly along every path, and counted."""

from __future__ import annotations

import ast
import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from incrowd.common import randomness as chance
from incrowd.common.randomness import randomness
from incrowd.dp import bernoulli, discrete_laplace
from incrowd.dp.bernoulli import count_exp_one, happens_exp, happens_exp_below_one
from tests.dp.exhaustive import Paths
from tests.goodness import SIGNIFICANT, fit


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Paths:
    every = Paths()
    monkeypatch.setattr(bernoulli, "below", every.below)
    return every


@pytest.mark.parametrize(("top", "parts"), [(0, 3), (1, 3), (2, 3), (1, 1), (1, 2), (3, 4), (4, 4)])
def test_every_path_together_comes_to_the_exponential(paths: Paths, top: int, parts: int) -> None:
    rng = randomness(0)
    known, unknown = paths.outcomes(
        lambda: bool(happens_exp_below_one(rng, np.array([top]), parts)[0]), leave=Fraction(1, 10**6)
    )
    assert unknown < Fraction(1, 500)
    wanted = math.exp(-top / parts)
    assert float(known[True]) <= wanted <= float(known[True] + unknown)
    assert float(known.get(False, 0)) <= 1 - wanted <= float(known.get(False, 0) + unknown)


@pytest.mark.parametrize(("whole", "rest"), [(1, 0), (2, 0), (1, 1), (3, 1)])
def test_every_path_of_a_whole_part(paths: Paths, whole: int, rest: int) -> None:
    rng = randomness(0)
    known, unknown = paths.outcomes(
        lambda: bool(happens_exp(rng, np.array([whole]), np.array([rest]), 2)[0]), leave=Fraction(1, 10**5)
    )
    assert unknown < Fraction(1, 50)
    wanted = math.exp(-whole - rest / 2)
    assert float(known[True]) <= wanted <= float(known[True] + unknown)


def test_every_path_of_a_count(paths: Paths) -> None:
    known, unknown = paths.outcomes(lambda: int(count_exp_one(randomness(0), 1)[0]), leave=Fraction(1, 10**5))
    assert unknown < Fraction(1, 50)
    for count in range(6):
        wanted = math.exp(-count) * (1 - math.exp(-1))
        assert float(known[count]) <= wanted <= float(known[count] + unknown)


@pytest.mark.parametrize(
    ("whole", "rest", "parts"),
    [(0, 0, 1), (0, 1, 10), (0, 999_999, 10**6), (1, 0, 1), (1, 7, 9), (4, 1, 2**40), (0, 2**62, 2**63)],
)
def test_it_happens_as_often_as_the_exponential_says(whole: int, rest: int, parts: int) -> None:
    number = 200_000
    times = int(happens_exp(randomness(5), np.full(number, whole), np.full(number, rest), parts).sum())
    wanted = math.exp(-whole - rest / parts)
    assert times == number if wanted == 1 else stats.binomtest(times, number, wanted).pvalue > SIGNIFICANT


def test_each_place_has_its_own_exponent() -> None:
    whole, rest = np.tile([0, 0, 1, 2, 10**18], 40_000), np.tile([0, 1, 0, 2, 1], 40_000)
    happened = happens_exp(randomness(6), whole, rest, 3).reshape(-1, 5).sum(axis=0)
    assert happened[0] == 40_000
    assert happened[4] == 0
    for place, wanted in ((1, 1 / 3), (2, 1), (3, 8 / 3)):
        assert stats.binomtest(int(happened[place]), 40_000, math.exp(-wanted)).pvalue > SIGNIFICANT


def test_counts_are_geometric() -> None:
    counts = np.bincount(count_exp_one(randomness(7), 300_000))
    geometric = np.exp(-np.arange(len(counts))) * (1 - math.exp(-1))
    assert fit(counts, geometric) > SIGNIFICANT


def test_nothing_is_asked_for() -> None:
    empty = np.array([], dtype=np.int64)
    assert happens_exp(randomness(1), empty, empty, 5).tolist() == []
    assert count_exp_one(randomness(1), 0).tolist() == []


@pytest.mark.parametrize(
    "code",
    [bernoulli, chance.below, chance.words, discrete_laplace.discrete_laplace, discrete_laplace._draw_some],
    ids=lambda code: code.__name__,
)
def test_no_fraction_of_a_number_is_near_a_draw(code: object) -> None:
    """Neither a floating-point literal, nor a division that makes one, nor a function that returns one."""
    tree = ast.parse(inspect.getsource(code))  # type: ignore[arg-type]
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Div)
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not (isinstance(node, ast.Attribute) and node.attr in {"exp", "log", "float64", "laplace", "uniform"})
