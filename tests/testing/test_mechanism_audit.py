"""The audit: silent about honest mechanisms, and not about broken ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from incrowd.common.randomness import below, happens, randomness, sample_counts
from incrowd.dp.amplification import amplified
from incrowd.dp.budget import Budget
from incrowd.dp.discrete_laplace import discrete_laplace
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.selection import exponential_mechanism, permute_and_flip
from incrowd.testing.mechanism_audit import audit, audit_outcomes

RUNS = 100_000


def counted(true_count: int, scale: Fraction, seed: int, runs: int = RUNS) -> NDArray[np.int64]:
    return true_count + discrete_laplace(randomness(seed), scale, runs)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)], ids=str)
def test_a_noisy_count_is_as_private_as_it_says_and_hardly_more(epsilon: Fraction) -> None:
    result = audit_outcomes(counted(100, 1 / epsilon, 1), counted(99, 1 / epsilon, 2))
    assert not result.contradicts(float(epsilon))
    assert result.epsilon > 0.7 * epsilon


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)], ids=str)
def test_half_the_noise_is_found(epsilon: Fraction) -> None:
    scale = 1 / epsilon / 2
    assert audit_outcomes(counted(100, scale, 3), counted(99, scale, 4)).contradicts(float(epsilon))


def test_a_budget_that_is_spent_twice_is_found() -> None:
    """Two answers, each with noise for the whole of ε."""
    for scale, broken in ((Fraction(1), True), (Fraction(2), False)):
        pairs = [
            list(zip(counted(true, scale, seed).tolist(), counted(true, scale, seed + 1).tolist(), strict=True))
            for true, seed in ((100, 5), (99, 7))
        ]
        assert audit_outcomes(pairs[0], pairs[1]).contradicts(1) is broken


def test_noise_that_is_seldom_left_out_is_found() -> None:
    """One time in 100 the true count is told: that is no ε at all, and δ = 0.01 would cover it."""

    def leaky(true_count: int, seed: int) -> NDArray[np.int64]:
        told = happens(randomness(seed), Fraction(1, 100), RUNS)
        return np.where(told, 10**6 + true_count, counted(true_count, Fraction(2), seed + 100))

    leaked = leaky(100, 9), leaky(99, 10)
    assert audit_outcomes(*leaked).contradicts(3)
    assert not audit_outcomes(*leaked, delta=0.01).contradicts(0.5)
    assert audit_outcomes(*leaked, delta=0.005).contradicts(0.5)


def test_sampling_is_as_private_as_the_amplification_says() -> None:
    """With the row 1, without it 0; half of the rows are sampled, and the count has noise for ε = 2."""
    promised = float(amplified(Budget(2), "0.5").epsilon)
    ones = happens(randomness(11), Fraction(1, 2), RUNS) + counted(0, Fraction(1, 2), 12)
    result = audit_outcomes(ones, counted(0, Fraction(1, 2), 13))
    assert 0.95 * promised < result.epsilon <= promised


@pytest.mark.parametrize(("k", "rate", "broken_k"), [(5, Fraction(3, 10), 1), (4, Fraction(1, 5), 1)])
def test_sampling_with_suppression_keeps_theorem_1(k: int, rate: Fraction, broken_k: int) -> None:
    """The crowd in which it shows most easily. Without suppression the same ε and δ do not hold."""
    epsilon = 1
    delta = exact_delta(k, rate, epsilon)

    def published(crowd: int, seed: int, at_least: int) -> NDArray[np.int64]:
        kept = sample_counts(randomness(seed), rate, np.full(RUNS, crowd))
        return np.where(kept >= at_least, kept, 0)

    for crowd in (1, 2, 5, 7):
        with_row, without_row = published(crowd, 14, k), published(crowd - 1, 15, k)
        assert not audit_outcomes(with_row, without_row, delta=delta).contradicts(epsilon)
    bare = audit_outcomes(published(1, 16, broken_k), published(0, 17, broken_k), delta=delta)
    assert bare.contradicts(epsilon)


def chosen(choose: object, scores: list[int], epsilon: Fraction, seed: int, **more: bool) -> list[int]:
    rng, array = randomness(seed), np.array(scores)
    return [choose(rng, array, epsilon=epsilon, sensitivity=Fraction(1), **more) for _ in range(700)]  # type: ignore[operator]


@pytest.mark.parametrize("choose", [exponential_mechanism, permute_and_flip])
def test_selection_is_as_private_as_it_says(choose: object) -> None:
    """One person moves one score up and another down; whoever takes that for monotone spends twice as much."""
    with_row, without_row = [3, 2], [2, 3]
    epsilon = Fraction(2)
    honest = audit_outcomes(chosen(choose, with_row, epsilon, 18), chosen(choose, without_row, epsilon, 19))
    assert not honest.contradicts(2)
    broken = audit_outcomes(
        chosen(choose, with_row, epsilon, 20, monotone=True), chosen(choose, without_row, epsilon, 21, monotone=True)
    )
    assert broken.epsilon > 1.5 * honest.epsilon


def test_a_continuous_outcome_is_judged_by_its_tails() -> None:
    """No two outcomes are equal: nothing but bounds can tell the tables apart."""
    noise = np.random.default_rng(22).laplace(scale=1, size=(2, 50_000))
    result = audit_outcomes(1 + noise[0], noise[1])
    assert 0.9 < result.epsilon <= 1
    assert result.event.startswith(("at least", "at most"))
    halved = audit_outcomes(1 + noise[0] / 2, noise[1] / 2)
    assert halved.contradicts(1)


def test_whoever_knows_what_to_look_for_says_so() -> None:
    """Outcomes are tables of noise, none of them seen twice; only the caller's event reads the right cell."""

    def run(with_row: bool, rng: np.random.Generator) -> tuple[int, ...]:
        cells = below(rng, 2**40, 5)
        cells[2] = int(with_row) if below(rng, 10, 1)[0] else 1 - int(with_row)
        return tuple(cells.tolist())

    assert audit(run, runs=2000, rng=randomness(23)).epsilon == 0
    result = audit(run, runs=2000, rng=randomness(23), events=[lambda table: table[0] < 5, lambda table: table[2] == 1])
    assert 1.5 < result.epsilon <= math.log(9)
    assert result.event == "event 1"
    assert result.likelier_with


