"""k-medoids: partitioning around medoids, PAM (Kaufman & Rousseeuw 1990), with the exact swap phase.

Medoids are first chosen one by one, each where it lowers the sum of distances most; then, as long as it helps, the best
of all swaps of a medoid for another point is made. Where there are few sets of medoids all of them are looked at
instead. Ties go to the first. Cost: about k × n² per swap (Schubert & Rousseeuw 2019 for the arithmetic).
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass

_FEW_SETS = 5_000
_DIGITS = 12
"""Sums of distances that agree in so many digits are equal: rounding must not decide between them."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which points are medoids, and the cluster of every point: `medoids[cluster_of[i]]` is nearest to point i."""

    medoids: Ints
    cluster_of: Ints
    cost: float


def k_medoids(distances: Floats, k: int) -> Clusters:
    """Cluster points around `k` of them, so that the sum of distances to the nearest is small."""
    return _settle(distances, _build(distances, k))


def _settle(distances: Floats, start: Ints) -> Clusters:
    points, k = len(distances), len(start)
    if comb(points, k) <= _FEW_SETS:
        sets = np.array(list(combinations(range(points), k)), dtype=np.int64)
        costs = distances[sets].min(axis=1).sum(axis=1)
        medoids = sets[int(np.argmin(np.round(costs, _DIGITS)))]
    else:
        medoids = _swap(distances, np.sort(start))
    to_medoids = distances[medoids].copy()
    to_medoids[np.arange(k), medoids] = -1.0  # a medoid is in its own cluster even if another one is as near
    cluster_of = np.argmin(np.round(to_medoids, _DIGITS), axis=0)
    return Clusters(medoids, cluster_of, float(distances[medoids].min(axis=0).sum()))


def _build(distances: Floats, k: int) -> Ints:
    """Choose medoids one by one; the first ones are the same whatever `k` is."""
    medoids: list[int] = []
    nearest = np.full(len(distances), np.inf)
    for _ in range(k):
        costs = np.minimum(distances, nearest).sum(axis=1)
        costs[medoids] = np.inf
        medoids.append(int(np.argmin(np.round(costs, _DIGITS))))
        nearest = np.minimum(nearest, distances[medoids[-1]])
    return np.array(medoids, dtype=np.int64)


def _swap(distances: Floats, medoids: Ints) -> Ints:
    points = np.arange(len(distances))
    clusters = np.arange(len(medoids))[:, None]
    while True:
        to_medoids = distances[medoids]
        own = np.argmin(to_medoids, axis=0)
        nearest = to_medoids[own, points]
        to_medoids[own, points] = np.inf
        second = to_medoids.min(axis=0)
        # What point i gains if candidate j comes in (j, i): it moves there if that is nearer. If its own medoid
        # goes at the same time, it must go to the candidate or to its second nearest.
        gains = np.minimum(distances - nearest, 0.0)
        losses = np.minimum(distances, second) - nearest - gains
        changes = gains.sum(axis=1) + (own == clusters).astype(np.float64) @ losses.T
        changes[:, medoids] = np.inf
        best = int(np.argmin(np.round(changes, _DIGITS)))
        out, into = divmod(best, len(points))
        if not changes[out, into] < -(10.0**-_DIGITS):
            return medoids
        medoids = np.sort(np.append(np.delete(medoids, out), into))


def silhouette(distances: Floats, cluster_of: Ints) -> float:
    """Return the mean silhouette of a clustering (Rousseeuw 1987); a point that is alone counts 0."""
    clusters = int(cluster_of.max()) + 1
    belongs = (cluster_of[:, None] == np.arange(clusters)).astype(np.float64)
    sizes = belongs.sum(axis=0)
    sums = distances @ belongs
    points = np.arange(len(distances))
    own_size = sizes[cluster_of]
    within = sums[points, cluster_of] / np.maximum(own_size - 1, 1)
    means = sums / sizes
    means[points, cluster_of] = np.inf
    between = means.min(axis=1)
    largest = np.maximum(within, between)
    widths = np.divide(between - within, largest, out=np.zeros(len(points)), where=(own_size > 1) & (largest > 0))
    return float(widths.mean())


def best_number(distances: Floats, most: int) -> Clusters:
    """Return the clustering with the largest mean silhouette, of 2 to `most` clusters; ties go to the fewest."""
    most = min(max(most, 2), len(distances))
    start = _build(distances, most)
    found = [_settle(distances, start[:k]) for k in range(2, most + 1)]
    scores = [round(silhouette(distances, clusters.cluster_of), _DIGITS) for clusters in found]
    return found[int(np.argmax(scores))]
