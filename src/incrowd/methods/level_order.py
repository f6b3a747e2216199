"""The order in which sweeps try level vectors, and which they try where there are too many."""

from __future__ import annotations

import math

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice import Lattice, Levels

UNTRIED = "vectors of levels that were not tried"
"""What a release tells of a sweep that left some out."""
_MOST_LOOKS = 2_000_000_000
"""Sweeps look at tuples so often, over all vectors: half a minute to some minutes, by how much models look at."""
_MOST_CELLS = 40_000_000_000
"""Of tuples with many columns, they look at fewer: so many cells."""
_FOR_SWEEPING = 0.7
"""The share of a given time for looking at vectors; the rest is for what comes after."""


def by_loss(lattice: Lattice, most: int) -> Levels:
    """Return at most so many vectors in the order of what they lose, from the lowest to the highest levels.

    Where there would be too many, every other level of the highest hierarchies is left out; where that is not enough,
    columns that lose little go up together.
    """
    steps = lattice.mean_steps()
    blocks = [[np.array([level], dtype=np.int8) for level in allowed] for allowed in lattice.levels]
    order = [[place] for place in range(len(blocks))]
    while np.prod([float(len(block)) for block in blocks]) > most:
        longest = max(range(len(blocks)), key=lambda at: len(blocks[at]))
        if len(blocks[longest]) > 2:
            blocks[longest] = [*blocks[longest][:-1:2], blocks[longest][-1]]
            continue
        moving = [at for at in range(len(blocks)) if len(blocks[at]) == 2]
        cheap, other = sorted(moving, key=lambda at: sum(float(steps[place][-1]) for place in order[at]))[:2]
        blocks[cheap] = [np.concatenate(pair) for pair in zip(blocks[cheap], blocks[other], strict=True)]
        order[cheap] += order[other]
        del blocks[other], order[other]
    nodes = np.zeros((1, 0), dtype=np.int8)
    for block in blocks:
        rows = np.stack(block)
        nodes = np.concatenate([np.repeat(nodes, len(rows), axis=0), np.tile(rows, (len(nodes), 1))], axis=1)
    nodes = nodes[:, np.argsort(np.concatenate(order))]
    return nodes[np.lexsort((*nodes.T[::-1], lattice.mean_losses(nodes)))]


class Patience:
    """Which vectors a sweep still tries: evenly fewer where all would take too long, and the last one always.

    A quarter of the looks, and of the time, may be spent before it is known whether tuples fall off; later, as much as
    the share of vectors that are behind. Half of what is left is taken to fall off before it is looked at.
    """

    def __init__(self, vectors: int, columns: int, deadline: Deadline) -> None:
        self.untried = np.arange(vectors)
        self._vectors, self._deadline, self._looks = vectors, deadline, 0
        self._tried, self._behind = 0, 0
        self._start = deadline.share()
        self._most = min(_MOST_LOOKS, _MOST_CELLS / max(columns, 1))

    def next(self, most: int, tuples: int) -> Ints:
        """Return some of the vectors that are still tried, when so many tuples are left."""
        self.untried = self.untried[:: -self._step(tuples)][::-1]
        return self.untried[:most]

    def looked(self, vectors: int, tuples: int) -> None:
        """Take note that so many vectors were tried on so many tuples."""
        self._tried += vectors
        if vectors:
            self._behind = int(self.untried[vectors - 1]) + 1
        self.untried = self.untried[vectors:]
        self._looks += vectors * tuples

    def not_tried(self, *, all_done: bool) -> int:
        """Return how many vectors were left out: of those behind, if all tuples were done by then, or of all."""
        return (self._behind if all_done else self._vectors) - self._tried

    def _step(self, tuples: int) -> int:
        """Return n where one of n vectors is tried from now on."""
        time = (self._deadline.share() - self._start) / max(_FOR_SWEEPING - self._start, 1e-3)
        spent = max(self._looks / self._most, time)
        if not self._looks or spent <= max(self.untried[0] / self._vectors, 1 / 4):
            return 1
        left = self._looks / spent * max(1 - spent, 1 / 20)
        return math.ceil(len(self.untried) * tuples / 2 / left)
