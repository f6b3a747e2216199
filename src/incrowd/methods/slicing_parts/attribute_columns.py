"""The attribute partition of slicing: attributes that hang together share a column (Li, Li, Zhang & Molloy, TKDE 2012).

Attributes, sensitive ones included, are clustered by k-medoids on the distance 1 − φ². Or a sensitive attribute is
given as many of its nearest attributes for company as one asks for (Li et al.'s α, less one), and the rest is
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
    number: int | None = None,
    company: int | None = None,
    apart: bool = False,
) -> Columns:
    """Group attributes into columns; `phi[i, j]` says how strongly the i-th and the j-th hang together.

    `number` is that of all columns. With `company`, the sensitive attributes are together in one column with just so
    many others, or with `apart` each in one of its own; without it they are where their nearest neighbours are, with
    `apart` no two of them in one column. Columns come in the order of their first names, names in a column in theirs.

    >>> phi = np.array([[1.0, 0.2, 0.0], [0.2, 1.0, 0.1], [0.0, 0.1, 1.0]])
    >>> partition_attributes(["age", "marital", "job"], phi, number=2)
    (('age', 'marital'), ('job',))
    """
    order = sorted(range(len(attributes)), key=lambda place: attributes[place])
    names = [attributes[place] for place in order]
    distances = np.round(1.0 - phi[np.ix_(order, order)], 12)  # rounding must not decide between equals
    secret = [place for place, name in enumerate(names) if name in sensitive]
    others = [place for place, name in enumerate(names) if name not in sensitive]
    _check(len(names), len(secret), number, company, apart=apart)
    if company is None or not secret:
        columns = _cluster(distances, range(len(names)), number)
        if apart:
            columns = _part(columns, distances, secret)
    else:
        columns = [[place] for place in secret] if apart else [secret]
        anchors = [tuple(column) for column in columns]
        for _ in range(company):
            for column, anchor in zip(columns, anchors, strict=True):
                _take_nearest(column, anchor, distances, others)
        left = None if number is None else number - len(columns)
        if others and left == 0:
            raise RecipeError(
                f"slicing: sensitive attributes take all of the {number} columns, and {len(others)} others are left.  "
                "Hint: ask for one more column, or for more company."
            )
        columns += _cluster(distances, others, left)
    return tuple(sorted(tuple(sorted(names[place] for place in column)) for column in columns))


def _check(attributes: int, secrets: int, number: int | None, company: int | None, *, apart: bool) -> None:
    if number is not None:
        require_whole("slicing", "the number of columns", number, at_least=1)
        if number > attributes:
            raise RecipeError(f"slicing: {attributes} attributes make at most {attributes} columns, not {number}.")
        if apart and number < secrets:
            raise RecipeError(
                f"slicing: {secrets} sensitive attributes that are apart need {secrets} columns, not {number}.  "
                "Hint: ask for more columns, or let them share one."
            )
    if company is not None:
        require_whole("slicing", "company", company, at_least=0)


def _cluster(distances: Floats, places: Sequence[int], number: int | None) -> list[list[int]]:
    """Cluster some attributes; each cluster begins with its medoid. Never more clusters than attributes."""
    if not places:
        return []
    own = distances[np.ix_(places, places)]
    if number is None and len(places) > 2:
        found = best_number(own, max(2, len(places) // 2))
    else:
        found = k_medoids(own, min(number or len(places), len(places)))
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
