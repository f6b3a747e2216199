"""Cluster points: the loops of microaggregation and k-member clustering, and the merging of clusters.

A point is a distinct tuple of quasi-identifiers. `numbers[p]` are its values in ordered columns, each scaled to [0, 1],
missing ones NaN. `paths[p]` are its nodes in columns of names, from the value up to just below the root, column after
column (`path_starts`); a node's number is unique among all columns and levels. Two names differ at exactly the levels
below their lowest common node, so counting differing nodes gives that node's level.

A box is what a cluster spans: `low` and `high` of each ordered column, one member's path, and the level of each name
column's common node. Missing beside values spans everything, as does the full range [0, 1]: they are the same box.
"""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def _apart(numbers, paths, path_weights, scale, a, b):
    """Return the distance of two points: over columns, the sum of shares of the line or of the hierarchy's height."""
    total = 0.0
    for place in range(numbers.shape[1]):
        gap = abs(numbers[a, place] - numbers[b, place])
        if np.isnan(gap):
            gap = 0.0 if np.isnan(numbers[a, place]) and np.isnan(numbers[b, place]) else 1.0
        total += gap
    levels = np.int64(0)  # whole numbers: the same differences in other columns tie exactly
    for place in range(paths.shape[1]):
        if paths[a, place] != paths[b, place]:
            levels += path_weights[place]
    return total + levels / scale


@compiled
def _furthest_from_center(numbers, paths, path_weights, counts, left, rows_left, node_counts, scale):
    """Return the place in `left` of the point furthest from the center of all points left.

    The center of an ordered column is its mean; missing values have no say in it. That of a column of names is all its
    names at once: the distance from it is the mean distance from everybody left.
    """
    width = numbers.shape[1]
    means = np.zeros(width)
    known = np.zeros(width)
    for index in range(len(left)):
        point = left[index]
        for place in range(width):
            if not np.isnan(numbers[point, place]):
                means[place] += counts[point] * numbers[point, place]
                known[place] += counts[point]
    for place in range(width):
        if known[place] > 0:
            means[place] /= known[place]
    best, furthest = -1, -1.0
    for index in range(len(left)):
        point = left[index]
        distance = 0.0
        for place in range(width):
            if np.isnan(numbers[point, place]):
                distance += known[place] / rows_left
            else:
                # those who miss the value are at distance 1, the others are where their mean is
                distance += (
                    abs(numbers[point, place] - means[place]) * known[place] + (rows_left - known[place])
                ) / rows_left
        others = np.int64(0)
        for place in range(len(path_weights)):
            others += path_weights[place] * (rows_left - node_counts[paths[point, place]])
        distance += others / (scale * rows_left)
        if distance > furthest:
            best, furthest = index, distance
    return best


@compiled
def _take_around(center, numbers, paths, path_weights, counts, left, size, node_counts, scale, cluster, cluster_of):
    """Put a point and its nearest ones into a cluster of at least `size` rows.

    Return the points still left, the rows taken, and the place among those left of the one furthest from the center.
    """
    needed = min(size, len(left))  # every point brings at least one row
    near = np.empty(needed + 1, dtype=np.int64)
    near_distances = np.empty(needed + 1)
    distances = np.empty(len(left))
    found = 0
    for index in range(len(left)):
        point = left[index]
        distance = _apart(numbers, paths, path_weights, scale, center, point)
        distances[index] = distance
        if point == center:
            distance = -1.0
        if found < needed or distance < near_distances[found - 1]:
            # insertion; equal distances stay in the order of their codes
            place = found if found < needed else found - 1
            while place > 0 and near_distances[place - 1] > distance:
                near_distances[place] = near_distances[place - 1]
                near[place] = near[place - 1]
                place -= 1
            near_distances[place] = distance
            near[place] = point
            found = min(found + 1, needed)
    taken = np.int64(0)
    for index in range(found):
        if taken >= size:
            break
        point = near[index]
        cluster_of[point] = cluster
        taken += counts[point]
        for place in range(len(path_weights)):
            node_counts[paths[point, place]] -= counts[point]
    still = np.empty(len(left), dtype=np.int64)
    kept, best, furthest = 0, -1, -1.0
    for index in range(len(left)):
        point = left[index]
        if cluster_of[point] < 0:
            still[kept] = point
            if distances[index] > furthest:
                best, furthest = kept, distances[index]
            kept += 1
    return still[:kept], taken, best


