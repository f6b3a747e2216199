"""The table of maximum entropy that agrees with noisy counts, each as far as its noise allows.

Find potentials θ, one for each counted cell, at which

    N·ln Z(θ) − Σ y·θ + Σ r·θ²/2

is least: N is the number of rows, y are the noisy counts, Z is what the potentials add up to over all combinations of
values, and r is some part of the variance of a count's noise. Where r is 0 this is maximum likelihood, as if y had no
noise; the larger r, the less a count moves the model away from what all others say. It is the dual of minimizing the
relative entropy and the squared distances, weighed by 1/r (Dudík, Phillips & Schapire 2007; graphical models in
McKenna, Sheldon & Miklau 2019 are the limit of small r). It is smooth and strictly convex: L-BFGS finds the least
point in some tens of steps, fewer from a start nearby. Cost: steps times a pass over the cells of the junction tree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.synthesis.beliefs import clique_tables, other_axes, tree_arrays
from incrowd.dp.synthesis.junction_tree import JunctionTree
from incrowd.dp.synthesis.measurement import Measurement, grouped
from incrowd.kernels.potentials import likely_cells

_MEMORY = 12
_DESCENT = 1e-4
_MOST_HALVINGS = 20
_SMALLEST = 0.5


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model: a junction tree, its cliques' probabilities, and the potentials that give them."""

    tree: JunctionTree
    probabilities: list[Floats]
    potentials: list[Floats]
    steps: int

    def expected(self, measurement: Measurement) -> Floats:
        """Return how likely each of a measurement's groups is."""
        host = self.tree.host(measurement.columns)
        others = other_axes(self.tree.cliques[host], measurement.columns)
        return grouped(self.probabilities[host].sum(axis=others), measurement.starts)


def fit(
    sizes: Ints,
    measurements: Sequence[Measurement],
    rows: float,
    start: Sequence[Floats] = (),
    *,
    most_steps: int,
    near: float,
) -> Fitted:
    """Return the model that agrees with measurements; `start` are potentials of the first of them, from before.

    It ends when no expected count is further from where it should be than `near` times its own standard deviation.
    """
    tree = JunctionTree.of(sizes, [one.columns for one in measurements])
    return _Problem(tree, sizes, measurements, max(rows, 1.0)).solve(start, most_steps, near)


class _Problem:
    def __init__(self, tree: JunctionTree, sizes: Ints, measurements: Sequence[Measurement], rows: float) -> None:
        self._tree, self._rows = tree, rows
        self._arrays = tree_arrays(tree, sizes, measurements)
        # All add up to the same number of rows: what is left over is noise.
        wanted = [one.noisy + (rows - one.noisy.sum()) / one.noisy.size for one in measurements]
        self._shapes = [one.shape for one in wanted]
        self._bounds = np.cumsum([0, *[one.size for one in wanted]])
        self._wanted = np.concatenate([one.ravel() for one in wanted])
        self._ridge = np.concatenate([one.ridge.ravel() for one in measurements])
        self._scale = 1 / np.sqrt(np.maximum(self._wanted, _SMALLEST) + self._ridge)

    def _split(self, flat: Floats) -> list[Floats]:
        return [
            flat[first:last].reshape(shape)
            for first, last, shape in zip(self._bounds[:-1], self._bounds[1:], self._shapes, strict=True)
        ]

    def _worth(self, scaled: Floats) -> tuple[float, Floats, Floats]:
        """Return what is to be least, how it changes with the scaled potentials, and how likely all cells are."""
        flat = scaled * self._scale
        log_sum, found, expected = likely_cells(self._arrays, flat)
        ridge = self._ridge * flat
        worth = self._rows * log_sum - float(self._wanted @ flat) + 0.5 * float(ridge @ flat)
        return worth, (expected * self._rows - self._wanted + ridge) * self._scale, found

    def solve(self, start: Sequence[Floats], most_steps: int, near: float) -> Fitted:
        flat = np.zeros(len(self._wanted))
        for place, one in enumerate(start):
            flat[self._bounds[place] : self._bounds[place + 1]] = one.ravel()
        at = flat / self._scale
        worth, slope, found = self._worth(at)
        history: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
        steps = 0
        while steps < most_steps and float(np.abs(slope).max(initial=0.0)) > near:
            way = -_newton(slope, history)
            down = float(way @ slope)
            if down >= 0:
                history.clear()
                way, down = -slope, -float(slope @ slope)
            length = 1.0
            for _ in range(_MOST_HALVINGS):
                there = at + length * way
                new_worth, new_slope, new_found = self._worth(there)
                if new_worth <= worth + _DESCENT * length * down:
                    break
                length /= 2
            else:
                break  # nothing is gained any more: floating point ends here
            moved, turned = there - at, new_slope - slope
            curved = float(moved @ turned)
            if curved > 1e-12 * float(turned @ turned):
                history.append((moved, turned, 1 / curved))
            at, worth, slope, found = there, new_worth, new_slope, new_found
            steps += 1
        return Fitted(self._tree, clique_tables(self._tree, self._arrays, found), self._split(at * self._scale), steps)


def _newton(slope: Floats, history: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Return about the slope over the curvature, as the last steps tell it (Nocedal's two loops)."""
    way = slope.copy()
    weights = []
    for moved, turned, inverse in reversed(history):
        weight = inverse * float(moved @ way)
        way -= weight * turned
        weights.append(weight)
    if history:
        _, turned, inverse = history[-1]
        way /= inverse * float(turned @ turned)
    for (moved, turned, inverse), weight in zip(history, reversed(weights), strict=True):
        way += moved * (weight - inverse * float(turned @ way))
    return way
