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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats, Ints
from incrowd.dp.synthesis.beliefs import Beliefs, other_axes, widened
from incrowd.dp.synthesis.junction_tree import Columns, JunctionTree

_MEMORY = 12
_DESCENT = 1e-4
_MOST_HALVINGS = 20
_SMALLEST = 0.5


def grouped(counts: NDArray[Any], starts: Sequence[Ints]) -> NDArray[Any]:
    """Add up counts by groups of cells that follow each other: `starts[i]` are the first cells of axis i's groups."""
    for axis, first in enumerate(starts):
        if len(first) < counts.shape[axis]:
            counts = np.add.reduceat(counts, first, axis=axis)
    return counts


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy counts of some columns' groups of cells: `starts[i]` are the first cells of column i's groups."""

    columns: Columns
    starts: tuple[Ints, ...]
    noisy: Floats
    ridge: Floats
    """How little each count is trusted: r above."""


class _Place:
    """Where a measurement is in a junction tree."""

    def __init__(self, measurement: Measurement, beliefs: Beliefs) -> None:
        tree = beliefs.tree
        self.measurement = measurement
        self.host = tree.host(measurement.columns)
        clique = tree.cliques[self.host]
        self.others = other_axes(clique, measurement.columns)
        self.shape = widened(clique, measurement.columns, beliefs.sizes)
        sizes = [int(beliefs.sizes[column]) for column in measurement.columns]
        self.repeats = [
            None if len(starts) == size else np.diff(starts, append=size)
            for starts, size in zip(measurement.starts, sizes, strict=True)
        ]

    def spread(self, potentials: Floats) -> Floats:
        """Return a group's potentials for each of its cells."""
        for axis, repeats in enumerate(self.repeats):
            if repeats is not None:
                potentials = np.repeat(potentials, repeats, axis=axis)
        return potentials.reshape(self.shape)

    def expected(self, found: Sequence[Floats]) -> Floats:
        """Return how likely each group is."""
        belief = found[self.host]
        return grouped(belief.sum(axis=self.others) if self.others else belief, self.measurement.starts)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model: a junction tree, its cliques' probabilities, and the potentials that give them."""

    tree: JunctionTree
    probabilities: list[Floats]
    potentials: list[Floats]
    steps: int

    def expected(self, measurement: Measurement, sizes: Ints) -> Floats:
        """Return how likely each of a measurement's groups is."""
        return _Place(measurement, Beliefs(self.tree, sizes)).expected(self.probabilities)


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
    return _Problem(Beliefs(tree, sizes), measurements, max(rows, 1.0)).solve(start, most_steps, near)


class _Problem:
    def __init__(self, beliefs: Beliefs, measurements: Sequence[Measurement], rows: float) -> None:
        self._beliefs, self._rows = beliefs, rows
        self._places = [_Place(one, beliefs) for one in measurements]
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

    def _probabilities(self, flat: Floats) -> tuple[list[Floats], float]:
        potentials = [np.zeros(shape) for shape in self._beliefs.shapes]
        for place, one in zip(self._places, self._split(flat), strict=True):
            potentials[place.host] += place.spread(one)
        return self._beliefs.of(potentials)

    def _worth(self, scaled: Floats) -> tuple[float, Floats]:
        """Return what is to be least, and how it changes with the scaled potentials."""
        flat = scaled * self._scale
        found, log_sum = self._probabilities(flat)
        expected = np.concatenate([place.expected(found).ravel() for place in self._places]) * self._rows
        ridge = self._ridge * flat
        worth = self._rows * log_sum - float(self._wanted @ flat) + 0.5 * float(ridge @ flat)
        return worth, (expected - self._wanted + ridge) * self._scale

    def solve(self, start: Sequence[Floats], most_steps: int, near: float) -> Fitted:
        flat = np.zeros(len(self._wanted))
        for place, one in enumerate(start):
            flat[self._bounds[place] : self._bounds[place + 1]] = one.ravel()
        at = flat / self._scale
        worth, slope = self._worth(at)
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
                new_worth, new_slope = self._worth(there)
                if new_worth <= worth + _DESCENT * length * down:
                    break
                length /= 2
            else:
                break  # nothing is gained any more: floating point ends here
            moved, turned = there - at, new_slope - slope
            curved = float(moved @ turned)
            if curved > 1e-12 * float(turned @ turned):
                history.append((moved, turned, 1 / curved))
            at, worth, slope = there, new_worth, new_slope
            steps += 1
        found, _ = self._probabilities(at * self._scale)
        return Fitted(self._beliefs.tree, found, self._split(at * self._scale), steps)


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
