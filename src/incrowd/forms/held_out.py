"""Which published rows are those of some people, as far as a reader can tell: to learn from all the others.

Each person takes one row of a line that fits: of the tightest labels first, as long as rows are left. Where labels do
not overlap, these are the person's own row or ones that nobody can tell from it. Cost: one pass over the matches for
each round, and as many rounds as a person has lines to choose from, at most `_MOST_ROUNDS`.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints

_MOST_ROUNDS = 64


def taken_rows(
    needed: Counts, person_of: Ints, places: tuple[Ints, ...], preference: Floats, left: tuple[Counts, ...]
) -> tuple[Counts, ...]:
    """Return how many rows are taken from each place.

    Entry e lets person `person_of[e]` take rows from the places `places[p][e]`, one of every kind p at once, of which
    there are `left[p]`; person i needs `needed[i]`. Entries with a smaller `preference` are tried first.

    >>> needed, person_of, preference = np.array([2, 1]), np.array([0, 0, 1, 1]), np.array([0.0, 1, 0, 1])
    >>> taken_rows(needed, person_of, (np.array([0, 1, 0, 1]),), preference, (np.array([2, 5]),))[0].tolist()
    [2, 1]
    """
    order = np.lexsort((preference, person_of))
    person_of, places = person_of[order], tuple(place[order] for place in places)
    starts = np.searchsorted(person_of, np.arange(len(needed) + 1))
    needed, left = needed.copy(), tuple(one.copy() for one in left)
    taken = tuple(np.zeros_like(one) for one in left)
    for turn in range(_MOST_ROUNDS):
        people = np.flatnonzero((needed > 0) & (starts[:-1] + turn < starts[1:]))
        if not len(people):
            break
        entries = starts[people] + turn
        given = needed[people]
        for place, there in zip(places, left, strict=True):
            given = _shared_out(place[entries], given, there)
        for place, there, gone in zip(places, left, taken, strict=True):
            used = np.bincount(place[entries], weights=given, minlength=len(there)).astype(np.int64)
            there -= used
            gone += used
        needed[people] -= given
    return taken


def _shared_out(places: Ints, wanted: Counts, left: Counts) -> Counts:
    """Return how much of what is wanted of places each gets: the first ones first, until nothing is left."""
    order = np.argsort(places, kind="stable")
    total = np.cumsum(wanted[order])
    starts = np.searchsorted(places[order], places[order])
    before = total - wanted[order] - (total - wanted[order])[starts]
    given = np.empty_like(wanted)
    given[order] = np.clip(left[places[order]] - before, 0, wanted[order])
    return given


def first_of_each(keys: Ints, numbers: Counts) -> np.ndarray:
    """Tell of each row whether it is among the first `numbers[key]` rows of its key."""
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    return np.asarray(rank < numbers[keys])
