"""Mondrian once more, in plain Python over rows: the oracle for the compiled one.

It knows nothing of codes, tallies or boxes as arrays. A column is its values' paths: a tuple for each value, from the
value itself up to the root; a missing value has no path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Row = Mapping[str, Hashable]
MISSING_BORDER = 10**6
"""The border between missing and known values is above every level of a hierarchy."""


@dataclass(frozen=True)
class Column:
    """The order of a column's known values, where each lies on a line, and its ancestors."""

    order: Sequence[Hashable]
    position: Mapping[Hashable, float]
    path: Callable[[Hashable], tuple[Hashable, ...]]

    def rank(self, value: Hashable) -> int:
        return -1 if value is None else self.order.index(value)

    def width(self, values: set[Hashable]) -> float:
        if len(values) == 1:
            return 0.0
        if None in values:
            return 1.0
        places = [self.position[value] for value in values]
        span = max(self.position.values()) - min(self.position.values())
        return (max(places) - min(places)) / span

    def border(self, below: Hashable, above: Hashable) -> int:
        if below is None:
            return MISSING_BORDER
        return next(
            level for level, (a, b) in enumerate(zip(self.path(below), self.path(above), strict=True)) if a == b
        )


def numbers(values: Sequence[float | None]) -> Column:
    """A column of numbers without a hierarchy of its own."""
    known = sorted({value for value in values if value is not None})
    return Column(known, {value: float(value) for value in known}, lambda value: (value, "*"))


def names(order: Sequence[str], ancestors: Mapping[str, tuple[str, ...]] | None = None) -> Column:
    """A column of names in the order of a walk through their tree."""
    above = ancestors or {}
    return Column(
        order,
        {name: float(place) for place, name in enumerate(order)},
        lambda value: (value, *above.get(value, ()), "*"),
    )


def partition(
    rows: Sequence[Row], columns: Mapping[str, Column], safe: Callable[[Sequence[Row]], bool], smallest: int
) -> list[list[Row]]:
    """Cut rows strictly until no cut leaves two safe pieces of at least `smallest` rows."""
    spread = {name: {row[name] for row in rows} for name in columns}
    widest_first = sorted(
        columns, key=lambda name: (-columns[name].width(spread[name]), -len(columns[name].order), name)
    )
    for name in widest_first:
        if len(spread[name]) == 1:
            continue
        for pieces in _cuts(rows, name, columns[name], sorted(spread[name], key=columns[name].rank)):
            if min(map(len, pieces)) >= smallest and all(map(safe, pieces)):
                return [group for piece in pieces for group in partition(piece, columns, safe, smallest)]
    return [list(rows)]


def _cuts(rows: Sequence[Row], name: str, column: Column, present: Sequence[Hashable]) -> list[list[list[Row]]]:
    """Return at most two cuts to try: along the highest borders of the hierarchy, then anywhere."""
    borders = [column.border(below, above) for below, above in pairwise(present)]
    counts = Counter(row[name] for row in rows)
    tries = [{place for place, border in enumerate(borders) if border == max(borders)}]
    if len(set(borders)) > 1:
        tries.append(set(range(len(borders))))
    found = []
    for allowed in tries:
        # The border nearest to the median; of two as near, the lower one.
        def unevenness(place: int) -> int:
            left = sum(counts[value] for value in present[: place + 1])
            return abs(2 * left - len(rows))

        place = min(sorted(allowed), key=unevenness)
        left_values = set(present[: place + 1])
        left = [row for row in rows if row[name] in left_values]
        right = [row for row in rows if row[name] not in left_values]
        found.append([left, right])
    return found
