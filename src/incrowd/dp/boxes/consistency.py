"""Make noisy counts of a tree agree: a box's count is the sum of its children's, none is negative, all are whole.

`least_squares` is the best linear estimate on the actual tree, whatever its shape (Hay et al. 2010 for full k-ary
trees): from the leaves up, each box's own count and the sum of its children are weighed by how sure they are; from the
root down, what is left over is shared among the children, by how unsure they are. `algorithm_2` is that of Qian et al.
(CDiffGen), which weighs by the numbers of boxes instead. `non_negative` then goes from the root down once more, so
that a branch in which nobody is stays empty, and `whole` rounds so that sums stay. Nothing here looks at a row: it
costs no privacy. Cost: a few passes over the boxes, one generation at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.kernels.keys import rank_keys

_FEW_AMOUNTS = 1 << 14
"""So many are added up at once; of more, column by column, because numbering their places would take memory."""


@dataclass(frozen=True, eq=False)
class Generations:
    """The boxes of a tree by their distance from the root."""

    parents: Ints
    depth: Ints

    @classmethod
    def of(cls, parents: Ints) -> Generations:
        """Find each box's distance from the root; parents come before their children."""
        depth = np.zeros(len(parents), dtype=np.int64)
        waiting = np.flatnonzero(parents >= 0)
        while waiting.size:
            deeper = depth[parents[waiting]] + 1
            changed = deeper != depth[waiting]
            depth[waiting] = deeper
            waiting = waiting[changed]
        return cls(parents, depth)

    def down(self) -> Iterator[Ints]:
        """Yield the boxes of each generation but the first, from the root down."""
        order = np.argsort(self.depth, kind="stable")
        bounds = np.searchsorted(self.depth[order], np.arange(1, int(self.depth.max(initial=0)) + 2))
        for first, last in pairwise(bounds):
            yield order[first:last]

    def up(self) -> Iterator[Ints]:
        """Yield the same from the leaves up."""
        yield from reversed(list(self.down()))

    def sum_children(self, children: Ints, amounts: Floats) -> Floats:
        """Add up amounts of some boxes at their parents; return one sum per box of the tree."""
        above, boxes = self.parents[children], len(self.parents)
        if amounts.ndim == 1:
            return np.bincount(above, weights=amounts, minlength=boxes).astype(np.float64)
        if amounts.size <= _FEW_AMOUNTS:
            width = amounts.shape[1]
            cells = (above[:, None] * width + np.arange(width)).ravel()
            sums = np.bincount(cells, weights=amounts.ravel(), minlength=boxes * width)
            return sums.reshape(boxes, width).astype(np.float64)
        columns = [np.bincount(above, weights=column, minlength=boxes) for column in amounts.T]
        return np.stack(columns, axis=1).astype(np.float64)


def least_squares(parents: Ints, noisy: Floats, variances: Floats) -> Floats:
    """Return the estimate with the smallest weighted squared distance to the counts that is consistent.

    `noisy` may have several columns (classes), estimated alike. A variance may be infinite: then the count is not
    looked at, and what no count tells is shared evenly.
    """
    generations = Generations.of(parents)
    estimate, spread = _pool(generations, noisy, variances)
    for children in generations.down():
        above = parents[children]
        missing = estimate - generations.sum_children(children, estimate[children])
        # Who is infinitely unsure takes all of it.
        unsure = np.isinf(spread[children]).astype(np.float64)
        some = generations.sum_children(children, unsure)[above] > 0
        part = np.where(some, unsure, np.where(np.isinf(spread[children]), 0.0, spread[children]))
        total = generations.sum_children(children, part)[above]
        even = 1 / generations.sum_children(children, np.ones(len(children)))[above]
        share = np.where(total > 0, part / np.where(total > 0, total, 1.0), even)
        estimate[children] += share[:, None] * missing[above]
    return estimate


def pooled_variances(parents: Ints, variances: Floats) -> Floats:
    """Return the variance of the best estimate of each box from its own count and those below it.

    What least squares gives for boxes that do not overlap has no larger variance than the sum of theirs.
    """
    return _pool(Generations.of(parents), np.zeros((len(parents), 1)), variances)[1]


def variances_of_sums(parents: Ints, variances: Floats, amounts: Floats) -> Floats:
    """Return the variance of sums over the leaves' least-squares estimates, exactly.

    `amounts[b]` is how much of leaf b each sum takes, one column for each sum; other boxes take no part.
    """
    return SumsOfLeaves.of(parents, variances).variances(amounts)


