"""Groups as a reader sees them, counted in people: for tables in which somebody has several rows.

Whatever is counted here is counted from people's rows, not from the tuples that a method saw.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.core.groups import WITHHELD, Groups, Histogram, LazyHistograms, Regions, histogram
from incrowd.core.people import People
from incrowd.core.tally import Tally
from incrowd.errors import ConformanceError


def groups_of_people(
    people: People,
    seen: Ints,
    count: int,
    *,
    before: Tally,
    regions: Callable[[], Regions] | None = None,
) -> Groups:
    """Return `count` groups; `seen[p]` is that of person p, or `WITHHELD`. `before` counts the people of the table."""
    published, sensitive = seen != WITHHELD, people.sensitive

    def count_values(name: str) -> Histogram:
        owner, codes = people.values_of(name, published)
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


def require_all_rows_inside(people: People, seen: Ints, regions: Regions) -> None:
    """Refuse labels that do not hold for every row of everybody in their group."""
    for place, name in enumerate(regions.columns):
        lows, highs = (bound[seen != WITHHELD] for bound in people.bounds(name))
        groups = seen[seen != WITHHELD]
        if (lows < regions.lows[groups, place]).any() or (highs >= regions.highs[groups, place]).any():
            raise ConformanceError("a label does not hold for all rows of its people; nothing was published.")
