"""Put the members of each group in random order, every order as likely as any other.

Cost: linear; one word of chance for each member.
"""

from __future__ import annotations

import numpy as np

from incrowd.randomness import words
from incrowd.slicing.sliced import Ints

_SPARE = 64


def shuffle_within(rng: np.random.Generator, items: Ints, starts: Ints) -> Ints:
    """Return the items with the runs `starts[i]:starts[i + 1]` each shuffled by itself."""
    from incrowd.kernels.slicing_shuffle import shuffle_runs

    while True:
        shuffled = items.copy()
        if shuffle_runs(shuffled, starts, words(rng, len(items) + _SPARE)):
            return shuffled
