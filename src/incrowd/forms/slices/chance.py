"""Put the members of each group in random order, every order as likely as any other.

Cost: linear; one word of chance for each member, of as few bits as the largest group allows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from incrowd.common.arrays import Ints
from incrowd.common.randomness import pieces_for, words
from incrowd.common.threads import do_together
from incrowd.kernels.slicing_shuffle import shuffle_runs

_SPARE = 64


def shuffle_within(rng: np.random.Generator, items: Ints, starts: Ints) -> Ints:
    """Return the items with the runs `starts[i]:starts[i + 1]` each shuffled by itself."""
    (shuffled,) = shuffle_columns(rng, items, starts, 1)
    return shuffled


def shuffle_columns(rng: np.random.Generator, items: Ints, starts: Ints, columns: int) -> list[Ints]:
    """Return so many copies of the items, each shuffled by itself as `shuffle_within` does."""
    pieces = pieces_for(int(np.diff(starts).max(initial=1)))
    # Of the pieces, at most one in 256 is thrown away.
    number = len(items) + len(items) // 128 + _SPARE

    def shuffle(chance: Any) -> Ints | None:
        shuffled = items.copy()
        return shuffled if shuffle_runs(shuffled, starts, chance.view(pieces)) else None

    found: list[Ints] = []
    while len(found) < columns:
        # Chance is drawn in the order of the columns, whoever shuffles first.
        drawn = [words(rng, -(-number * pieces().itemsize // 8)) for _ in range(columns - len(found))]
        made = do_together([partial(shuffle, chance) for chance in drawn], steps=number * len(drawn))
        found += [one for one in made if one is not None]
    return found
