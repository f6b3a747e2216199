"""Chance: that it is even, that thresholds are exact to the last bit, and that seeds repeat it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from incrowd.common import randomness as randomness_module
from incrowd.common.arrays import Words
from incrowd.common.randomness import below, happens, is_secure, permutation, randomness, sample_counts, words
from incrowd.common.threads import using
from tests.goodness import SIGNIFICANT, fit


class Scripted(np.random.Generator):
    """A generator whose words are written down beforehand."""

    def __init__(self, *script: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.script = list(script)

    @property
    def bit_generator(self) -> Any:
        return self

    def random_raw(self, size: int) -> Words:
        taken, self.script = self.script[:size], self.script[size:]
        assert len(taken) == size, "the script is too short"
        return np.array(taken, dtype=np.uint64)


def pieces(*parts: int, bits: int) -> list[int]:
    """Words that read as these numbers when they are cut into pieces."""
    per_word = 64 // bits
    padded = np.zeros(-(-len(parts) // per_word) * per_word, dtype=f"u{bits // 8}")
    padded[: len(parts)] = parts
    return [int(word) for word in padded.view(np.uint64)]


def test_a_seed_repeats_and_no_seed_does_not() -> None:
    assert words(randomness(7), 100).tolist() == words(randomness(7), 100).tolist()
    assert words(randomness(None), 4).tolist() != words(randomness(None), 4).tolist()
    assert is_secure(randomness(None))
    assert not is_secure(randomness(0))


@pytest.mark.parametrize("number", [5, 131_071, 131_072, 300_001])
def test_a_seeds_words_are_the_same_with_any_number_of_threads(number: int) -> None:
    alone, together = randomness(7), randomness(7)
    for rng in (alone, together):
        rng.integers(0, 3, dtype=np.uint32)  # which leaves half a word for the next draw of this kind
    with using(1):
        expected = words(alone, number)
    with using(3):
        assert np.array_equal(words(together, number), expected)
    assert together.bit_generator.state == alone.bit_generator.state


def test_the_systems_words_of_several_threads_are_different() -> None:
    with using(3):
        drawn = words(randomness(None), 300_001)
    assert len(np.unique(drawn)) == len(drawn) == 300_001


@pytest.mark.parametrize("number", [0, 1, 2, 3, 1000, 200_000])
@pytest.mark.parametrize("alike", [0, 20, 40])
def test_keys_are_put_in_order_as_numpy_does(number: int, alike: int) -> None:
    """Also where many have the same first bits, which are what is sorted first."""
    keys = randomness(3).bit_generator.random_raw(number) << np.uint64(alike) >> np.uint64(alike)
    keys[: number // 2] &= np.uint64(0xFFFF)
    keys = np.unique(keys)
    keys = keys[np.random.default_rng(1).permutation(len(keys))]
    assert np.array_equal(randomness_module._order(keys), np.argsort(keys, kind="stable"))


def test_the_systems_words_do_not_come_from_the_generator() -> None:
    rng = randomness(None)
    state = rng.bit_generator.state
    words(rng, 10), below(rng, 10, 10), happens(rng, Fraction(1, 3), 10)
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("seed", [None, 1])
def test_words_have_the_number_and_kind_that_was_asked_for(seed: int | None) -> None:
    for number in (0, 1, 5):
        drawn = words(randomness(seed), number)
        assert drawn.dtype == np.uint64
        assert len(drawn) == number


def test_every_bit_is_even() -> None:
    drawn = words(randomness(1), 100_000)
    bits = ((drawn[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).sum(axis=0)
    assert stats.binomtest(int(bits.sum()), 6_400_000).pvalue > SIGNIFICANT
    assert stats.chi2.sf(((bits - 50_000) ** 2 / 25_000).sum(), 64) > SIGNIFICANT


def test_every_order_is_as_likely() -> None:
    rng = randomness(2)
    seen = Counter(tuple(permutation(rng, 4).tolist()) for _ in range(8000))
    assert fit([seen[order] for order in permutations(range(4))], np.full(24, 1 / 24)) > SIGNIFICANT


@given(st.integers(0, 300), st.integers(0, 2**32))
def test_a_permutation_has_every_number_once(number: int, seed: int) -> None:
    assert sorted(permutation(randomness(seed), number).tolist()) == list(range(number))


def test_equal_keys_are_drawn_again() -> None:
    assert permutation(Scripted(5, 5, 5, 9, 4, 1), 3).tolist() == [2, 1, 0]


def test_what_is_certain_and_what_is_impossible() -> None:
    assert happens(randomness(1), Fraction(1), 1000).all()
    assert not happens(randomness(1), Fraction(0), 1000).any()
    for wrong in (Fraction(-1, 2), Fraction(3, 2)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            happens(randomness(1), wrong, 1)


def test_a_threshold_that_fits_a_word_is_exact() -> None:
    half = 2**63
    assert happens(Scripted(0, half - 1, half, 2**64 - 1), Fraction(1, 2), 4).tolist() == [True, True, False, False]
    smallest = Fraction(1, 2**64)
    assert happens(Scripted(0, 1), smallest, 2).tolist() == [True, False]


def test_a_threshold_that_does_not_fit_is_compared_further() -> None:
    third = 2**64 // 3  # 0x5555…, followed by the same again
    script = (third - 1, third, third + 1, third, third + 1, third, third - 1)
    #         yes        tie    no         tie  | no          tie  | yes
    assert happens(Scripted(*script), Fraction(1, 3), 4).tolist() == [True, False, False, True]


@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(1, 1000), Fraction(999, 1000)])
def test_it_happens_as_often_as_it_should(probability: Fraction) -> None:
    times = int(happens(randomness(3), probability, 300_000).sum())
    assert stats.binomtest(times, 300_000, float(probability)).pvalue > SIGNIFICANT


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 100, 255, 256, 257, 1000])
def test_numbers_below_a_bound_are_even(bound: int) -> None:
    drawn = below(randomness(4), bound, 200_000)
    assert drawn.dtype == np.int64
    counts = np.bincount(drawn, minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or fit(counts, np.full(bound, 1 / bound)) > SIGNIFICANT


@pytest.mark.parametrize("bound", [2**24, 2**24 + 1, 3 * 2**31, 2**40 + 7, 2**62 + 1, 3 * 2**61, 2**63])
def test_numbers_below_a_large_bound_are_even(bound: int) -> None:
    drawn = below(randomness(5), bound, 100_000)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    tenths = np.bincount([int(number) * 10 // bound for number in drawn], minlength=10)
    assert fit(tenths, np.full(10, 0.1)) > SIGNIFICANT
    parity = stats.binomtest(int((drawn % 2).sum()), 100_000, (bound // 2) / bound)
    assert parity.pvalue > SIGNIFICANT


@pytest.mark.parametrize("bound", [3, 7, 100, 251, 256])
def test_every_piece_of_a_word_counts_the_same(bound: int) -> None:
    """All 65,536 pieces once: each number comes up equally often, and what would tip the scales is drawn again."""
    excess = 65_536 % bound
    again = pieces(*range(excess), bits=16) if excess else []
    drawn = below(Scripted(*pieces(*range(65_536), bits=16), *again), bound, 65_536)
    counts = np.bincount(drawn, minlength=bound)
    assert counts[:excess].tolist() == [65_536 // bound + 1] * excess
    assert counts[excess:].tolist() == [65_536 // bound] * (bound - excess)


def test_what_is_drawn_again_may_be_drawn_a_third_time() -> None:
    largest = 65_535  # 65,536 = 3·21,845 + 1: the one too many
    script = [*pieces(largest, largest - 1, bits=16), *pieces(largest, bits=16), *pieces(5, bits=16)]
    assert below(Scripted(*script), 3, 2).tolist() == [2, 2]


def test_pieces_are_longer_for_larger_bounds() -> None:
    assert below(Scripted(*pieces(300, 2**32 - 1, 7, bits=32)), 2**24, 3).tolist() == [300, 2**24 - 1, 7]
    assert below(Scripted(2**64 - 1, 5), 2**63, 2).tolist() == [2**63 - 1, 5]


def test_only_bounds_that_fit_are_taken() -> None:
    for wrong in (0, -1, 2**63 + 1):
        with pytest.raises(ValueError, match="bound"):
            below(randomness(1), wrong, 1)
    assert below(randomness(1), 5, 0).tolist() == []


def test_a_sample_of_counts_is_binomial() -> None:
    counts = np.full(20_000, 7)
    kept = sample_counts(randomness(6), Fraction(3, 10), counts)
    observed = np.bincount(kept, minlength=8)
    assert fit(observed, stats.binom.pmf(np.arange(8), 7, 0.3)) > SIGNIFICANT


def test_a_sample_keeps_counts_apart() -> None:
    """Pieces of a million rows do not mix up whose they are."""
    counts = np.array([0, 1 << 20, 0, 5, 3, 900_000, 0])
    assert sample_counts(randomness(7), Fraction(1), counts).tolist() == counts.tolist()
    kept = sample_counts(randomness(7), Fraction(1, 2), counts)
    assert (kept <= counts).all()
    for place in (1, 5):
        assert stats.binomtest(int(kept[place]), int(counts[place])).pvalue > SIGNIFICANT


@given(st.lists(st.integers(0, 20), max_size=30), st.fractions(0, 1), st.integers(0, 2**32))
def test_a_sample_is_never_more_than_there_is(sizes: list[int], rate: Fraction, seed: int) -> None:
    counts: NDArray[np.int64] = np.array(sizes, dtype=np.int64)
    kept = sample_counts(randomness(seed), rate, counts)
    assert kept.shape == counts.shape
    assert (kept >= 0).all()
    assert (kept <= counts).all()
