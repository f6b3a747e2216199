"""Sattar's criterion and algorithm, one row at a time, as a reader of the paper would write them down.

Nothing here uses the package's models, groups or tallies: it reads published labels as text and counts rows in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.testing.reading import covers

Row = Mapping[str, Any]


def label_probability(label: str | None, values: Counter[Any], hierarchy: Hierarchy, *, ordered: bool) -> float:
    """Add up the shares of the values that a label may stand for."""
    hit = sum(count for value, count in values.items() if covers(label, value, hierarchy, ordered=ordered))
    return hit / sum(values.values())


def worst_excess(
    published: Sequence[Row],
    table: Sequence[Row],
    quasi: Sequence[str],
    sensitive: str,
    hierarchies: Mapping[str, Hierarchy],
    ordered: Mapping[str, bool],
    rate: float,
) -> float:
    """Return the largest observed minus expected confidence over all published rows."""
    shares = {name: Counter(row[name] for row in table) for name in (*quasi, sensitive)}
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in published:
        groups.setdefault(tuple(row[name] for name in quasi), []).append(row[sensitive])
    known: dict[tuple[str, Any], float] = {}
    worst = -1.0
    for labels, values in groups.items():
        for value in set(values):
            probability = shares[sensitive][value] / len(table)
            for name, label in zip(quasi, labels, strict=True):
                if (name, label) not in known:
                    known[name, label] = label_probability(
                        label, shares[name], hierarchies[name], ordered=ordered[name]
                    )
                probability *= known[name, label]
            nobody = 1.0
            for _ in range(int(Fraction(str(rate)) * len(table))):
                nobody *= 1.0 - probability
            observed = rate * values.count(value) / len(values)
            worst = max(worst, observed - (1.0 - nobody))
    return worst


def climb_row_by_row(
    rows: Sequence[tuple[tuple[Any, ...], Any]],
    paths: Sequence[Callable[[Any], Sequence[frozenset[Any]]]],
    nodes_left: Sequence[Sequence[int]],
    rate: float,
    limit: float,
) -> list[tuple[frozenset[Any], ...] | None]:
    """Let each row (quasi-identifiers, sensitive value) climb by itself; return what it shows, or None if withheld.

    `paths[j](value)` lists the sets of values that the column may show, from the value to the root, repetitions
    included; `nodes_left[j][level]` is the left domain size.
    """
    size = len(rows)
    levels: list[list[int] | None] = [[0] * len(paths) for _ in rows]
    trails = [[path(value) for path, value in zip(paths, quasi, strict=True)] for quasi, _ in rows]
    shares = [Counter(quasi[place] for quasi, _ in rows) for place in range(len(paths))]
    sick = Counter(value for _, value in rows)

    def shown(row: int) -> tuple[frozenset[Any], ...]:
        at = levels[row]
        assert at is not None
        return tuple(trail[level] for trail, level in zip(trails[row], at, strict=True))

    while True:
        here = [row for row in range(size) if levels[row] is not None]
        crowds: dict[Any, list[Any]] = {}
        for row in here:
            crowds.setdefault(shown(row), []).append(rows[row][1])
        unsafe, finished = [], []
        for row in here:
            members, value = crowds[shown(row)], rows[row][1]
            probability = sick[value] / size
            for place, label in enumerate(shown(row)):
                probability *= sum(shares[place][one] for one in label) / size
            expected = 1.0 - (1.0 - probability) ** size
            if rate * members.count(value) / len(members) > expected + 1e-12:
                unsafe.append(row)
            elif _distortion(trails[row], levels[row]) > limit + 1e-9:
                finished.append(row)
        if not unsafe and not finished:
            return [None if levels[row] is None else shown(row) for row in range(size)]
        stuck = []
        for row in unsafe:
            at = levels[row]
            assert at is not None
            options = [place for place, trail in enumerate(trails[row]) if trail[at[place]] != trail[-1]]
            if not options:
                stuck.append(row)
                continue
            best = max(options, key=lambda place: (nodes_left[place][_lowest(trails[row][place], at[place])], -place))
            trail = trails[row][best]
            at[best] = next(level for level in range(at[best] + 1, len(trail)) if trail[level] != trail[at[best]])
        for row in (*finished, *stuck):
            levels[row] = None


def _lowest(trail: Sequence[frozenset[Any]], level: int) -> int:
    return next(lower for lower in range(len(trail)) if trail[lower] == trail[level])


def _distortion(trails: Sequence[Sequence[frozenset[Any]]], levels: Sequence[int] | None) -> float:
    assert levels is not None
    climbed = [_lowest(trail, level) / max(len(trail) - 1, 1) for trail, level in zip(trails, levels, strict=True)]
    return sum(climbed) / len(climbed)
