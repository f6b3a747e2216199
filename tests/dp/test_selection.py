"""The exponential mechanism and permute-and-flip: against their probabilities, worked out from the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incrowd.common.randomness import randomness
from incrowd.dp.selection import _exponents, _gaps, exponential_mechanism, permute_and_flip, to_units, weight_per_unit
from incrowd.errors import RecipeError
from tests.goodness import SIGNIFICANT, fit

Choose = Callable[..., int]
BOTH = pytest.mark.parametrize("choose", [exponential_mechanism, permute_and_flip])


def exponential_shares(exponents: list[float]) -> NDArray[np.float64]:
    weights = np.exp(np.array(exponents))
    return np.asarray(weights / weights.sum())


def flipping_shares(exponents: list[float]) -> NDArray[np.float64]:
    """By the definition: every order, and in each the first that is kept."""
    kept = [math.exp(exponent - max(exponents)) for exponent in exponents]
    shares = np.zeros(len(kept))
    for order in permutations(range(len(kept))):
        open_so_far = 1.0
        for place in order:
            shares[place] += open_so_far * kept[place]
            open_so_far *= 1 - kept[place]
    return shares / math.factorial(len(kept))


SHARES = {exponential_mechanism: exponential_shares, permute_and_flip: flipping_shares}


def choices(choose: Choose, scores: list[int], times: int = 500, **parameters: object) -> NDArray[np.int64]:
    rng = randomness(11)
    array = np.array(scores)
    return np.bincount([choose(rng, array, **parameters) for _ in range(times)], minlength=len(scores))


@BOTH
@pytest.mark.parametrize(
    "scores",
    [[0, 1], [5, 5, 5], [3, 1, 4, 1, 5], [0, 10, 12], [-7, 0, 2, 2], [0, 10, 13, 100, 104]],
    ids=str,
)
def test_choices_are_as_likely_as_they_should_be(choose: Choose, scores: list[int]) -> None:
    seen = choices(choose, scores, epsilon=Fraction(1, 2), sensitivity=Fraction(1))
    assert fit(seen, SHARES[choose]([score * 0.25 for score in scores])) > SIGNIFICANT


@BOTH
def test_monotone_scores_do_without_the_factor(choose: Choose) -> None:
    scores = [0, 2, 3]
    seen = choices(choose, scores, epsilon=Fraction(1, 2), sensitivity=Fraction(1), monotone=True)
    assert fit(seen, SHARES[choose]([score * 0.5 for score in scores])) > SIGNIFICANT
    assert fit(seen, SHARES[choose]([score * 0.25 for score in scores])) < SIGNIFICANT


@BOTH
def test_units_and_sensitivities_scale_scores(choose: Choose) -> None:
    scores = [100, 250, 400]
    seen = choices(
        choose, scores, epsilon=Fraction(3), sensitivity=Fraction(7, 10), unit=Fraction(1, 300), monotone=False
    )
    assert fit(seen, SHARES[choose]([3 * score / 300 / 1.4 for score in scores])) > SIGNIFICANT


@BOTH
def test_one_candidate_is_chosen_and_none_is_an_error(choose: Choose) -> None:
    rng = randomness(1)
    assert choose(rng, np.array([-5]), epsilon=Fraction(1), sensitivity=Fraction(1)) == 0
    with pytest.raises(ValueError, match="nothing to choose"):
        choose(rng, np.array([], dtype=np.int64), epsilon=Fraction(1), sensitivity=Fraction(1))


@BOTH
def test_only_whole_scores_are_taken(choose: Choose) -> None:
    for wrong in (np.array([0.5, 1.0]), np.array([1, 2], dtype=np.uint64), np.array([True, False])):
        with pytest.raises(ValueError, match="whole numbers"):
            choose(randomness(1), wrong, epsilon=Fraction(1), sensitivity=Fraction(1))


@BOTH
@pytest.mark.parametrize("place", [0, 7, 9_999])
def test_the_best_of_many_is_found(choose: Choose, place: int) -> None:
    scores = np.zeros(10_000, dtype=np.int64)
    scores[place] = 1000
    rng = randomness(2)
    for _ in range(5):
        assert choose(rng, scores, epsilon=Fraction(1, 2), sensitivity=Fraction(1)) == place


@BOTH
def test_many_equal_candidates_are_equally_likely(choose: Choose) -> None:
    rng = randomness(3)
    scores = np.full(20_000, 3)
    chosen = [choose(rng, scores, epsilon=Fraction(1), sensitivity=Fraction(1)) for _ in range(250)]
    tenths = np.bincount(np.array(chosen) // 2000, minlength=10)
    assert fit(tenths, np.full(10, 0.1)) > SIGNIFICANT


@BOTH
def test_a_group_of_many_has_the_weight_of_all_of_them(choose: Choose) -> None:
    """100 candidates one step below one: more candidates than are tried at once, none of them alone likely."""
    scores = np.zeros(101, dtype=np.int64)
    scores[50] = 8
    rng = randomness(4)
    best = sum(choose(rng, scores, epsilon=Fraction(1), sensitivity=Fraction(1)) == 50 for _ in range(500))
    ratio = math.exp(-4)
    if choose is exponential_mechanism:
        share = 1 / (1 + 100 * ratio)
    else:  # the best comes after m of the others with probability 1/101, and they all fail with (1 − ratio)^m
        share = sum((1 - ratio) ** others for others in range(101)) / 101
    assert fit([best, 500 - best], [share, 1 - share]) > SIGNIFICANT


@BOTH
def test_flipping_is_never_worse_on_the_whole(choose: Choose) -> None:
    scores = [0, 1, 3, 6]
    exponents = [0.25 * score for score in scores]
    loss = {each: 6 - float(SHARES[each](exponents) @ np.array(scores)) for each in SHARES}
    assert loss[permute_and_flip] < loss[exponential_mechanism]
    seen = choices(choose, scores, epsilon=Fraction(1, 2), sensitivity=Fraction(1))
    assert abs(6 - seen @ np.array(scores) / seen.sum() - loss[choose]) < 0.2


@BOTH
def test_scores_may_span_all_of_64_bits(choose: Choose) -> None:
    scores = np.array([-(2**63), 2**63 - 1, 2**63 - 1])
    rng = randomness(5)
    for epsilon in (Fraction(1, 2**20), Fraction(1), Fraction(2**30)):
        chosen = {choose(rng, scores, epsilon=epsilon, sensitivity=Fraction(1)) for _ in range(50)}
        assert chosen == {1, 2}


def test_gaps_may_need_all_of_64_bits() -> None:
    assert _gaps(np.array([-(2**63), 0, 2**63 - 1])).tolist() == [2**64 - 1, 2**63 - 1, 0]
    assert _gaps(np.array([-5, -7], dtype=np.int8)).tolist() == [0, 2]


weights = st.fractions(min_value=Fraction(1, 2**50), max_value=2**20)
gap_lists = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5)


@given(weights, gap_lists)
@example(Fraction(2**20), [2**64 - 1, 2**63, 0, 1])
@example(Fraction(2**20 + 1, 2**21 - 1), [2**64 - 1, 2**62 + 12345])
@example(Fraction(1, 2**50), [2**64 - 1])
def test_exponents_are_exact(epsilon: Fraction, gaps: list[int]) -> None:
    weight = weight_per_unit(epsilon=epsilon, sensitivity=Fraction(1), unit=Fraction(1), monotone=True)
    whole, rest = _exponents(np.array(gaps, dtype=np.uint64), weight)
    for place, gap in enumerate(gaps):
        assert 0 <= rest[place] < weight.denominator
        found = int(whole[place]) + Fraction(int(rest[place]), weight.denominator)
        assert found == weight * gap or (found >= 2**61 and weight * gap > found)


@given(weights, st.fractions(min_value=Fraction(1, 1000), max_value=1000), st.booleans())
def test_a_weight_is_never_too_large_and_loses_next_to_nothing(
    epsilon: Fraction, sensitivity: Fraction, monotone: bool
) -> None:
    weight = weight_per_unit(epsilon=epsilon, sensitivity=sensitivity, unit=Fraction(1), monotone=monotone)
    exact = epsilon / sensitivity / (1 if monotone else 2)
    assert exact * (1 - Fraction(1, 2**29)) <= weight <= exact
    assert weight.numerator * weight.denominator <= 2**62


def test_usual_weights_are_exact() -> None:
    weight = weight_per_unit(epsilon=Fraction("0.01"), sensitivity=Fraction(1), unit=Fraction(1, 2**30), monotone=False)
    assert weight == Fraction(1, 200 * 2**30)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "unit"), [(0, 1, 1), (-1, 1, 1), (1, 0, 1), (1, 1, 0), (Fraction(1, 2**80), 1, 1)]
)
def test_a_weight_that_cannot_be_made_is_refused(epsilon: Fraction, sensitivity: Fraction, unit: Fraction) -> None:
    with pytest.raises((ValueError, RecipeError), match="ε"):
        weight_per_unit(
            epsilon=Fraction(epsilon), sensitivity=Fraction(sensitivity), unit=Fraction(unit), monotone=False
        )


@given(st.lists(st.floats(-1000, 1000), min_size=1), st.fractions(min_value=Fraction(1, 10**6), max_value=10))
def test_scores_in_units_are_rounded_down(scores: list[float], unit: Fraction) -> None:
    whole = to_units(np.array(scores), unit)
    for score, units in zip(scores, whole.tolist(), strict=True):
        assert math.isclose(units * unit, score, abs_tol=float(unit) * (1 + 1e-6))
        assert units * unit <= score + abs(score) * 1e-15 + 1e-300


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e300])
def test_scores_that_fit_no_unit_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="not finite, or too large"):
        to_units(np.array([0.0, wrong]), Fraction(1))
    with pytest.raises(ValueError, match="unit"):
        to_units(np.array([0.0]), Fraction(0))