@compiled
def _open_points(counts, size, cluster_of):
    """Give every point with enough rows a cluster of its own; return the others, and the next cluster's number."""
    left = np.empty(len(counts), dtype=np.int64)
    kept, cluster = 0, 0
    for point in range(len(counts)):
        if counts[point] >= size:
            cluster_of[point] = cluster
            cluster += 1
        else:
            cluster_of[point] = -1
            left[kept] = point
            kept += 1
    return left[:kept], cluster


@compiled
def mdav(numbers, paths, path_weights, scale, counts, size, nodes, cluster_of):
    """Cluster by maximum distance to the average vector; return the number of clusters.

    The last cluster may have fewer than `size` rows.
    """
    left, cluster = _open_points(counts, size, cluster_of)
    node_counts = np.zeros(nodes, dtype=np.int64)
    rows = np.int64(0)
    for index in range(len(left)):
        rows += counts[left[index]]
        for place in range(len(path_weights)):
            node_counts[paths[left[index], place]] += counts[left[index]]
    while rows >= 2 * size:
        twice = rows >= 3 * size
        index = _furthest_from_center(numbers, paths, path_weights, counts, left, rows, node_counts, scale)
        left, taken, index = _take_around(
            left[index], numbers, paths, path_weights, counts, left, size, node_counts, scale, cluster, cluster_of
        )
        rows -= taken
        cluster += 1
        if twice:
            left, taken, index = _take_around(
                left[index], numbers, paths, path_weights, counts, left, size, node_counts, scale, cluster, cluster_of
            )
            rows -= taken
            cluster += 1
    for index in range(len(left)):
        cluster_of[left[index]] = cluster
    return cluster + (1 if len(left) > 0 else 0)


@compiled
def _joint_spread(
    low_a, high_a, levels_a, a, member_a, low_b, high_b, levels_b, b, member_b, paths, path_starts, limit
):
    """Return what two boxes together span, summed over columns; anything of at least `limit` once it is reached.

    Boxes are rows of `low`, `high` and `levels`, since views of rows are dear in so short a loop; `member` is a point.
    Where `levels` has one row only, that row is meant: all zero, the levels of any single point.
    """
    total = 0.0
    for place in range(low_a.shape[1]):
        if np.isnan(low_a[a, place]) or np.isnan(low_b[b, place]):
            if not (np.isnan(low_a[a, place]) and np.isnan(low_b[b, place])):
                total += 1.0
        else:
            total += max(high_a[a, place], high_b[b, place]) - min(low_a[a, place], low_b[b, place])
    row_a, row_b = min(a, len(levels_a) - 1), min(b, len(levels_b) - 1)
    for column in range(len(path_starts) - 1):
        if total >= limit:
            break
        level = 0
        first, last = path_starts[column], path_starts[column + 1]
        for place in range(first, last):
            if paths[member_a, place] != paths[member_b, place]:
                level += 1
        total += max(level, levels_a[row_a, column], levels_b[row_b, column]) / (last - first)
    return total


@compiled
def _widen(low, high, levels, box, member, numbers, paths, path_starts, point):
    """Let a box take in a point."""
    for place in range(low.shape[1]):
        number = numbers[point, place]
        if np.isnan(low[box, place]) != np.isnan(number):
            low[box, place], high[box, place] = 0.0, 1.0
        elif not np.isnan(number):
            low[box, place] = min(low[box, place], number)
            high[box, place] = max(high[box, place], number)
    for column in range(len(path_starts) - 1):
        level = 0
        for place in range(path_starts[column], path_starts[column + 1]):
            if paths[member, place] != paths[point, place]:
                level += 1
        levels[box, column] = max(level, levels[box, column])


@compiled
def _spreads_from(start, left, numbers, paths, path_starts, levels, spreads):
    """Fill in how far each point left is from one point; return the place of the furthest."""
    best, furthest = -1, -1.0
    for index in range(len(left)):
        spreads[index] = _joint_spread(
            numbers, numbers, levels, start, start,
            numbers, numbers, levels, left[index], left[index], paths, path_starts, np.inf,
        )  # fmt: skip
        if spreads[index] > furthest:
            best, furthest = index, spreads[index]
    return best