def test_the_direction_is_told() -> None:
    """An event that only the table without the row has."""
    result = audit_outcomes([0] * 1000, [0, 1] * 500)
    assert not result.likelier_with
    assert result.times == (250, 0)
    assert result.runs == 500
    assert result.contradicts(3)


def test_the_confidence_is_kept() -> None:
    """Randomized response of exactly ε = ln 3, audited 200 times: false alarms are at most as frequent as allowed."""
    alarms = 0
    for seed in range(200):
        rng = randomness(1000 + seed)
        with_row, without_row = happens(rng, Fraction(3, 4), 800), happens(rng, Fraction(1, 4), 800)
        alarms += audit_outcomes(with_row, without_row, confidence=0.9).contradicts(math.log(3))
    assert stats.binomtest(alarms, 200, 0.1, alternative="greater").pvalue > 1e-6
    assert alarms < 20


def test_luck_among_many_outcomes_is_no_alarm() -> None:
    """The same 500 outcomes for both tables. Every other alarm would be allowed, and there are far fewer; chosen and
    judged by the same runs, some set of outcomes would stand out more often than that."""
    alarms = 0
    for seed in range(100):
        rng = randomness(2000 + seed)
        alarms += audit_outcomes(below(rng, 500, 2000), below(rng, 500, 2000), confidence=0.5).contradicts(0)
    assert alarms < 35


def test_equal_tables_show_nothing() -> None:
    outcomes = counted(5, Fraction(3), 24, runs=1000)
    assert audit_outcomes(outcomes, outcomes).epsilon == 0
    assert audit_outcomes([1] * 10, [1] * 10).epsilon == 0
    assert audit_outcomes(["a"] * 1000, ["b"] * 1000).epsilon > 4


@pytest.mark.parametrize(
    ("first", "second", "more"),
    [([1] * 4, [1] * 5, {}), ([1], [1], {}), ([1] * 4, [1] * 4, {"confidence": 1}), ([1] * 4, [1] * 4, {"delta": 1})],
)
def test_what_cannot_be_judged_is_refused(first: list[int], second: list[int], more: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"runs|confidence"):
        audit_outcomes(first, second, **more)  # type: ignore[arg-type]
