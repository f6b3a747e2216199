"""Put the members of each group in random order, every order as likely as any other.

Cost: linear; one word of chance for each member, of as few bits as the largest group allows.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.randomness import pieces_for, words
from incrowd.kernels.slicing_shuffle import shuffle_runs

_SPARE = 64


def shuffle_within(rng: np.random.Generator, items: Ints, starts: Ints) -> Ints:
    """Return the items with the runs `starts[i]:starts[i + 1]` each shuffled by itself."""
    pieces = pieces_for(int(np.diff(starts).max(initial=1)))
    # Of the pieces, at most one in 256 is thrown away.
    number = len(items) + len(items) // 128 + _SPARE
    while True:
        shuffled = items.copy()
        if shuffle_runs(shuffled, starts, words(rng, -(-number * pieces().itemsize // 8)).view(pieces)):
            return shuffled
