"""Numbers behind the sensitive values of groups, for models that ask how far apart these are.

Where people have several values, a group is judged by the least that can be said of it: however each person is taken
for one of their own values, so many of the group's values are taken. The smallest range, or variance, of any so many
values of all that its people have is no larger. Values that lie next to each other are always the nearest, so that one
pass over the sorted values finds it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, judged_columns
from incrowd.errors import SchemaError
from incrowd.hierarchies.tree_numbers import numbers_of


def numeric_columns(
    owner: str, groups: Groups, column: str | None, missing: Missing
) -> Iterator[tuple[str, Groups, Histogram, Floats]]:
    """Yield each column that a model looks at: name, groups as it sees them, entries by number, and those numbers.

    Where nobody of a group has a value, or missing ones count, a missing value has no place among numbers and is 0:
    it is by itself in its group, or refused.
    """
    for name, judged, found in judged_columns(groups, column, missing):
        numbers = numbers_of(groups.trees[name]) if name in groups.trees else None
        if numbers is None:
            if not len(found.values) or not found.values.any():
                yield name, judged, found, np.zeros(len(found.values))
                continue
            raise SchemaError(
                f"{owner} is about numbers, and some values of '{name}' are none.  "
                "Hint: name a column of numbers as `column`, or ask for ℓ-diversity."
            )
        values = np.nan_to_num(numbers[found.values], nan=0.0)
        order = np.lexsort((values, found.group_of))
        yield name, judged, Histogram(found.offsets, found.values[order], found.counts[order]), values[order]


def smallest_ranges(groups: Groups, found: Histogram, numbers: Floats) -> Floats:
    """Return, for each group, the smallest range of so many of its values as it has people."""
    summed = np.cumsum(found.counts)
    # From each value on: the first one up to which there are enough.
    last = np.searchsorted(summed, summed - found.counts + groups.sizes[found.group_of])
    inside = last < found.offsets[1:][found.group_of]
    ranges = np.full(len(groups), np.inf)
    reach = numbers[np.minimum(last, len(numbers) - 1)] - numbers
    np.minimum.at(ranges, found.group_of[inside], reach[inside])
    return np.where(np.isfinite(ranges), ranges, 0.0)


def whole_ranges(groups: Groups, found: Histogram, numbers: Floats) -> Floats:
    """Return the range of all values of each group: no part of it has a larger one."""
    ranges = np.zeros(len(groups))
    filled = np.diff(found.offsets) > 0
    ranges[filled] = numbers[found.offsets[1:][filled] - 1] - numbers[found.offsets[:-1][filled]]
    return ranges


def smallest_variances(groups: Groups, found: Histogram, numbers: Floats) -> Floats:
    """Return, for each group, the smallest variance of so many of its values as it has people."""
    size = np.maximum(np.bincount(found.group_of, found.counts, len(groups)), 1.0)
    centred = numbers - (np.bincount(found.group_of, found.counts * numbers, len(groups)) / size)[found.group_of]
    if int(found.counts.sum()) == int(groups.sizes.sum()):
        plain = np.bincount(found.group_of, found.counts * centred**2, len(groups)) / size
        # What is left of equal numbers that were centred is rounding, not variance.
        plain[whole_ranges(groups, found, numbers) == 0] = 0.0
        return np.asarray(plain)
    return _over_windows(groups.sizes, found, centred)


def _over_windows(sizes: Ints, found: Histogram, numbers: Floats) -> Floats:
    """Look at all runs of as many neighbouring values as there are people that begin or end where a value does.

    Between two such runs, a run loses some of one value and gains as many of another. Its variance is then a concave
    function of how many, so that the smallest is at an end.
    """
    wide = numbers.astype(np.longdouble)
    counts = np.concatenate(([0], np.cumsum(found.counts)))
    sums = np.concatenate(([0], np.cumsum(found.counts * wide)))
    squares = np.concatenate(([0], np.cumsum(found.counts * wide**2)))
    smallest = np.full(len(sizes), np.inf)
    people = sizes[found.group_of]

    def up_to(rows: Ints) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums over the first so many of all values, squared and not."""
        place = np.minimum(np.searchsorted(counts, rows, side="right") - 1, len(numbers) - 1)
        more = rows - counts[place]
        return sums[place] + more * wide[place], squares[place] + more * wide[place] ** 2

    starts = counts[:-1]
    ends = counts[1:]
    lowest, highest = counts[found.offsets[:-1]][found.group_of], counts[found.offsets[1:]][found.group_of]
    for first in (starts, ends - people):
        inside = (first >= lowest) & (first + people <= highest)
        high, low = up_to((first + people)[inside]), up_to(first[inside])
        many = people[inside]
        variance = (high[1] - low[1]) / many - ((high[0] - low[0]) / many) ** 2
        np.minimum.at(smallest, found.group_of[inside], np.maximum(variance, 0).astype(np.float64))
    return np.where(np.isfinite(smallest), smallest, 0.0)
