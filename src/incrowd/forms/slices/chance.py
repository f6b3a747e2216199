"""Put the members of each group in random order, every order as likely as any other.

Cost: linear; one word of chance for each member, of as few bits as the largest group allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.randomness import pieces_for, words
from incrowd.kernels.slicing_shuffle import shuffle_runs

_SPARE = 64


def shuffle_within(rng: np.random.Generator, items: Ints, starts: Ints) -> Ints:
    """Return the items with the runs `starts[i]:starts[i + 1]` each shuffled by itself."""
    shuffled: Ints = shuffle_columns(rng, items, starts, 1)[0]
    return shuffled


def shuffle_columns(rng: np.random.Generator, items: Ints, starts: Ints, columns: int) -> Ints:
    """Return so many copies of the items, one to a row, each shuffled by itself as `shuffle_within` does."""
    pieces = pieces_for(int(np.diff(starts).max(initial=1)))
    # Of the pieces, at most one in 256 is thrown away.
    number = len(items) + len(items) // 128 + _SPARE
    shuffled = np.empty((columns, len(items)), dtype=np.int64)
    place = 0
    while place < columns:
        # One column after the other: threads share the runs of each. Where chance runs out, it is made again.
        chance: Any = words(rng, -(-number * pieces().itemsize // 8)).view(pieces)
        place += shuffle_runs(items, starts, chance, shuffled[place])
    return shuffled
