"""A tree of noisy counts with few generations: boxes are counted again whenever their number has grown enough.

Counting after every single specialization leaves little of ε for each count. Here specializations are taken together
until all combinations are `fanout` times as many boxes (Qardaji, Yang & Li 2013 found about 16 children best for
ranges), and each generation gets twice the ε of the one above it: there are more boxes to add up (after Cormode et al.
2012). A box that seems empty is not divided any further; it, and one that no specialization is left for, is counted
with all that its people have left. Everybody is in one box of each generation, so what a path spends is ε, exactly;
how it is divided depends on the specializations and on noisy counts alone. Cost: boxes, and for each specialization one
pass over the distinct tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.records import dataclass
from incrowd.dp.boxes.box_cuts import Run, Specialization
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.noisy_tree import NoisyTree, require_room
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance

_NOWHERE = -1


def generations_of(steps: Sequence[Specialization], fanout: int) -> list[list[Specialization]]:
    """Take specializations together until there are `fanout` times as many combinations of runs as before them."""
    runs: dict[int, int] = {}
    found: list[list[Specialization]] = [[]]
    before = boxes = 1
    for step in steps:
        had = runs.get(step.column, 1)
        runs[step.column] = had + len(step.children) - 1
        boxes = boxes // had * runs[step.column]
        found[-1].append(step)
        if boxes >= fanout * before:
            before = boxes
            found.append([])
    return [together for together in found if together]


def grow_by_levels(
    people: People,
    roots: Sequence[Run],
    steps: Sequence[Specialization],
    *,
    epsilon: Fraction,
    fanout: int,
    patience: float,
    rng: np.random.Generator,
) -> NoisyTree:
    """Count the boxes of each generation with noise; below what seems empty, nothing but the box itself again.

    A box seems empty if its noisy count, over all classes, is below `patience` standard deviations.
    """
    generations = generations_of(steps, fanout)
    # What is left is divided by 1 : 2 : 4 : …
    weights = [Fraction(2**level, 2 ** (len(generations) + 1) - 1) for level in range(len(generations) + 1)]
    tree = _LevelTree(people, rng)
    boxes = _Boxes.root(roots, len(people.counts))
    left = epsilon
    for level, weight in enumerate(weights):
        if level:
            for step in generations[level - 1]:
                boxes = boxes.specialize(step, people)
        later = [step for together in generations[level:] for step in together]
        divisible = boxes.divisible(later)
        tree.count(boxes.only(~divisible), left)
        boxes = boxes.only(divisible)
        if not len(boxes):
            break
        share = epsilon * weight
        boxes, totals = tree.count(boxes, share)
        left -= share
        empty = totals < patience * np.sqrt(_variance(share) * people.class_count)
        tree.count(boxes.only(empty), left)
        boxes = boxes.only(~empty)
    return tree.grown()


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes of one generation: the box of the tree above each, their runs, and which of them each tuple is in."""

    parents: Ints
    lows: Codes
    highs: Codes
    box_of: Ints

    @classmethod
    def root(cls, roots: Sequence[Run], tuples: int) -> _Boxes:
        ends = np.array(roots, dtype=np.int32).T[:, None, :]
        return cls(np.array([-1]), ends[0], ends[1], np.zeros(tuples, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.parents)

    def only(self, chosen: Bools) -> _Boxes:
        """Return some of the boxes, and who is in them."""
        place = np.where(chosen, np.cumsum(chosen) - 1, _NOWHERE)
        return _Boxes(self.parents[chosen], self.lows[chosen], self.highs[chosen], _look_up(place, self.box_of))

    def divisible(self, later: Sequence[Specialization]) -> Bools:
        """Return which boxes a later specialization divides."""
        found = np.zeros(len(self), dtype=bool)
        for step in later:
            found |= (self.lows[:, step.column] <= step.run[0]) & (step.run[1] <= self.highs[:, step.column])
        return found

    def specialize(self, step: Specialization, people: People) -> _Boxes:
        """Divide the boxes that hold a run; the others stay as they are."""
        column, children = step.column, np.array(step.children, dtype=np.int32)
        holds = (self.lows[:, column] == step.run[0]) & (self.highs[:, column] == step.run[1])
        parts = np.where(holds, len(children), 1)
        require_room(int(parts.sum()) * people.class_count)
        source = np.repeat(np.arange(len(self)), parts)
        first = np.cumsum(parts) - parts
        divided = holds[source]
        child = (np.arange(len(source)) - first[source])[divided]
        lows, highs = self.lows[source], self.highs[source]
        lows[divided, column], highs[divided, column] = children[child].T
        somewhere = np.flatnonzero(self.box_of >= 0)
        was_in = self.box_of[somewhere]
        part = np.searchsorted(children[1:, 0], people.codes[somewhere, column], side="right")
        box_of = np.full_like(self.box_of, _NOWHERE)
        box_of[somewhere] = first[was_in] + np.where(holds[was_in], part, 0)
        return _Boxes(self.parents[source], lows, highs, box_of)


class _LevelTree:
    """All boxes that have been counted so far."""

    def __init__(self, people: People, rng: np.random.Generator) -> None:
        self._people, self._rng = people, rng
        self._parts: list[NoisyTree] = []
        self._total = 0

    def count(self, boxes: _Boxes, epsilon: Fraction) -> tuple[_Boxes, Ints]:
        """Add boxes to the tree; return the same boxes as their own parents, and the noisy number of people in each."""
        people = self._people
        require_room((self._total + len(boxes)) * people.class_count)
        inside = boxes.box_of >= 0
        key = boxes.box_of[inside] * people.class_count + people.classes[inside]
        cells = len(boxes) * people.class_count
        counts = np.bincount(key, weights=people.counts[inside], minlength=cells).astype(np.int64)
        noisy = noisy_counts(self._rng, counts.reshape(len(boxes), people.class_count), epsilon=epsilon)
        spread = np.full(len(boxes), _variance(epsilon))
        self._parts.append(NoisyTree(boxes.parents, boxes.lows, boxes.highs, noisy, spread))
        places = self._total + np.arange(len(boxes))
        self._total += len(boxes)
        return _Boxes(places, boxes.lows, boxes.highs, boxes.box_of), noisy.sum(axis=1)

    def grown(self) -> NoisyTree:
        return NoisyTree(
            np.concatenate([part.parents for part in self._parts]),
            np.concatenate([part.lows for part in self._parts]),
            np.concatenate([part.highs for part in self._parts]),
            np.concatenate([part.noisy for part in self._parts]),
            np.concatenate([part.variances for part in self._parts]),
        )


def _look_up(place: Ints, box_of: Ints) -> Ints:
    found = np.full_like(box_of, _NOWHERE)
    somewhere = box_of >= 0
    found[somewhere] = place[box_of[somewhere]]
    return found


def _variance(epsilon: Fraction) -> float:
    return variance(noise_scale(Fraction(1), epsilon))
