"""The attribute partition of slicing: correlated attributes share a column (Li, Li, Zhang & Molloy, TKDE 2012).

Attributes, sensitive ones included, are clustered by k-medoids on the distance 1 − φ². With `sensitive_group_size`,
a sensitive attribute first gets that many of its nearest attributes (Li et al.'s α, less one), and the rest is
clustered. The number of columns is given, or is the one with the largest mean silhouette. The order of attributes
changes nothing; ties go by name.

Cost: attributes³ or so; 150 attributes take well under a second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_whole
from incrowd.errors import RecipeError
from incrowd.methods.slicing_parts.medoids import best_number, k_medoids

Columns = tuple[tuple[str, ...], ...]


def partition_attributes(
    attributes: Sequence[str],
    phi: Floats,
    *,
    sensitive: Sequence[str] = (),
    column_count: int | None = None,
    sensitive_group_size: int | None = None,
    separate_sensitive: bool = False,
) -> Columns:
    """Group attributes into columns; `phi[i, j]` says how strongly the i-th and the j-th are correlated.

    `column_count` is the number of all columns. With `sensitive_group_size`, the sensitive attributes share one column
    with exactly that many others; with `separate_sensitive` as well, each has such a column of its own. Without
    `sensitive_group_size`, they are where their nearest neighbours are; `separate_sensitive` then keeps any two of them
    in different columns. Columns are sorted by their first names, and the names within a column are sorted too.

    >>> phi = np.array([[1.0, 0.2, 0.0], [0.2, 1.0, 0.1], [0.0, 0.1, 1.0]])
    >>> partition_attributes(["age", "marital", "job"], phi, column_count=2)
    (('age', 'marital'), ('job',))
    """
    order = sorted(range(len(attributes)), key=lambda place: attributes[place])
    names = [attributes[place] for place in order]
    distances = np.round(1.0 - phi[np.ix_(order, order)], 12)  # rounding must not decide between equals
    secret = [place for place, name in enumerate(names) if name in sensitive]
    others = [place for place, name in enumerate(names) if name not in sensitive]
    _check(len(names), len(secret), column_count, sensitive_group_size, separate_sensitive=separate_sensitive)
    if sensitive_group_size is None or not secret:
        columns = _cluster(distances, range(len(names)), column_count)
        if separate_sensitive:
            columns = _part(columns, distances, secret)
    else:
        columns = [[place] for place in secret] if separate_sensitive else [secret]
        anchors = [tuple(column) for column in columns]
        for _ in range(sensitive_group_size):
            for column, anchor in zip(columns, anchors, strict=True):
                _take_nearest(column, anchor, distances, others)
        left = None if column_count is None else column_count - len(columns)
        if others and left == 0:
            raise RecipeError(
                f"slicing: sensitive attributes take all of the {column_count} columns, and {len(others)} others are "
                "left.  Hint: raise column_count, or sensitive_group_size."
            )
        columns += _cluster(distances, others, left)
    return tuple(sorted(tuple(sorted(names[place] for place in column)) for column in columns))


def _check(
    attributes: int,
    secrets: int,
    column_count: int | None,
    sensitive_group_size: int | None,
    *,
    separate_sensitive: bool,
) -> None:
    if column_count is not None:
        require_whole("slicing", "column_count", column_count, at_least=1)
        if column_count > attributes:
            raise RecipeError(
                f"slicing: {attributes} attributes make at most {attributes} columns, not {column_count}."
            )
        if separate_sensitive and column_count < secrets:
            raise RecipeError(
                f"slicing: {secrets} separate sensitive attributes need {secrets} columns, not {column_count}.  "
                "Hint: raise column_count, or leave out separate_sensitive."
            )
    if sensitive_group_size is not None:
        require_whole("slicing", "sensitive_group_size", sensitive_group_size, at_least=0)


def _cluster(distances: Floats, places: Sequence[int], column_count: int | None) -> list[list[int]]:
    """Cluster some attributes; each cluster begins with its medoid. Never more clusters than attributes."""
    if not places:
        return []
    own = distances[np.ix_(places, places)]
    if column_count is None and len(places) > 2:
        found = best_number(own, max(2, len(places) // 2))
    else:
        found = k_medoids(own, min(column_count or len(places), len(places)))
    return [
        [places[medoid], *(places[i] for i in np.flatnonzero(found.cluster_of == cluster).tolist() if i != medoid)]
        for cluster, medoid in enumerate(found.medoids.tolist())
    ]


def _part(columns: list[list[int]], distances: Floats, secret: Sequence[int]) -> list[list[int]]:
    """Leave one sensitive attribute in each column: the one nearest to its medoid; send the others to the nearest left.

    Those for which no column is left open one of their own.
    """
    medoids = [column[0] for column in columns]
    parted = [[place for place in column if place not in secret] for column in columns]
    pairs = sorted((distances[place, medoid], place, at) for place in secret for at, medoid in enumerate(medoids))
    settled: set[int] = set()
    taken: set[int] = set()
    for _, place, at in pairs:
        if place not in settled and at not in taken:
            parted[at].append(place)
            settled.add(place)
            taken.add(at)
    return parted + [[place] for place in secret if place not in settled]


def _take_nearest(column: list[int], anchor: Sequence[int], distances: Floats, others: list[int]) -> None:
    """Move the attribute that is nearest to any of some others into the column."""
    if others:
        nearest = min(others, key=lambda place: (distances[list(anchor), place].min(), place))
        column.append(nearest)
        others.remove(nearest)
