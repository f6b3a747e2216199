"""At most so many rows of each person, chosen by chance: what differential privacy per person is promised on.

Every set of so many of a person's rows is as likely as any other, and what is kept of one person does not depend on
anybody else. Equal rows are counts, so the choice is one of counts. Cost: one random word, and a place in a sort, for
each row of people who have more.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Counts, Ints
from incrowd.common.randomness import words


def keep_rows(rng: np.random.Generator, person_of: Ints, counts: Counts, most_rows: int) -> Counts:
    """Return how many of each entry's rows are kept: `counts[i]` rows of one kind are person `person_of[i]`'s.

    People are whole numbers from 0 on. For one seed, the order of entries matters: sort them by something of the table.
    """
    each = np.bincount(person_of, weights=counts).astype(np.int64)
    more = each[person_of] > most_rows
    kept = counts.copy()
    if not more.any():
        return kept
    entries = np.flatnonzero(more)
    entry_of = np.repeat(entries, counts[entries])
    first = _in_random_order(rng, person_of[entry_of])
    owners = person_of[entry_of][first]
    new = np.append(True, owners[1:] != owners[:-1])
    starts = np.flatnonzero(new)
    place = np.arange(len(owners)) - starts[np.cumsum(new) - 1]
    kept[entries] = 0
    kept += np.bincount(entry_of[first[place < most_rows]], minlength=len(counts))
    return kept


def _in_random_order(rng: np.random.Generator, person_of: Ints) -> Ints:
    """Return the rows person by person, those of each in random order, each order as likely as any other."""
    while True:
        keys = words(rng, len(person_of))
        order = np.lexsort((keys, person_of))
        owners, ordered = person_of[order], keys[order]
        if not ((owners[1:] == owners[:-1]) & (ordered[1:] == ordered[:-1])).any():
            return order
