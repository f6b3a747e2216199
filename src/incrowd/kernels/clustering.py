"""Cluster points: the loops of microaggregation and k-member clustering, and the merging of clusters.

A point is a distinct tuple of quasi-identifiers. `numbers[p]` are its values in ordered columns, each scaled to [0, 1],
missing ones NaN. `paths[p]` are its nodes in columns of names, from the value up to just below the root, column after
column (`path_starts`); a node's number is unique among all columns and levels. Two names differ at exactly the levels
below their lowest common node, so counting differing nodes gives that node's level.

A box is what a cluster spans: `low` and `high` of each ordered column, one member's path, and the level of each name
column's common node. Missing beside values spans everything, as does the full range [0, 1]: they are the same box.
The loops are in `native/clustering.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints

    Boxes = tuple[Floats, Floats, Ints, Ints, Floats, Counts]


def mdav(
    numbers: Floats, paths: Codes, path_weights: Ints, scale: int, counts: Counts, size: int, nodes: int,
    cluster_of: Ints,
) -> int:  # fmt: skip
    """Cluster by maximum distance to the average vector; return the number of clusters.

    The last cluster may have fewer than `size` rows.
    """
    return int(call("mdav", numbers, paths, path_weights, scale, counts, size, nodes, cluster_of))


def k_member(numbers: Floats, paths: Codes, path_starts: Ints, counts: Counts, size: int, cluster_of: Ints) -> int:
    """Grow clusters of at least `size` rows, each time by the point that widens the cluster least.

    Return the number of clusters; points left over at the end are clusters of their own, too small.
    """
    return int(call("k_member", numbers, paths, path_starts, counts, size, cluster_of))


def box_clusters(
    numbers: Floats, paths: Codes, path_starts: Ints, counts: Counts, cluster_of: Ints, clusters: int
) -> Boxes:
    """Return the box of every cluster (low, high, levels, one member), what it spans, and its rows.

    Every cluster has a point.
    """
    low, high = np.empty((2, clusters, numbers.shape[1]))
    levels = np.zeros((clusters, len(path_starts) - 1), dtype=np.int64)
    member, rows = np.full(clusters, -1, dtype=np.int64), np.zeros(clusters, dtype=np.int64)
    spreads = np.empty(clusters)
    call(
        "box_clusters", numbers, paths, path_starts, counts, cluster_of, low, high, levels, member, spreads, rows,
        threads(),
    )  # fmt: skip
    return low, high, levels, member, spreads, rows


def nearest_clusters(paths: Codes, path_starts: Ints, boxes: Boxes, failing: Ints, reach: int) -> tuple[Ints, Floats]:
    """Find, for each failing cluster, the one to join at the least added loss: rows × what they span.

    `boxes` is what `box_clusters` returns. Only the `reach` clusters numbered before and after a cluster are looked at.
    Return the clusters found and the losses.
    """
    nearest, losses = np.empty(len(failing), dtype=np.int64), np.empty(len(failing))
    call("nearest_clusters", paths, path_starts, *boxes, failing, reach, nearest, losses, threads())
    return nearest, losses


def join_failing(failing: Ints, nearest: Ints, order: Ints, clusters: int) -> Ints:
    """Join failing clusters to their nearest ones, the cheapest first; return the cluster that each becomes.

    In one round a sound cluster may take in several, a failing one takes part once: it may be sound after that.
    """
    becomes = np.empty(clusters, dtype=np.int64)
    call("join_failing", failing, nearest, order, becomes)
    return becomes
