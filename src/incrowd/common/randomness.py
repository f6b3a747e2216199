"""Where chance comes from: the operating system, or a seed for a run that can be repeated.

NumPy's generators are fast and good for experiments, but whoever sees enough of their output can work out the rest.
What hides people (sampling, permutations, noise) is therefore drawn from the operating system, word by word.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Words

Piece = np.uint16 | np.uint32 | np.uint64
_WORD = 2**64
_BITS: dict[type[Piece], int] = {np.uint16: 16, np.uint32: 32, np.uint64: 64}
_WORDS_AT_ONCE = 1 << 20
"""Chance for millions of rows is drawn in pieces of this size, so that it never fills the memory."""


class SystemRandom(np.random.Generator):
    """A NumPy generator whose words, unlike its own numbers, come from the operating system each time."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64())


def randomness(seed: int | None) -> np.random.Generator:
    """Return the operating system's chance, or a seed's."""
    return SystemRandom() if seed is None else np.random.default_rng(seed)


def is_secure(rng: np.random.Generator) -> bool:
    """Whether words come from the operating system; if not, a guarantee by chance is for experiments only."""
    return isinstance(rng, SystemRandom)


def words(rng: np.random.Generator, number: int) -> Words:
    """Return independent, evenly distributed 64-bit words."""
    if is_secure(rng):
        return np.frombuffer(os.urandom(8 * number), dtype=np.uint64)
    return np.asarray(rng.bit_generator.random_raw(number))


def permutation(rng: np.random.Generator, number: int) -> NDArray[np.int64]:
    """Return the numbers from 0 on in random order, each order as likely as any other."""
    keys = words(rng, number)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    if number > 1 and (ordered[1:] == ordered[:-1]).any():  # one in ten million times for a million numbers
        return permutation(rng, number)
    return order


def happens(rng: np.random.Generator, probability: Fraction, number: int) -> NDArray[np.bool_]:
    """Return independent draws that are true with exactly this probability.

    A word decides unless it equals the threshold's own 64 bits; then the next 64 bits of both are compared, and so on.
    """
    if not 0 <= probability <= 1:
        raise ValueError("a probability is between 0 and 1")
    if probability == 1:
        return np.ones(number, dtype=bool)
    scaled = probability * _WORD
    threshold, rest = int(scaled), scaled - int(scaled)
    drawn = words(rng, number)
    happened = drawn < np.uint64(threshold)
    undecided = np.flatnonzero(drawn == np.uint64(threshold))
    if rest and undecided.size:
        happened[undecided] = happens(rng, rest, undecided.size)
    return np.asarray(happened)


def below(rng: np.random.Generator, bound: int, number: int) -> NDArray[np.int64]:
    """Return independent whole numbers from 0 up to, but not including, a bound; all are equally likely.

    Words that would favour small numbers are thrown away. Words are cut into halves or quarters where that throws away
    at most one in 256, because the operating system's words are what takes the time.
    """
    if not 1 <= bound <= 2**63:
        raise ValueError("a bound is between 1 and 2**63")
    if bound == 1:
        return np.zeros(number, dtype=np.int64)
    pieces = pieces_for(bound)
    different = 2 ** _BITS[pieces]
    excess = different % bound
    drawn = _pieces(rng, pieces, number)
    if excess:
        most = pieces(different - excess - 1)
        refused = np.flatnonzero(drawn > most)
        if refused.size:
            drawn = drawn.copy()  # what the system gives cannot be written to
        while refused.size:
            drawn[refused] = _pieces(rng, pieces, refused.size)
            refused = refused[drawn[refused] > most]
    return (drawn % pieces(bound)).astype(np.int64)


def pieces_for(bound: int) -> type[Piece]:
    """Return pieces of words that are large enough for draws below a bound, at most one in 256 of them in vain."""
    return np.uint16 if bound <= 2**8 else np.uint32 if bound <= 2**24 else np.uint64


def _pieces(rng: np.random.Generator, pieces: type[Piece], number: int) -> NDArray[Any]:
    per_word = 64 // _BITS[pieces]
    return words(rng, -(-number // per_word)).view(pieces)[:number]


def sample_counts(rng: np.random.Generator, rate: Fraction, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of each count are left if every single one is kept independently with probability `rate`.

    This is Poisson sampling of rows, said of their counts: which of several equal rows stays is of no consequence.
    """
    ends = np.cumsum(counts)
    kept = np.zeros(len(counts), dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    for first in range(0, total, _WORDS_AT_ONCE):
        last = min(first + _WORDS_AT_ONCE, total)
        stays = np.flatnonzero(happens(rng, rate, last - first)) + first
        kept += np.bincount(np.searchsorted(ends, stays, side="right"), minlength=len(counts))
    return kept
