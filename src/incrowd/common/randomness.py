"""Where chance comes from: the operating system, or a seed for a run that can be repeated.

NumPy's generators are fast and good for experiments, but whoever sees enough of their output can work out the rest.
What hides people (sampling, permutations, noise) is therefore drawn from the operating system, word by word.
"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Words
from incrowd.common.threads import do_together, shares

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
    """Return independent, evenly distributed 64-bit words: a seed's are the same with any number of threads."""
    source, ranges = rng.bit_generator, shares(number)
    if is_secure(rng):
        draw = _of_the_system
    elif len(ranges) == 1 or not isinstance(source, np.random.PCG64):
        return np.asarray(source.random_raw(number))
    else:
        before = source.state
        draw = partial(_further_on, before)
        source.advance(number)
        source.state = {**before, "state": source.state["state"]}  # half a word may be left of an earlier draw
    if len(ranges) == 1:
        return draw(0, number)
    drawn = np.empty(number, dtype=np.uint64)

    def fill(first: int, last: int) -> None:
        for some in range(first, last, _WORDS_AT_ONCE):
            until = min(some + _WORDS_AT_ONCE, last)
            drawn[some:until] = draw(some, until)

    do_together([partial(fill, *reach) for reach in ranges], steps=number)
    return drawn


def _of_the_system(first: int, last: int) -> Words:
    return np.frombuffer(os.urandom(8 * (last - first)), dtype=np.uint64)


def _further_on(state: Any, first: int, last: int) -> Words:
    """Return some of the words that a generator gives from a state on."""
    copy = np.random.PCG64(0)
    copy.state = state
    copy.advance(first)
    return np.asarray(copy.random_raw(last - first))


def permutation(rng: np.random.Generator, number: int) -> NDArray[np.int64]:
    """Return the numbers from 0 on in random order, each order as likely as any other."""
    keys = words(rng, number)
    order = _order(keys)
    ordered = keys.take(order)
    if number > 1 and (ordered[1:] == ordered[:-1]).any():  # one in ten million times for a million numbers
        return permutation(rng, number)
    return order


def _order(keys: Words) -> NDArray[np.int64]:
    """Return the places of keys in ascending order: `np.argsort` in a tenth of its time, since it sorts numbers."""
    bits = np.uint64(max(len(keys) - 1, 0).bit_length())
    # The first bits of a key, and its place behind them. Where the former are equal, the rest of the key decides.
    packed = np.sort((keys >> bits << bits) | np.arange(len(keys), dtype=np.uint64))
    order = (packed & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    packed >>= bits
    tied = np.zeros(len(keys), dtype=bool)
    np.equal(packed[1:], packed[:-1], out=tied[1:])
    tied[:-1] |= tied[1:]
    places = np.flatnonzero(tied)
    order[places] = order[places[np.argsort(keys[order[places]], kind="stable")]]
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
