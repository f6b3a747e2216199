"""Drawing categories whose odds depend on a condition, a whole column at a time.

The odds of every condition are laid end to end on one line: condition c owns the stretch from c to c + 1, cut
into pieces as long as the odds of its values. A uniform number in a person's own stretch then falls into the
piece of the value that is drawn, so one binary search serves all people of all conditions. A draw costs
O(log(conditions × values)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.records import dataclass

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class ConditionalDraw:
    """Values to draw, with odds that depend on a condition."""

    cuts: Numbers
    values: int

    @classmethod
    def of(cls, weights: Numbers) -> ConditionalDraw:
        """Return the draw with these weights, [condition, value]; a value of weight zero never comes.

        >>> draw = ConditionalDraw.of(np.array([[1.0, 0.0], [0.0, 1.0]]))
        >>> draw.draw(np.random.default_rng(), np.array([0, 1, 1]))
        array([0, 1, 1])
        """
        shares = np.cumsum(weights, axis=1, dtype=np.float64)
        # Divided by its own end, every running total ends at exactly 1: nobody can fall out of a stretch.
        shares /= shares[:, -1:]
        stretches = shares + np.arange(len(weights))[:, None]
        return cls(cuts=stretches.ravel(), values=weights.shape[1])

    def draw(self, rng: np.random.Generator, conditions: Codes) -> Codes:
        """Return the code of one value for each of these conditions."""
        # 24 random bits added to a condition's number are exact in a double. More bits could round up to the
        # end of the stretch and hand someone a value of the next condition.
        points = conditions + rng.random(len(conditions), dtype=np.float32).astype(np.float64)
        pieces = np.searchsorted(self.cuts, points, side="right")
        return pieces - conditions * self.values


def draw_unconditionally(rng: np.random.Generator, weights: Numbers, rows: int) -> Codes:
    """Return the codes of values drawn with these weights, the same for everyone."""
    return ConditionalDraw.of(weights[None, :]).draw(rng, np.zeros(rows, dtype=np.int64))