@dataclass(frozen=True, eq=False)
class SumsOfLeaves:
    """Variances of sums over the leaves' least-squares estimates: what is the same for all sums is found once.

    From the leaves up, what a sum has of the boxes inside one is a share of that one's count, and noise that depends on
    nothing above it: given their sum, the children's errors have the covariance diag(V) − V·Vᵀ/ΣV.
    """

    generations: Generations
    leaf: Bools
    spread: Floats
    """The variance of the best estimate of each box from its own count and those below it."""
    families: tuple[tuple[Ints, Ints, Floats], ...]
    """From the leaves up: the children of a generation, their parents, and what these parents' children's variances
    add up to."""

    @classmethod
    def of(cls, parents: Ints, variances: Floats) -> SumsOfLeaves:
        """Look at a tree of boxes."""
        generations = Generations.of(parents)
        _, spread = _pool(generations, np.zeros((len(parents), 1)), variances)
        leaf = np.ones(len(parents), dtype=bool)
        leaf[parents[parents >= 0]] = False
        families = []
        for children in generations.up():
            boxes = np.unique(parents[children])
            total = generations.sum_children(children, spread[children])[boxes]
            families.append((children, boxes, np.maximum(total, 1e-300)[:, None]))
        return cls(generations, leaf, spread, tuple(families))

    def variances(self, amounts: Floats) -> Floats:
        """Return the variance of each sum: `amounts[b]` is how much of leaf b each takes."""
        add_up, roots = self.generations.sum_children, self.generations.parents < 0
        share, apart = np.where(self.leaf[:, None], amounts, 0.0), np.zeros(amounts.shape)
        for children, boxes, total in self.families:
            part, spread_below = share[children], self.spread[children][:, None]
            weighted = add_up(children, part * spread_below)[boxes]
            squared = add_up(children, part**2 * spread_below)[boxes]
            below = add_up(children, apart[children])[boxes]
            share[boxes] = weighted / total
            apart[boxes] = below + squared - weighted**2 / total
        found = (share[roots] ** 2 * self.spread[roots][:, None] + apart[roots]).sum(axis=0)
        return np.asarray(np.maximum(found, 0.0))


