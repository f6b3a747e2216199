"""What the clustering methods share: points to cluster, blocks of them, and clusters made safe.

A point is a distinct tuple of quasi-identifiers with the number of rows that have it; all its rows stay together.
Two points are as far apart as their columns together: the share of the column's line between two numbers or dates, the
level of the lowest common node over the hierarchy's height for two names (Gower 1971; Domingo-Ferrer & Torra 2005), and
1 between a missing value and any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Ints
from incrowd.common.progress import Progress, silent
from incrowd.common.threads import do_together
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import RecipeError
from incrowd.forms.stand_ins import group_means
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels import clustering
from incrowd.kernels.keys import rank_keys
from incrowd.kernels.regions import bounds
from incrowd.methods.grouping import Grouper
from incrowd.methods.mondrian import Mondrian
from incrowd.models.k_anonymity import KAnonymity

Labels = Literal["hierarchy", "tight"]

MOST_POINTS = 30_000
"""As many points are clustered in one go; more are first cut into blocks."""
_MOST_IN_BLOCK = 10_000
_MOST_COMPARED = 400_000_000


def require_labels(owner: str, labels: object) -> None:
    """Refuse ways of showing clusters that do not exist."""
    if labels not in ("hierarchy", "tight"):
        raise RecipeError(f'{owner}: labels is "hierarchy" or "tight", not {labels!r}.')


class Points:
    """The distinct tuples of quasi-identifiers, in the order of their codes, laid out for the compiled code.

    `numbers`, `paths` and `path_starts` are as `kernels/clustering.py` has them. `path_weights[f] / scale` is what a
    difference at place f of a path adds to a distance.
    """

    def __init__(self, tally: Tally, columns: tuple[str, ...]) -> None:
        codes = tally.codes_of(columns)
        self.columns = columns
        self.trees = [tally.trees[name] for name in columns]
        self.point_of, first = group_tuples(codes, [tree.size for tree in self.trees])
        self.codes: Codes = codes.take(first, axis=0)
        self.counts = np.bincount(self.point_of, weights=tally.counts, minlength=len(first)).astype(np.int64)
        self.numbers = _stack(
            [on_line(tree, self.codes[:, at]) for at, tree in enumerate(self.trees) if tree.ordered], len(first)
        )
        named = [at for at, tree in enumerate(self.trees) if not tree.ordered]
        heights = np.array([self.trees[at].height for at in named], dtype=np.int64)
        self.scale = math.lcm(*heights.tolist())
        self.path_starts = np.concatenate(([0], np.cumsum(heights)))
        self.path_weights = np.repeat(self.scale // heights, heights)
        self.paths = np.empty((len(first), int(self.path_starts[-1])), dtype=np.int32)
        self.nodes = 0
        for at, start in zip(named, self.path_starts[:-1], strict=True):
            for level, nodes in enumerate(self.trees[at].nodes[:-1]):
                self.paths[:, start + level] = nodes[self.codes[:, at]] + self.nodes
                self.nodes += int(nodes.max()) + 1

    def __len__(self) -> int:
        return len(self.counts)

    def blocks(self, schema: Schema) -> list[Ints]:
        """Return all points as one block or, where they are too many, blocks that Mondrian's relaxed cuts leave."""
        if len(self) <= MOST_POINTS:
            return [np.arange(len(self))]
        alone = Tally(
            self.columns,
            self.codes,
            np.ones(len(self), dtype=np.int64),
            dict(zip(self.columns, self.trees, strict=True)),
        )
        quasi = Schema(quasi={name: schema.quasi[name] for name in self.columns})
        found = Mondrian(cuts="relaxed").search(
            alone, quasi, [KAnonymity(_MOST_IN_BLOCK // 2)], rng=np.random.default_rng(0), progress=silent
        )
        order = np.lexsort((found.tuples, found.groups))
        starts = np.searchsorted(found.groups[order], np.arange(1, len(found.lows)))
        return np.split(found.tuples[order], starts)

    def cluster(self, schema: Schema, progress: Progress, cluster_block: Callable[[Ints, Ints], int]) -> Ints:
        """Cluster block by block; `cluster_block` numbers the clusters of some points and says how many they are."""
        blocks = self.blocks(schema)
        ends = np.cumsum([len(block) for block in blocks])

        def clustered(block: Ints) -> tuple[Ints, int]:
            own = np.empty(len(block), dtype=np.int64)
            return own, cluster_block(block, own)

        found = do_together(
            [partial(clustered, block) for block in blocks],
            lambda place, _: progress("clustering", float(ends[place]) / len(self)),
        )
        cluster_of = np.empty(len(self), dtype=np.int64)
        clusters = 0
        for block, (own, number) in zip(blocks, found, strict=True):
            cluster_of[block] = own + clusters
            clusters += number
        return cluster_of


def on_line(tree: Tree, codes: Codes) -> NDArray[np.float64]:
    """Place codes on a line from 0 to 1; missing is nowhere on it."""
    known = tree.positions[1:]
    start = known.min() if known.size else 0.0
    return np.asarray((tree.positions[codes] - start) / (tree.span or 1.0))


def _stack(columns: list[NDArray[np.float64]], rows: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.empty((rows, 0))


def recode_safe(
    points: Points,
    cluster_of: Ints,
    tally: Tally,
    grouper: Grouper,
    require: Sequence[Model],
    *,
    size: int,
    labels: Labels,
    progress: Progress,
    means: tuple[str, ...] = (),
) -> Recoding:
    """Join clusters that fail a model, or have fewer than `size` rows, to others until none does; show what is left.

    Each failing cluster joins the one with which it adds least to rows × span, round by round. Where that would compare
    too many pairs, only those numbered next to it are looked at: these come from the same block. Clusters that would
    look the same are one, as they are to the reader, who may see `means` of some columns. All rows in one cluster must
    satisfy the models.
    """
    failing_at_first, every = 0, np.arange(len(tally))
    while True:
        cluster_of, members = rank_keys(cluster_of, int(cluster_of.max(initial=-1)) + 1)
        clusters = len(members)
        lows, highs = _runs(points, cluster_of, clusters, labels)
        seen = [*_as_read(points, lows, highs, labels)]
        sizes = [tree.size + 1 for tree in points.trees] * 2
        for name in means:
            found = group_means(tally, name, every, tally.counts, cluster_of[points.point_of], clusters)
            seen.append(np.unique(found, return_inverse=True)[1].astype(np.int32)[:, None])
            sizes.append(clusters)
        alike, first = group_tuples(np.concatenate(seen, axis=1), sizes)
        if len(first) < clusters:
            cluster_of = first[alike][cluster_of]
            continue
        groups = grouper.groups(cluster_of[points.point_of], clusters)
        failing = np.flatnonzero(~satisfies_all(require, groups) | (groups.sizes < size))
        failing_at_first = max(failing_at_first, len(failing))
        progress("merging", 1.0 - len(failing) / max(failing_at_first, 1))
        if not failing.size or clusters == 1:
            break
        boxes = clustering.box_clusters(
            points.numbers, points.paths, points.path_starts, points.counts, cluster_of, clusters
        )
        reach = max(_MOST_COMPARED // len(failing), 64)
        nearest, losses = clustering.nearest_clusters(points.paths, points.path_starts, boxes, failing, reach)
        becomes = clustering.join_failing(failing, nearest, np.argsort(losses, kind="stable"), clusters)
        cluster_of = becomes[cluster_of]
    return Recoding(
        np.arange(len(tally)), tally.counts, cluster_of[points.point_of], points.columns, lows, highs, labels
    )


def _runs(points: Points, cluster_of: Ints, clusters: int, labels: Labels) -> tuple[Codes, Codes]:
    """Return the codes that each cluster shows: from the smallest to the largest of its own, or those of a node."""
    lows, highs = bounds(points.codes, np.arange(len(points)), cluster_of, clusters)

    def show_nodes(at: int) -> None:
        lows[:, at], highs[:, at] = points.trees[at].common_nodes(lows[:, at], highs[:, at])

    if labels == "hierarchy":
        do_together([partial(show_nodes, at) for at in range(len(points.trees))], steps=lows.size)
    return lows, highs


def _as_read(points: Points, lows: Codes, highs: Codes, labels: Labels) -> tuple[Codes, Codes]:
    """Write runs that have one and the same label, `*`, as the same run."""
    lows, highs = lows.copy(), highs.copy()
    for at, tree in enumerate(points.trees):
        low, high = lows[:, at], highs[:, at]
        anything = (low == MISSING) & (high > 1)
        if labels == "hierarchy" or not tree.ordered:
            anything |= (low == 1) & (high == tree.size) & (high > 2)
        lows[anything, at], highs[anything, at] = MISSING, tree.size
    return lows, highs
