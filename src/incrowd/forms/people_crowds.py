"""Whom an adversary takes somebody for who knows all rows of that person: people who have a row in each of the groups.

For tables that tell who is who, under a pseudonym or not, and in which somebody's rows may be in several groups. Each
group by itself may have k people; those who are in all of somebody's groups together may be fewer, and they are the
crowd that hides that person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from incrowd.common.arrays import Ints
from incrowd.core.groups import Groups, Histogram, LazyHistograms, Regions, histogram
from incrowd.core.people import distinct_pairs, distinct_values, with_nobody_left_out
from incrowd.core.tally import Tally
from incrowd.forms.verify import codes_of_values
from incrowd.hierarchies.value_sets import ValueSets, number_sets


def crowds_of_people(
    counted: pl.DataFrame,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    person_of: Ints,
    *,
    before: Tally | None = None,
    stands_for: Regions | None = None,
    events: Mapping[str, tuple[Ints, pl.Series]] | None = None,
) -> Groups:
    """Return the crowds of a table of distinct rows, in people; `person_of` tells whose each row is.

    There is one crowd for each set of groups that somebody's rows are in. `before` counts the people of the table that
    this one was made from. What the labels of each row stand for is told by `stands_for`; of crowds of several groups,
    models that ask for it know nothing. `events` are values of linked tables, each with whose it is, by column.
    """
    group_of = number_rows(counted, quasi)
    histories, crowd, person = _crowds(person_of, group_of)
    number = len(histories)
    regions = None
    if stands_for is not None and len(histories.codes) == number:  # everybody's rows are in one group
        row_of = np.empty(int(group_of.max(initial=-1)) + 1, dtype=np.int64)
        row_of[group_of] = np.arange(len(group_of))
        regions = stands_for.of(row_of[histories.codes])
    trees, codes = codes_of_values(counted, sensitive, before)
    pairs = {name: distinct_values(person_of, codes[name], trees[name].size) for name in sensitive}
    for name, (whose, shown) in (events or {}).items():
        of_events, found = codes_of_values(pl.DataFrame({name: shown}), [name], before)
        trees |= of_events
        pairs[name] = with_nobody_left_out(whose, found[name], int(person_of.max(initial=-1)) + 1, trees[name].size)
    names = tuple(pairs)

    def count(name: str) -> Histogram:
        owner, values = pairs[name]
        starts = np.searchsorted(owner, np.arange(int(person_of.max(initial=-1)) + 2))
        entry, place = expand(starts, person)
        return histogram(crowd[entry], values[place], np.ones(len(entry), dtype=np.int64), number)

    people = len(np.unique(person_of)) if before is None else (before.drawn_from or before).rows
    return Groups(
        np.bincount(crowd, minlength=number).astype(np.int64),
        LazyHistograms(names, count),
        {name: np.bincount(pairs[name][1], minlength=trees[name].size).astype(np.int64) for name in names}
        if before is None
        else {name: before.table_counts(name) for name in names},
        trees,
        table=before,
        regions=None if regions is None else lambda: regions,
        everybody=people,
    )


def _crowds(person_of: Ints, group_of: Ints) -> tuple[ValueSets, Ints, Ints]:
    """Return the sets of groups that people are in, and of each pair of such a set and somebody in all of it, both."""
    room = int(group_of.max(initial=0)) + 1
    owner, groups = distinct_pairs(person_of, group_of, room)
    people = int(owner[-1]) + 1 if len(owner) else 0
    _, histories = number_sets(owner, groups, room)
    members = np.sort(groups.astype(np.int64) * people + owner)  # by group
    starts = np.searchsorted(members, np.arange(room + 1) * people)
    smallest = _smallest_group(histories, np.diff(starts))
    crowd, place = expand(starts, smallest)
    person = members[place] % max(people, 1)
    # Whoever is in the smallest of the groups may still lack another one.
    candidate, at = expand(histories.offsets, crowd)
    wanted = histories.codes[at].astype(np.int64) * people + person[candidate]
    found = np.searchsorted(members, wanted)
    lacks = members[np.minimum(found, max(len(members) - 1, 0))] != wanted
    inside = np.ones(len(crowd), dtype=bool)
    inside[candidate[lacks]] = False
    return histories, crowd[inside], person[inside]


def _smallest_group(histories: ValueSets, sizes: Ints) -> Ints:
    of = np.repeat(np.arange(len(histories)), np.diff(histories.offsets))
    order = np.lexsort((sizes[histories.codes], of))
    return histories.codes[order[histories.offsets[:-1]]].astype(np.int64)


def expand(starts: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return, for each of some runs, all places in it: which of the chosen ones, and the place.

    Run i goes from `starts[i]` to `starts[i + 1]`.
    """
    lengths = starts[chosen + 1] - starts[chosen]
    which = np.repeat(np.arange(len(chosen)), lengths)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return which, starts[chosen][which] + nth


def number_rows(counted: pl.DataFrame, columns: Sequence[str]) -> Ints:
    """Number what the rows show in some columns."""
    keys = pl.DataFrame({f"q{place}": counted[name].alias("") for place, name in enumerate(columns)})
    numbered = keys.unique(maintain_order=True).with_row_index("number")
    found = keys.join(numbered, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")
    return found["number"].to_numpy().astype(np.int64)
