"""From what a method decides of people to what becomes of their rows: each goes where its owner goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.randomness import permutation
from incrowd.core.people import People, PlacedPeople
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import MISSING
from incrowd.kernels.keys import rank_keys


def place_people(
    people: People, recoding: Recoding, rng: np.random.Generator, *, apart: bool
) -> tuple[PlacedPeople, Recoding]:
    """Give people their groups, and return the recoding of their rows.

    Which of the people with equal tuples go where is left to chance. Where rows are looked for again, people are kept
    `apart`: the recoding of rows is then one of `People.each_entry`.
    """
    shuffled = permutation(rng, len(people))
    by_tuple = shuffled[np.argsort(people.tuple_of[shuffled], kind="stable")]
    parts = np.argsort(recoding.tuples, kind="stable")
    part_of = np.empty(len(people), dtype=np.int64)
    part_of[by_tuple] = np.repeat(parts, recoding.counts[parts])
    group_of = recoding.groups[part_of]
    tuples, counts, groups = np.arange(len(people.tuples)), people.counts, group_of[people.owner]
    if not apart:
        tuples, counts, groups = _added_up(people.tuples, counts, groups, len(recoding.lows))
    lows, highs = _widened(people, recoding, group_of)
    wider = not (np.array_equal(lows, recoding.lows) and np.array_equal(highs, recoding.highs))
    by_level = recoding.shown == "level" and wider  # a wider run is no node of the level
    of_rows = replace(
        recoding,
        tuples=tuples,
        counts=counts,
        groups=groups,
        lows=lows,
        highs=highs,
        shown="hierarchy" if by_level else recoding.shown,
        levels=None if by_level else recoding.levels,
    )
    return PlacedPeople(people, part_of, group_of, groups), of_rows


def everybody_together(tally: Tally) -> Recoding:
    """Return the one group of a table without quasi-identifiers: nothing tells people apart."""
    nothing = np.empty((1, 0), dtype=np.int32)
    return Recoding(np.arange(len(tally)), tally.counts, np.zeros(len(tally), dtype=np.int64), (), nothing, nothing)


def _added_up(tuples: Ints, counts: Counts, groups: Ints, number: int) -> tuple[Ints, Counts, Ints]:
    """Add up rows of one tuple that are in one group."""
    room = number + 1
    keys = tuples * room + (groups - WITHHELD)
    part_of, first = rank_keys(keys, (int(tuples.max(initial=0)) + 1) * room)
    totals = np.bincount(part_of, weights=counts, minlength=len(first)).astype(np.int64)
    return tuples[first], totals, groups[first]


def _widened(people: People, recoding: Recoding, group_of: Ints) -> tuple[Codes, Codes]:
    """Widen the groups' runs to hold all rows of their people, up to bounds that other groups have.

    So no bound is the extreme value of one person, unless ranges are to be tight.
    """
    lows, highs = recoding.lows.copy(), recoding.highs.copy()
    published = group_of != WITHHELD
    groups = group_of[published]
    for place, name in enumerate(recoding.columns):
        lowest, highest = people.bounds(name)
        if np.array_equal(lowest, highest):  # all of them hold what the method saw
            continue
        lowest, highest = lowest[published], highest[published]
        np.minimum.at(lows[:, place], groups, lowest)
        np.maximum.at(highs[:, place], groups, highest + np.int32(1))
        if recoding.shown == "tight":
            continue
        down, up = lows[:, place] < recoding.lows[:, place], highs[:, place] > recoding.highs[:, place]
        ends = np.array([MISSING, MISSING + 1, people.rows.trees[name].size], dtype=np.int32)
        cuts = np.unique(np.concatenate([recoding.lows[:, place], recoding.highs[:, place], ends]))
        lows[down, place] = cuts[np.searchsorted(cuts, lows[down, place], side="right") - 1]
        highs[up, place] = cuts[np.searchsorted(cuts, highs[up, place], side="left")]
    return lows, highs
