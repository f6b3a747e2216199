"""Sets of bytes of a chunk, as one bit for each byte, so that one instruction looks at 64 of them.

The lowest bit of the first word is the first byte of the chunk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools

Words = NDArray[np.uint64]

WORD = 64
_ONE = np.uint64(1)
_LAST = np.uint64(WORD - 1)


def bitmap(mask: Bools) -> Words:
    """Return the set of bytes for which the mask is true."""
    beyond = -len(mask) % WORD
    if beyond:
        mask = np.pad(mask, (0, beyond))
    return np.packbits(mask, bitorder="little").view(np.dtype("<u8"))


def positions(words: Words) -> NDArray[np.intp]:
    """Return where the bytes of the set are, in order."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def counts(words: Words) -> NDArray[np.int64]:
    """Return how many bytes of the set each word has."""
    return np.bitwise_count(words).astype(np.int64)


def last(words: Words) -> int:
    """Return where the last byte of a set is that is not empty."""
    at = int(np.flatnonzero(words)[-1])
    return at * WORD + int(words[at]).bit_length() - 1


def ends_with(words: Words) -> bool:
    """Tell whether the very last byte of whole words is in the set."""
    return bool(words[-1] >> _LAST)


def following(words: Words, carry: bool) -> Words:
    """Return the set of bytes that come right after one of the set; `carry` is the byte before the chunk."""
    moved = words << _ONE
    moved[1:] |= words[:-1] >> _LAST
    moved[0] |= np.uint64(carry)
    return moved


def up_to_first(words: Words) -> Words:
    """Return, in each word, the bytes before its first byte of the set and that byte itself; all if there is none."""
    return words ^ (words - _ONE)


def without_first(words: Words) -> Words:
    """Return the set without the first byte that each word has of it."""
    return words & (words - _ONE)


def odd_so_far(words: Words, carry: bool) -> Words:
    """Return the bytes up to and including which the set has an odd number; `carry`: so it was before the chunk."""
    parity = words.copy()
    for step in (1, 2, 4, 8, 16, 32):
        parity ^= parity << np.uint64(step)
    flipped = np.logical_xor.accumulate(np.concatenate(([carry], ends_of_words(parity)[:-1])))
    return np.where(flipped, ~parity, parity)


def ends_of_words(words: Words) -> Bools:
    """Tell for each word whether its last byte is in the set."""
    return (words >> _LAST).astype(np.bool_)
