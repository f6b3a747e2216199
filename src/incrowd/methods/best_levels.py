"""An exact search for the level vector that loses least.

It looks at a vector only if what is known of others does not rule it out (`lattice_evaluation.py`), from the top, since
each one rules out or bounds all that are more specific. Losses that are not known beforehand bound the less specific
ones too; a short best-first search then goes before, so that there is something good to hold bounds against.

Cost: vectors looked at × rows of the tables that they are counted from; some bytes for every vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Ints
from incrowd.common.progress import Progress
from incrowd.methods.best_first import search_best_first
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice_evaluation import LatticeEvaluation, Look

_LOOKS_BEFORE = 200
_LOOKS_BETWEEN_COUNTS = 20


def search_all(search: LatticeEvaluation, deadline: Deadline, progress: Progress) -> bool:
    """Look for the best of all vectors; return whether it is proven, or time ran out before."""
    bounds = search.grid_of_bounds()
    added = np.zeros_like(bounds)
    is_open = np.ones(bounds.shape, dtype=bool)
    lowest = np.array([allowed.start for allowed in search.lattice.levels])

    def learn(look: Look) -> None:
        """Rule out and bound other vectors by what was found at one."""
        place = look.levels - lowest
        below = tuple(slice(0, at + 1) for at in place)
        if look.withheld_below > search.most_withheld:
            is_open[below] = False
        else:
            np.maximum(added[below], look.added_below, out=added[below])
        is_open[tuple(place)] = False
        if not search.known_beforehand:
            above = tuple(slice(at, None) for at in place)
            np.maximum(bounds[above], look.unwithheld, out=bounds[above])

    if not search.known_beforehand:
        search_best_first(search, deadline, progress, most_looks=_LOOKS_BEFORE)
        for look in list(search.looks.values()):
            learn(look)
    flat_bounds, flat_added, flat_open = bounds.ravel(), added.ravel(), is_open.ravel()  # views
    done = 0.0
    for layer in _layers(bounds.shape):
        layer = layer[flat_open[layer]]
        for place in layer[np.argsort(flat_bounds[layer], kind="stable")].tolist():
            if not flat_open[place] or flat_bounds[place] + flat_added[place] > search.to_beat:
                continue
            if deadline.passed() and search.looks:
                return False
            levels = (lowest + np.unravel_index(place, bounds.shape)).astype(np.int8)
            learn(search.look(levels, float(flat_bounds[place])))
            if len(search.looks) % _LOOKS_BETWEEN_COUNTS == 1:
                done = 1.0 - np.count_nonzero(is_open) / is_open.size
            progress("searching", done)
    return True


def _layers(shape: tuple[int, ...]) -> list[Ints]:
    """Return the places of a grid by the sum of their levels, the highest sum first."""
    depths: NDArray[np.int16] = np.zeros((), dtype=np.int16)
    for levels in shape:
        depths = np.add(depths[..., None], np.arange(levels - 1, -1, -1, dtype=np.int16))
    order = np.argsort(depths.ravel(), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depths.ravel()[order])) + 1)
