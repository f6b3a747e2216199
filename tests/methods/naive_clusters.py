"""MDAV and k-member clustering once more, in plain Python over rows: the oracle for the compiled ones.

Every row is a tuple of numbers in [0, 1], or None, followed by names; `above` is a name's path from itself to below the
root. There are no equal rows, so that every cluster but MDAV's last has exactly k of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = tuple[float | str | None, ...]
Paths = Mapping[str, tuple[str, ...]]


def apart(a: float | str | None, b: float | str | None, above: Paths) -> float:
    if a is None or b is None:
        return float(a is not b)
    if isinstance(a, str):
        different = [one != other for one, other in zip(above[a], above[str(b)], strict=True)]
        return sum(different) / len(different)
    return abs(a - float(b))


def distance(a: Row, b: Row, above: Paths) -> float:
    return sum(apart(one, other, above) for one, other in zip(a, b, strict=True))


def from_center(row: Row, rows: Sequence[Row], above: Paths) -> float:
    total = 0.0
    for place, value in enumerate(row):
        column = [other[place] for other in rows]
        known = [other for other in column if other is not None]
        if isinstance(value, float):
            mean = sum(float(other) for other in known) / len(known)
            total += (abs(value - mean) * len(known) + len(rows) - len(known)) / len(rows)
        else:
            total += sum(apart(value, other, above) for other in column) / len(rows)
    return total


def mdav(rows: Sequence[Row], k: int, above: Paths) -> list[list[Row]]:
    """Rows in the order of their codes, for ties."""
    left, clusters = list(rows), []

    def take(center: Row) -> None:
        near = sorted(left, key=lambda row: (row != center, distance(center, row, above)))[:k]
        clusters.append(near)
        for row in near:
            left.remove(row)

    while len(left) >= 2 * k:
        twice = len(left) >= 3 * k
        first = max(left, key=lambda row: from_center(row, left, above))
        take(first)
        if twice:
            take(max(left, key=lambda row: distance(first, row, above)))
    return [*clusters, left] if left else clusters


def spread(rows: Sequence[Row], above: Paths) -> float:
    """What a cluster spans: the widest pair in each column, or 1 where missing is beside values."""
    total = 0.0
    for place in range(len(rows[0])):
        column = {row[place] for row in rows}
        total += max(apart(a, b, above) for a in column for b in column)
    return total


def k_member(rows: Sequence[Row], k: int, above: Paths) -> list[list[Row]]:
    """Rows in the order of their codes, their number a multiple of k."""
    left, clusters, last = list(rows), [], rows[0]
    while left:
        last = max(left, key=lambda row: distance(last, row, above))
        cluster = [last]
        left.remove(last)
        while len(cluster) < k:
            best = min(left, key=lambda row: spread([*cluster, row], above))
            cluster.append(best)
            left.remove(best)
        clusters.append(cluster)
    return clusters
