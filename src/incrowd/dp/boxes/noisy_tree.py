"""The tree of boxes that specializations make, with noisy counts of every class.

Every specialization splits the boxes that hold its run. `leaf_counts` puts noise on the last boxes only (DiffGen);
`grow_tree` puts it on every box of the tree (Consistent DiffGen as in its paper; `level_tree.py` counts fewer), and
goes on below a box only if its noisy count says that somebody is there: whoever knows the counts above could have
decided so. Cost: boxes, and for each specialization one pass over the distinct tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints, all_places
from incrowd.common.records import dataclass
from incrowd.dp.boxes.box_cuts import Cut, Specialization
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.margins import Margins
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.dp.marginals.told_variance import ColumnNoise
from incrowd.errors import Unsatisfiable

MOST_COUNTS = 20_000_000
"""So many noisy counts fit the memory of a small machine, and are drawn in half a minute."""


@dataclass(frozen=True, eq=False)
class NoisyTree:
    """Boxes from the root down: children come after their parents.

    `parents[b]` is the box above (-1 for the root), `lows[b]`/`highs[b]` the runs of its columns, `noisy[b]` the noisy
    count of each class, and `variances[b]` that of the noise, infinite where nothing was counted. `agreed[b]` are the
    counts after they were made to agree, which may still be negative; nothing where they are what they were. `margins`
    are single columns and pairs that were counted beside the boxes. Where rows come from a model, `column_noise` is the
    variance that noise gives to the count of one code of each column, and last of one class; `rows_noise` to all rows.
    `dependence` is φ² next to noise and rows (`forms/model_errors.py`): less where more columns were counted together.
    `by_class` says that the columns' noise is that of counts by class: it is all that is unknown of a column and these.
    """

    parents: Ints
    lows: Codes
    highs: Codes
    noisy: Ints
    variances: Floats
    agreed: Floats | None = None
    margins: Margins | None = None
    column_noise: tuple[ColumnNoise, ...] = ()
    rows_noise: float = 0.0
    dependence: float = 0.3
    by_class: bool = False

    @property
    def best(self) -> Ints | Floats:
        """The best unbiased estimate of each box and class, never a copy: these may be very many."""
        return self.noisy if self.agreed is None else self.agreed

    @property
    def estimates(self) -> Floats:
        """The same as numbers that need not be whole."""
        return self.best.astype(np.float64, copy=False)

    @property
    def of_leaves(self) -> Ints | Floats:
        """The best estimates of boxes without children; a copy only where some boxes are inside of others."""
        leaves = self.leaves
        return self.best if len(leaves) == len(self.best) else self.best[leaves]

    @property
    def leaves(self) -> Ints:
        """Boxes without children."""
        has_children = np.zeros(len(self.parents), dtype=bool)
        has_children[self.parents[self.parents >= 0]] = True
        return np.flatnonzero(~has_children)


def longest_path(cuts: Sequence[Cut]) -> int:
    """Return how many boxes of the tree a person can be in, at most: the root, and one for each time one is split.

    A person's box is split when the run that a value of theirs is in is specialized, which happens as often as that
    run's depth says; whoever has the deepest run of every column is in the most boxes, whether there is such a person
    or not.
    """
    return 1 + sum(max(cut.depth.values()) for cut in cuts)


def grow_tree(
    people: People,
    roots: Sequence[tuple[int, int]],
    steps: Sequence[Specialization],
    cuts: Sequence[Cut],
    *,
    epsilon: Fraction,
    patience: float,
    rng: np.random.Generator,
) -> NoisyTree:
    """Count every box of the tree with noise; a person is in at most one box per step, so ε is shared by the path.

    A box whose noisy count, over all classes, is below `patience` standard deviations is not divided any further.
    """
    share = epsilon / longest_path(cuts)
    spread = variance(noise_scale(Fraction(1), share))
    smallest = patience * np.sqrt(spread * people.class_count)
    tree = _Growing(people, roots, rng, share)
    for step in steps:
        tree.specialize(step, smallest)
    return tree.grown(spread)


class _Growing:
    """The tree so far: all boxes, and which of them are still leaves."""

    def __init__(
        self, people: People, roots: Sequence[tuple[int, int]], rng: np.random.Generator, share: Fraction
    ) -> None:
        self._people, self._rng, self._share = people, rng, share
        self._box_of = np.zeros(len(people.counts), dtype=np.int64)
        self._parents = [np.array([-1], dtype=np.int64)]
        self._lows = [np.array([[low for low, _ in roots]], dtype=np.int32)]
        self._highs = [np.array([[high for _, high in roots]], dtype=np.int32)]
        self._noisy = [self._count(0, 1)]
        self._open = np.array([0])
        self._total = 1

    def _count(self, first: int, boxes: int) -> Ints:
        people = self._people
        inside = self._box_of >= first
        key = (self._box_of[inside] - first) * people.class_count + people.classes[inside]
        counts = np.bincount(key, weights=people.counts[inside], minlength=boxes * people.class_count)
        counted = counts.astype(np.int64).reshape(boxes, people.class_count)
        return noisy_counts(self._rng, counted, epsilon=self._share)

    def specialize(self, step: Specialization, smallest: float) -> None:
        """Split the boxes that hold the run and in which somebody seems to be."""
        lows, highs = np.concatenate(self._lows), np.concatenate(self._highs)
        noisy = np.concatenate(self._noisy)
        leaves, column = self._open, step.column
        holds = (lows[leaves, column] == step.run[0]) & (highs[leaves, column] == step.run[1])
        split = leaves[holds & (noisy[leaves].sum(axis=1) >= smallest)]
        if not split.size:
            return
        children, first = len(step.children), self._total
        require_room((first + len(split) * children) * self._people.class_count)
        child_lows, child_highs = np.repeat(lows[split], children, axis=0), np.repeat(highs[split], children, axis=0)
        child_lows[:, column] = np.tile([low for low, _ in step.children], len(split))
        child_highs[:, column] = np.tile([high for _, high in step.children], len(split))
        self._parents.append(np.repeat(split, children))
        self._lows.append(child_lows)
        self._highs.append(child_highs)
        self._total = first + len(split) * children
        self._move(split, step, first)
        self._noisy.append(self._count(first, len(split) * children))
        self._open = np.concatenate([np.setdiff1d(leaves, split), np.arange(first, self._total)])

    def _move(self, split: Ints, step: Specialization, first: int) -> None:
        """Take the people of the boxes that were split to the new ones."""
        place = np.full(first, -1, dtype=np.int64)
        place[split] = np.arange(len(split))
        moving = np.flatnonzero(place[self._box_of] >= 0)
        edges = np.array([low for low, _ in step.children[1:]])
        child = np.searchsorted(edges, self._people.codes[moving, step.column], side="right")
        self._box_of[moving] = first + place[self._box_of[moving]] * len(step.children) + child

    def grown(self, spread: float) -> NoisyTree:
        parents = np.concatenate(self._parents)
        lows, highs = np.concatenate(self._lows), np.concatenate(self._highs)
        return NoisyTree(parents, lows, highs, np.concatenate(self._noisy), np.full(len(parents), spread))


def leaf_counts(people: People, cuts: Sequence[Cut], *, epsilon: Fraction, rng: np.random.Generator) -> NoisyTree:
    """Count the last boxes with noise, also those where nobody is; the boxes above are not counted."""
    sizes = [len(cut.runs) for cut in cuts]
    boxes = int(np.prod(sizes, dtype=object))
    require_room(boxes * people.class_count)
    key = np.zeros(len(people.counts), dtype=np.int64)
    for column, cut in enumerate(cuts):
        starts = np.array([low for low, _ in cut.runs])
        key = key * len(starts) + np.searchsorted(starts, people.codes[:, column], side="right") - 1
    counts = np.bincount(
        key * people.class_count + people.classes, weights=people.counts, minlength=boxes * people.class_count
    )
    noisy = noisy_counts(rng, counts.astype(np.int64).reshape(boxes, people.class_count), epsilon=epsilon)
    lows, highs = np.empty((2, boxes, len(cuts)), dtype=np.int32)
    for column, (cut, places) in enumerate(zip(cuts, all_places(sizes), strict=True)):
        lows[:, column], highs[:, column] = np.array(cut.runs, dtype=np.int32)[places].T
    spread = variance(noise_scale(Fraction(1), epsilon))
    return NoisyTree(np.full(boxes, -1, dtype=np.int64), lows, highs, noisy, np.full(boxes, spread))


def require_room(counts: int) -> None:
    """Refuse more noisy counts than fit the memory; how many there are is public."""
    if counts > MOST_COUNTS:
        raise Unsatisfiable(
            f"{counts:,} noisy counts are more than fit the memory: every combination of values gets one, also where "
            "nobody is.  Hint: ask for fewer steps, or use consistent-diffgen, which leaves empty boxes alone."
        )
