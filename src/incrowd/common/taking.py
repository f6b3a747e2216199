"""Look up many places of arrays at once, as many as there are threads at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.threads import do_together, shares

Item = TypeVar("Item", bound=np.generic)


def take_rows(array: NDArray[Item], places: NDArray[np.int64]) -> NDArray[Item]:
    """Return the rows of an array at some places."""
    (taken,) = take_together([array], places)
    return taken


def take_together(arrays: Sequence[NDArray[Any]], places: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Return the rows of several arrays at the same places."""
    ranges = shares(len(places), steps=len(places) * len(arrays))
    if len(ranges) == 1:
        return [array.take(places, axis=0) for array in arrays]
    taken = [np.empty((len(places), *array.shape[1:]), dtype=array.dtype) for array in arrays]

    def take(array: NDArray[Any], into: NDArray[Any], first: int, last: int) -> None:
        into[first:last] = array.take(places[first:last], axis=0)

    tasks = [partial(take, array, into, *reach) for reach in ranges for array, into in zip(arrays, taken, strict=True)]
    do_together(tasks, steps=len(places) * len(arrays))
    return taken