def _pool(generations: Generations, noisy: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Go from the leaves up: weigh each box's own count and the sum of its children by how sure they are."""
    estimate, spread = noisy.astype(np.float64).copy(), variances.astype(np.float64).copy()
    estimate[np.isinf(spread)] = 0.0
    for children in generations.up():
        spread_below = generations.sum_children(children, spread[children])
        sum_below = generations.sum_children(children, estimate[children])
        boxes = np.unique(generations.parents[children])
        own, below = spread[boxes], spread_below[boxes]
        weight = _weight(own, below)
        estimate[boxes] = weight[:, None] * estimate[boxes] + (1 - weight)[:, None] * sum_below[boxes]
        spread[boxes] = np.where(np.isinf(own), below, np.where(np.isinf(own), 0.0, own) * weight)
    return estimate, spread


def _weight(own: Floats, below: Floats) -> Floats:
    """Return how much a box's own count weighs against the sum of its children."""
    known = np.isfinite(own) & np.isfinite(below) & (own + below > 0)
    weight = np.where(known, below, 0.0) / np.where(known, own + below, 1.0)  # exact counts all weigh alike
    return np.asarray(np.where(np.isfinite(own) & np.isinf(below), 1.0, weight))


def algorithm_2(parents: Ints, noisy: Floats) -> Floats:
    """Return the estimate of Qian et al., weighing a box against its children by leaves and boxes below it."""
    generations = Generations.of(parents)
    estimate = noisy.astype(np.float64).copy()
    is_parent = np.zeros(len(parents), dtype=bool)
    is_parent[parents[parents >= 0]] = True
    leaves, boxes = (~is_parent).astype(np.float64), np.ones(len(parents))
    for children in generations.up():
        leaves += generations.sum_children(children, leaves[children])
        boxes += generations.sum_children(children, boxes[children])
        below = generations.sum_children(children, estimate[children])
        above = np.unique(parents[children])
        own = (leaves[above] / boxes[above])[:, None]
        estimate[above] = own * estimate[above] + (1 - own) * below[above]
    for children in generations.down():
        above = parents[children]
        missing = estimate - generations.sum_children(children, estimate[children])
        siblings = generations.sum_children(children, np.ones(len(children)))[above]
        estimate[children] += missing[above] / siblings[:, None]
    return estimate


def non_negative(parents: Ints, estimate: Floats, variances: Floats) -> Floats:
    """Return counts of which none is negative and children sum up to their parent, as near as that allows.

    From the root down, a parent's total is shared among its children: all are moved by the same amount per variance,
    and whoever would become negative is 0. Of all ways to share that total this is the nearest to the estimate.
    """
    generations = Generations.of(parents)
    shared = estimate.copy()
    roots = parents < 0
    shared[roots] = np.maximum(shared[roots], 0.0)
    for children in generations.down():
        family, first = rank_keys(parents[children], len(parents))
        above = parents[children[first]]
        # Where nothing is known of some, or everything of all, siblings are moved alike.
        known = np.isfinite(variances[children]) & (variances[children] > 0)
        strange = np.bincount(family, weights=~known) > 0
        weight = np.where(strange[family], 1.0, variances[children])
        for column in range(shared.shape[1]):
            shared[children, column] = _share_out(shared[above, column], estimate[children, column], weight, family)
    return shared


def _share_out(totals: Floats, wanted: Floats, weight: Floats, family: Ints) -> Floats:
    """Return what each child gets of its family's total; families in which nobody becomes negative are done first."""
    found = np.zeros(len(wanted))
    here, alive = np.arange(len(wanted)), np.ones(len(wanted), dtype=bool)
    while True:
        wanted, weight, family = wanted[alive], weight[alive], family[alive]
        here = here[alive]
        given = np.bincount(family, weights=wanted, minlength=len(totals))
        weights = np.bincount(family, weights=weight, minlength=len(totals))
        missing = totals - given
        moved = wanted + weight * missing[family] / np.maximum(weights[family], 1e-300)
        # Of a box without people, nobody is in any child, whatever the arithmetic leaves.
        moved = np.where(totals[family] <= 0, 0.0, moved)
        found[here] = np.maximum(moved, 0.0)
        negative = moved < 0
        if not negative.any():
            return found
        again = np.bincount(family, weights=negative, minlength=len(totals)) > 0
        alive = again[family] & ~negative


def whole(parents: Ints, counts: Floats) -> Ints:
    """Round to whole numbers from the root down, so that children still sum up to their parent."""
    generations = Generations.of(parents)
    rounded = np.zeros(counts.shape, dtype=np.int64)
    roots = parents < 0
    rounded[roots] = np.rint(counts[roots]).astype(np.int64)
    for children in generations.down():
        above = parents[children]
        for column in range(counts.shape[1]):
            # A parent was rounded: its children are scaled to what it has become before they are.
            total = np.maximum(generations.sum_children(children, counts[children, column])[above], 1e-300)
            exact = counts[children, column] * rounded[above, column] / total
            low = np.floor(exact).astype(np.int64)
            missing = rounded[:, column] - generations.sum_children(children, low.astype(np.float64)).astype(np.int64)
            order = np.lexsort((children, low - exact, above))  # the largest fractions of each family first
            first = np.searchsorted(above[order], above[order], side="left")
            rank = np.arange(len(children)) - first
            extra = np.zeros(len(children), dtype=np.int64)
            extra[order] = rank < missing[above[order]]
            rounded[children, column] = low + extra
    return rounded


def rows_of_boxes(tree: NoisyTree) -> Floats:
    """Return about how many rows are in each box, by class: no number is negative, and they agree."""
    return non_negative(tree.parents, tree.estimates, pooled_variances(tree.parents, tree.variances))


def published_counts(tree: NoisyTree) -> Ints:
    """Return whole counts of all boxes, none of them negative, that agree as the estimates do."""
    return whole(tree.parents, rows_of_boxes(tree))


def agreeing_with_total(noisy: Ints) -> Ints:
    """Return whole counts of boxes by class, none negative, that add up to what was counted of everybody.

    Noise above and below 0 cancels out in the sum of all boxes; cutting off what is below 0 leaves the rest of it.
    """
    boxes, classes = noisy.shape
    parents = np.concatenate([[-1], np.zeros(classes, dtype=np.int64), 1 + np.tile(np.arange(classes), boxes)])
    cells = noisy.astype(np.float64)
    by_class = cells.sum(axis=0)
    estimate = np.concatenate([[by_class.sum()], by_class, cells.ravel()])[:, None]
    counts = whole(parents, non_negative(parents, estimate, np.ones(len(parents))))
    return counts[1 + classes :, 0].reshape(boxes, classes)
