"""t-closeness: a group's sensitive values are spread nearly as the whole table's (Li, Li & Venkatasubramanian 2007).

Nearly means an earth mover's distance of at most t. All three of the paper's ground distances are offered, each counted
from the values that a group has, never from those it lacks. Cost: one pass over the distinct (group, value) pairs for
`equal`, times the log of the number of values for `ordered`, times the height of the hierarchy for `hierarchical`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, Model, all_satisfied, histograms, judged_columns, of_what, require_missing
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.tree_numbers import has_order
from incrowd.models.shares import group_shares, largest, require_share

Distance = Literal["equal", "ordered", "hierarchical"]

_ROUNDING = 1e-10
"""Sums of as many shares as there are values; a distance of exactly t may come out larger by this much."""


@dataclass(frozen=True)
class TCloseness(Model):
    """The distance between each group's and the whole table's distribution of sensitive values is at most `t`.

    Parameters
    ----------
    t : the largest earth mover's distance, from 0 to 1.
    distance : how far apart two values are: "equal", "ordered" or "hierarchical" (default: "ordered" for numbers and
        dates, "equal" for all others; the release says which it was).
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group and the table are judged by those of their people whose value is recorded, and a group in which there is
        none is at distance 1. With "counts", missing is a value like any other, before all others on the line and
        directly under the root.

    With "equal", all values are equally far apart. With "ordered", values lie on a line, one step from each to the next
    that the table has. With "hierarchical", two values are as far apart as the height of the lowest node that holds
    both. A column without a hierarchy has height 1: the same as "equal", which is never less.

    A number that is only a name, such as the code of a disease, has no order: say "equal" for it. "ordered" sees no
    harm in a group whose values lie evenly between low and high but are few; ask for `KEAnonymity` or
    `MinimumVariance` as well where nearby numbers are as good as one.

    Where people have several rows, people are counted. A value's share are then the people who have it, so shares add
    up to the number of values that a person has on average. The distance is that between the shares scaled to add up to
    the same, and, on top of it, how much the two numbers of values differ.

    Reference: Li, Li & Venkatasubramanian (2007).
    """

    t: float
    distance: Distance | None = None
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "t-closeness"
    plain_name: ClassVar[str] = "each group is like the whole table"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("t", (0.5, 0.3, 0.2, 0.1, 0.05))
    monotone: ClassVar[bool] = True  # the distance is convex: a union's is at most the larger of the two
    hereditary: ClassVar[bool] = False  # a part of a group can be closer to the whole table than the group
    follows_hierarchy: ClassVar[bool] = True
    compares_with_table: ClassVar[bool] = True
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "t", self.t, zero=True)
        require_missing(self.name, self.missing)
        if self.distance not in (None, "equal", "ordered", "hierarchical"):
            raise RecipeError(f't-closeness: distance is "equal", "ordered" or "hierarchical", not {self.distance!r}.')

    @property
    def asks_nothing(self) -> bool:
        """No distance is above 1, where people have one value each."""
        return self.t == 1

    @property
    def min_group(self) -> int:
        """A single row is like the whole table where all rows are alike."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's distance from the whole table is at most t."""
        return all_satisfied((found <= self.t + _ROUNDING for found in self._distances(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the largest distance of any group."""
        return largest(self._distances(groups))

    def least_failing(self, groups: Groups) -> Floats:
        """Return the share of each group that must fail however the group is split.

        See `least_failing_by_values` for the equal distance. The others are convex too, so that the parts' distances
        are at least the group's own on average: parts that satisfy t have at most t, others at most 1, and for the
        share f of these it holds that f + (1 − f)·t ≥ distance.
        """
        share = np.zeros(len(groups))
        judged = list(judged_columns(groups, self.column, self.missing))
        if any(seen.shares(name).sum() > 1 + _ROUNDING for name, seen, _ in judged):
            return share  # somebody of the table has several values
        for (name, seen, histogram), found in zip(judged, self._distances(groups), strict=True):
            if self._kind(seen, name) == "equal":
                failing = least_failing_by_values(seen, name, histogram, self.t)
            elif self.t + _ROUNDING < 1:
                failing = (found - self.t - _ROUNDING) / (1 - self.t)
            else:
                continue
            # Of those whose value is recorded: the others may be in any part.
            recorded = np.divide(seen.sizes, groups.sizes, out=np.zeros(len(groups)), where=groups.sizes > 0)
            share = np.maximum(share, failing * recorded)
        return np.clip(share, 0.0, 1.0)

    def told(self, groups: Groups) -> str:
        """Return which distance each column was judged by."""
        if self.asks_nothing:
            return super().told(groups)
        named = (f"{self._kind(groups, name)} distance of {name}" for name in histograms(groups, self.column))
        return ", ".join(named)

    def _kind(self, groups: Groups, name: str) -> Distance:
        if self.distance is not None:
            return self.distance
        return "ordered" if name in groups.trees and has_order(groups.trees[name]) else "equal"

    def _distances(self, groups: Groups) -> Iterator[Floats]:
        for name, judged, histogram in judged_columns(groups, self.column, self.missing):
            if judged.several_values(name) or judged.everybody is not None:
                found = self._distance_between_people(judged, name, histogram)
            else:
                found = self._distance(judged, name, histogram)
            if self.missing == "ignored" and not judged.shares(name)[:1].any():
                nobody_has_one = histogram.group_of[histogram.values == MISSING]
                found[nobody_has_one] = np.maximum(found[nobody_has_one], 1.0)
            yield found

    def _distance(self, groups: Groups, name: str, histogram: Histogram) -> Floats:
        kind = self._kind(groups, name)
        if kind == "equal":
            return equal_distances(groups, name, histogram)
        if kind == "ordered":
            return ordered_distances(groups, name, histogram)
        if name in groups.trees:
            return hierarchical_distances(groups, name, histogram, groups.trees[name])
        raise SchemaError(f"t-closeness: the hierarchy of '{name}' is not known.")

    def _distance_between_people(self, groups: Groups, name: str, histogram: Histogram) -> Floats:
        """Return the distances where somebody has several values: of the shares, and of how many values people have."""
        values = np.bincount(histogram.group_of, weights=histogram.counts, minlength=len(groups))
        each = np.divide(values, groups.sizes, out=np.zeros(len(groups)), where=groups.sizes > 0)
        on_average = float(groups.shares(name).sum())
        # As if every value were a person, so that shares add up to 1.
        of_values = replace(groups, sizes=values.astype(np.int64), everybody=None, table=None)
        found = self._distance(of_values, name, histogram)
        return np.asarray(np.abs(each - on_average) + np.minimum(each, on_average) * found)

    def __str__(self) -> str:
        kind = "" if self.distance is None else f" ({self.distance})"
        return f"{self.t:g}-closeness{kind}{of_what(self.column, self.missing)}"


def equal_distances(groups: Groups, name: str, histogram: Histogram) -> Floats:
    """Return ½ Σ |p − q| of each group, p being its shares and q the whole table's.

    Both sum to 1, so that what is above q weighs as much as what is below: Σ max(p − q, 0), and p is above q only at
    values that the group has.
    """
    above = np.maximum(group_shares(groups, histogram) - groups.shares(name)[histogram.values], 0)
    return np.bincount(histogram.group_of, weights=above, minlength=len(groups)).astype(np.float64)


def least_failing_by_values(groups: Groups, name: str, histogram: Histogram, t: float) -> Floats:
    """Return the share of each group that is more than t away by the equal distance, however the group is split.

    A part within t has at least the share Q − t of any set of values that has Q of the whole table. If the group has P
    of the set, then for the share f of the other parts it holds that (1 − f)·(Q − t) ≤ P. Two sets are tried: the
    values of which the group has less than the whole table, and those that it lacks, where P is 0.
    """
    own, whole = group_shares(groups, histogram), groups.shares(name)[histogram.values]
    share = np.zeros(len(groups))
    for outside in (own > whole, np.ones(len(own), dtype=bool)):
        group_of = histogram.group_of[outside]
        has = 1.0 - np.bincount(group_of, weights=own[outside], minlength=len(groups))
        needs = 1.0 - np.bincount(group_of, weights=whole[outside], minlength=len(groups)) - t - _ROUNDING
        possible = np.ones(len(groups))  # the share of parts that may be within t
        np.divide(np.maximum(has, 0.0), needs, out=possible, where=needs > _ROUNDING)
        share = np.maximum(share, 1.0 - possible)
    return share


def ordered_distances(groups: Groups, name: str, histogram: Histogram) -> Floats:
    """Return Σ |P − Q| / (m − 1) of each group, P and Q being cumulative shares over the m values that the table has.

    P is constant from one of the group's values to the next, and Q rises: on such a stretch P − Q changes its sign at
    most once, at a place found by bisection, and sums of Q on either side are differences of its prefix sums.
    """
    whole = groups.shares(name)
    occurs = whole > 0
    m = int(occurs.sum())
    if m < 2 or not len(histogram.values):
        return np.zeros(len(groups))
    cumulative = np.cumsum(whole[occurs])
    prefix = np.concatenate(([0.0], np.cumsum(cumulative)))
    rank = np.maximum(np.cumsum(occurs) - 1, 0)

    histogram = _in_order(histogram)
    group_of = histogram.group_of
    counted = np.cumsum(histogram.counts)
    first = histogram.offsets[:-1][group_of]
    before = counted[first] - histogram.counts[first]
    level = (counted - before) / groups.sizes[group_of]
    low = rank[histogram.values]
    last = np.arange(len(low)) == histogram.offsets[1:][group_of] - 1
    high = np.where(last, m, np.append(low[1:], m))
    turn = np.clip(np.searchsorted(cumulative, level, side="right"), low, high)
    stretch = level * (turn - low) - (prefix[turn] - prefix[low])
    stretch += (prefix[high] - prefix[turn]) - level * (high - turn)
    stretch += np.where(np.arange(len(low)) == first, prefix[low], 0)  # below the group's first value, P is 0
    return np.bincount(group_of, weights=stretch, minlength=len(groups)) / (m - 1)


def hierarchical_distances(groups: Groups, name: str, histogram: Histogram, tree: Tree) -> Floats:
    """Return Σ height(N)/H · min(pos(N), neg(N)) of each group, over the inner nodes N of a tree of height H.

    pos and neg are the surplus and the deficit of N's children, p − q, so min(pos, neg) is half of what |p − q| summed
    over its children exceeds |p − q| of N itself. Summed over all nodes, every level below the root counts once: the
    distance is the mean over levels of the equal distance between the level's nodes.
    """
    histogram = _in_order(histogram)
    group_of, codes, counts = histogram.group_of, histogram.values, histogram.counts
    whole = groups.shares(name)
    total = np.zeros(len(groups))
    if not len(codes):
        return total
    for level in range(tree.height):
        nodes = tree.nodes[level]
        opens = np.ones(len(codes), dtype=bool)
        opens[1:] = (group_of[1:] != group_of[:-1]) | (nodes[codes[1:]] != nodes[codes[:-1]])
        firsts = np.flatnonzero(opens)
        group_of, codes, counts = group_of[firsts], codes[firsts], np.add.reduceat(counts, firsts)
        node_shares = np.bincount(nodes[: len(whole)], weights=whole)
        above = np.maximum(counts / groups.sizes[group_of] - node_shares[nodes[codes]], 0)
        total += np.bincount(group_of, weights=above, minlength=len(groups))
    return total / tree.height


def _in_order(histogram: Histogram) -> Histogram:
    """Sort the entries of each group by code, if they are not."""
    key = histogram.group_of * (int(histogram.values.max(initial=0)) + 1) + histogram.values
    if (key[1:] > key[:-1]).all():
        return histogram
    order = np.argsort(key)
    return Histogram(histogram.offsets, histogram.values[order], histogram.counts[order])
