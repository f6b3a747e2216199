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
    shuffled: Ints = shuffle_columns(rng, items, starts, 1)[0]
    return shuffled


def shuffle_columns(rng: np.random.Generator, items: Ints, starts: Ints, columns: int) -> Ints:
    """Return so many copies of the items, one to a row, each shuffled by itself as `shuffle_within` does."""
    pieces = pieces_for(int(np.diff(starts).max(initial=1)))
    # Of the pieces, at most one in 256 is thrown away.
    number = len(items) + len(items) // 128 + _SPARE
    shuffled = np.empty((columns, len(items)), dtype=np.int64)

    def shuffle(place: int, chance: Any) -> bool:
        shuffled[place] = items
        return shuffle_runs(shuffled[place], starts, chance.view(pieces))

    done = 0
    while done < columns:
        # Chance is drawn in the order of the columns, whoever shuffles first.
        drawn = [words(rng, -(-number * pieces().itemsize // 8)) for _ in range(done, columns)]
        tasks = [partial(shuffle, place, chance) for place, chance in enumerate(drawn, start=done)]
        made = done + np.flatnonzero(do_together(tasks, steps=number * len(drawn)))
        shuffled[done : done + len(made)] = shuffled[made]  # where chance ran out, others take that place
        done += len(made)
    return shuffled
