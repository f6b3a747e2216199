"""Groups as a reader sees them, counted in people: for tables in which somebody has several rows.

Whatever is counted here is counted from people's rows, not from the tuples that a method saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.core.groups import WITHHELD, Groups, Histogram, LazyHistograms, Regions, histogram
from incrowd.core.people import People, distinct_pairs
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import ConformanceError


def groups_of_people(
    people: People,
    seen: Ints,
    count: int,
    sensitive: Sequence[str],
    *,
    before: Tally,
    regions: Callable[[], Regions] | None = None,
) -> Groups:
    """Return `count` groups; `seen[p]` is that of person p, or `WITHHELD`. `before` counts the people of the table."""
    published = seen != WITHHELD

    def count_values(name: str) -> Histogram:
        owner, codes = values_of(people, name, published)
        return histogram(seen[owner], codes, np.ones(len(owner), dtype=np.int64), count)

    everybody = before.drawn_from or before
    return Groups(
        np.bincount(seen[published], minlength=count).astype(np.int64),
        LazyHistograms(tuple(sensitive), count_values),
        {name: everybody.value_counts(name) for name in sensitive if name in everybody.columns},
        {name: people.rows.trees[name] for name in sensitive},
        table=before,
        regions=regions,
        everybody=everybody.rows,
    )


def values_of(people: People, name: str, among: Bools) -> tuple[Ints, Codes]:
    """Return the distinct pairs of a person and a value of a column, among some people."""
    entries = among[people.owner]
    codes = people.rows.column(name)[people.tuples[entries]]
    return distinct_pairs(people.owner[entries], codes, people.rows.trees[name].size)


def people_alike(people: People, names: Sequence[str], published: Bools) -> Counts:
    """Return how many published people show each combination of values that a row of theirs has."""
    codes = np.stack([people.rows.column(name) for name in names], axis=1)
    shown, _ = group_tuples(codes, [people.rows.trees[name].size for name in names])
    entries = published[people.owner]
    room = int(shown.max(initial=0)) + 1
    pairs = np.unique(people.owner[entries] * room + shown[people.tuples[entries]])
    counts = np.bincount(pairs % room).astype(np.int64)
    return counts[counts > 0]


def require_all_rows_inside(people: People, seen: Ints, regions: Regions) -> None:
    """Refuse labels that do not hold for every row of everybody in their group."""
    for place, name in enumerate(regions.columns):
        lows, highs = (bound[seen != WITHHELD] for bound in people.bounds(name))
        groups = seen[seen != WITHHELD]
        if (lows < regions.lows[groups, place]).any() or (highs >= regions.highs[groups, place]).any():
            raise ConformanceError("a label does not hold for all rows of its people; nothing was published.")
