"""What is published of boxes that were counted one by one: counts that agree with their sum, or as they are printed."""

from __future__ import annotations

from typing import Literal

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.dp.boxes.consistency import agreeing_with_total
from incrowd.errors import RecipeError

LeafAdjustment = Literal["total", "as-printed"]


def require_adjustment(owner: str, adjust: object) -> None:
    """Refuse anything but a way to publish counts."""
    if adjust not in ("total", "as-printed"):
        raise RecipeError(f'{owner}: adjust is "total" or "as-printed", not {adjust!r}.')


def shown_counts(noisy: Ints, adjust: LeafAdjustment) -> Ints:
    """Return what is published of noisy counts, boxes × classes: never below 0.

    >>> shown_counts(np.array([[5], [-2], [3], [-1]]), "total").ravel().tolist()
    [4, 0, 1, 0]
    >>> shown_counts(np.array([[5], [-2], [3], [-1]]), "as-printed").ravel().tolist()
    [5, 0, 3, 0]
    """
    return np.maximum(noisy, 0) if adjust == "as-printed" else agreeing_with_total(noisy)