@compiled
def k_member(numbers, paths, path_starts, counts, size, cluster_of):
    """Grow clusters of at least `size` rows, each time by the point that widens the cluster least.

    Return the number of clusters; points left over at the end are clusters of their own, too small.
    """
    left, cluster = _open_points(counts, size, cluster_of)
    rows = np.int64(0)
    for index in range(len(left)):
        rows += counts[left[index]]
    no_levels = np.zeros((1, len(path_starts) - 1), dtype=np.int64)
    spreads = np.empty(len(left))
    start = -1
    if len(left) > 0:
        start = left[_spreads_from(left[0], left, numbers, paths, path_starts, no_levels, spreads)]
    while rows >= size:
        _spreads_from(start, left, numbers, paths, path_starts, no_levels, spreads)
        from_start = spreads[: len(left)].copy()
        low, high = numbers[start : start + 1].copy(), numbers[start : start + 1].copy()
        levels = no_levels.copy()
        cluster_of[start] = cluster
        taken = counts[start]
        while taken < size:
            # What a point and the cluster span only grows with the cluster: the spread found earlier is a bound, and
            # a point whose bound does not beat the best one need not be looked at again.
            best, least = -1, np.inf
            for index in range(len(left)):
                if spreads[index] >= least or cluster_of[left[index]] >= 0:
                    continue
                spreads[index] = _joint_spread(
                    low, high, levels, 0, start,
                    numbers, numbers, no_levels, left[index], left[index], paths, path_starts, least,
                )  # fmt: skip
                if spreads[index] < least:
                    best, least = index, spreads[index]
            _widen(low, high, levels, 0, start, numbers, paths, path_starts, left[best])
            cluster_of[left[best]] = cluster
            taken += counts[left[best]]
        rows -= taken
        cluster += 1
        furthest, kept = -1.0, 0
        for index in range(len(left)):
            if cluster_of[left[index]] < 0:
                if from_start[index] > furthest:
                    furthest, start = from_start[index], left[index]
                left[kept] = left[index]
                kept += 1
        left = left[:kept]
    for index in range(len(left)):
        cluster_of[left[index]] = cluster + index
    return cluster + len(left)


@compiled
def box_clusters(numbers, paths, path_starts, counts, cluster_of, clusters):
    """Return the box of every cluster (low, high, levels, one member), what it spans, and its rows."""
    low = np.empty((clusters, numbers.shape[1]))
    high = np.empty((clusters, numbers.shape[1]))
    levels = np.zeros((clusters, len(path_starts) - 1), dtype=np.int64)
    member = np.full(clusters, -1, dtype=np.int64)
    rows = np.zeros(clusters, dtype=np.int64)
    for point in range(len(counts)):
        cluster = cluster_of[point]
        rows[cluster] += counts[point]
        if member[cluster] < 0:
            member[cluster] = point
            low[cluster] = numbers[point]
            high[cluster] = numbers[point]
        else:
            _widen(low, high, levels, cluster, member[cluster], numbers, paths, path_starts, point)
    spreads = np.empty(clusters)
    for cluster in range(clusters):
        spreads[cluster] = _joint_spread(
            low, high, levels, cluster, member[cluster],
            low, high, levels, cluster, member[cluster], paths, path_starts, np.inf,
        )  # fmt: skip
    return low, high, levels, member, spreads, rows


@compiled
def nearest_clusters(paths, path_starts, boxes, failing, reach):
    """Find, for each failing cluster, the one to join at the least added loss: rows × what they span.

    `boxes` is what `box_clusters` returns. Only the `reach` clusters numbered before and after a cluster are looked at.
    Return the clusters found and the losses.
    """
    low, high, levels, member, spreads, rows = boxes
    clusters = len(rows)
    nearest = np.full(len(failing), -1, dtype=np.int64)
    losses = np.full(len(failing), np.inf)
    for index in range(len(failing)):
        own = failing[index]
        for other in range(max(own - reach, 0), min(own + reach + 1, clusters)):
            if other == own:
                continue
            before = rows[own] * spreads[own] + rows[other] * spreads[other]
            together = rows[own] + rows[other]
            limit = (losses[index] + before) / together
            if max(spreads[own], spreads[other]) >= limit:  # together they span no less than each alone
                continue
            spread = _joint_spread(
                low, high, levels, own, member[own],
                low, high, levels, other, member[other], paths, path_starts, limit,
            )  # fmt: skip
            loss = together * spread - before
            if spread < limit and loss < losses[index]:
                nearest[index], losses[index] = other, loss
    return nearest, losses


@compiled
def join_failing(failing, nearest, order, clusters):
    """Join failing clusters to their nearest ones, the cheapest first; return the cluster that each becomes.

    In one round a sound cluster may take in several, a failing one takes part once: it may be sound after that.
    """
    becomes = np.arange(clusters)
    fails = np.zeros(clusters, dtype=np.bool_)
    used = np.zeros(clusters, dtype=np.bool_)
    for index in range(len(failing)):
        fails[failing[index]] = True
    for index in order:
        own, other = failing[index], nearest[index]
        if used[own] or (fails[other] and used[other]):
            continue
        used[own] = True
        used[other] = True
        becomes[own] = other
    return becomes
