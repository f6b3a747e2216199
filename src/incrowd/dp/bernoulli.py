"""Exact draws that are true with probability exp(−x), for rational x: whole numbers only, nothing is ever rounded.

After Canonne, Kamath & Steinke (2020), "The Discrete Gaussian for Differential Privacy", algorithm 1: for x up to 1,
draw Bernoulli(x/1), Bernoulli(x/2), … until one is false; the place of the first false one is odd with probability
exp(−x). Cost: about three cheap draws for each number, vectorized.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints
from incrowd.common.randomness import below


def happens_exp(rng: np.random.Generator, whole: Ints, rest: Ints, parts: int) -> NDArray[np.bool_]:
    """Return draws that are true with probability exp(−(whole + rest/parts)), one per place; 0 ≤ rest < parts ≤ 2**63.

    A whole part n is n draws of exp(−1). All but one in e are over after each, so a large n costs no more.
    """
    happened = np.zeros(len(whole), dtype=bool)
    going = np.flatnonzero(whole == 0)
    to_go = np.flatnonzero(whole)
    for done in range(1, int(whole.max(initial=0)) + 1):
        to_go = to_go[_happens_exp_one(rng, to_go.size)]
        if not to_go.size:
            break
        arrived = whole[to_go] == done
        going, to_go = np.concatenate([going, to_go[arrived]]), to_go[~arrived]
    happened[going] = happens_exp_below_one(rng, rest[going], parts)
    return happened


def happens_exp_below_one(rng: np.random.Generator, tops: Ints, parts: int) -> NDArray[np.bool_]:
    """Return draws that are true with probability exp(−top/parts), one for each top from 0 to `parts`."""
    happened = np.ones(len(tops), dtype=bool)
    going = np.arange(len(tops))
    place = 1
    while going.size:
        if place > 1:  # Bernoulli(top/parts/place) is both Bernoulli(1/place) and Bernoulli(top/parts)
            going = going[below(rng, place, going.size) == 0]
        going = going[below(rng, parts, going.size) < tops[going]]
        happened[going] ^= True
        place += 1
    return happened


def count_exp_one(rng: np.random.Generator, number: int) -> Ints:
    """Return how often in a row a draw with probability exp(−1) comes true: a geometric variable."""
    counts = np.zeros(number, dtype=np.int64)
    going = np.arange(number)
    while going.size:
        going = going[_happens_exp_one(rng, going.size)]
        counts[going] += 1
    return counts


def _happens_exp_one(rng: np.random.Generator, number: int) -> NDArray[np.bool_]:
    happened = np.zeros(number, dtype=bool)  # Bernoulli(1/1) is never the first false one
    going = np.arange(number)
    place = 2
    while going.size:
        going = going[below(rng, place, going.size) == 0]
        happened[going] ^= True
        place += 1
    return happened
