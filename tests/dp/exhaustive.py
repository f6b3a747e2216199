"""Work out exactly what a program that draws whole numbers does: run it along every path of its draws."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


class _NeedsDraw(Exception):
    def __init__(self, bound: int) -> None:
        self.bound = bound


class Paths:
    """Stands in for `below`: gives what the current path says, and stops where it ends."""

    def __init__(self) -> None:
        self.path: list[int] = []
        self.used = 0

    def below(self, rng: object, bound: int, number: int) -> NDArray[np.int64]:
        drawn = []
        for _ in range(number):
            if bound == 1:
                drawn.append(0)
                continue
            if self.used == len(self.path):
                raise _NeedsDraw(bound)
            drawn.append(self.path[self.used])
            self.used += 1
        return np.array(drawn, dtype=np.int64)

    def outcomes(self, program: Callable[[], Any], *, leave: Fraction) -> tuple[dict[Any, Fraction], Fraction]:
        """Return each outcome's probability, and that of the paths not followed, each less likely than `leave`."""
        known: dict[Any, Fraction] = {}
        unknown = Fraction(0)
        open_paths = [((), Fraction(1))]
        while open_paths:
            path, probability = open_paths.pop()
            if probability < leave:
                unknown += probability
                continue
            self.path, self.used = list(path), 0
            try:
                outcome = program()
            except _NeedsDraw as needs:
                open_paths += [((*path, drawn), probability / needs.bound) for drawn in range(needs.bound)]
            else:
                known[outcome] = known.get(outcome, Fraction(0)) + probability
        return known, unknown
