"""Beliefs of somebody who knows more of a person than the release shows: how their values go with what is known.

Such an adversary believes in value s of person t, before any release, by f(s|t). In a crowd that shows s so many times,
the belief becomes proportional to share(s) · f(s|t) / f(s|crowd), where f(s|crowd) is the mean over everybody who could
be in it (Machanavajjhala et al. 2007, theorem 3.1). Cost: as `beliefs.py`, twice.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Counts, Floats
from incrowd.core.view import Crowds, Matches
from incrowd.kernels.reweighing import add_up, compare


def reweigh(matches: Matches, crowds: Crowds, known: Floats, people: Counts) -> Floats:
    """Return what is believed of each person after the release, `known[t, s]` being what was believed before.

    `people` are as many as each row stands for. Where release and knowledge contradict each other in all crowds, or
    nothing fits the person, the belief stays as it was.
    """
    entries = crowds.values
    pooled = add_up(
        matches.offsets, matches.crowds, matches.weights, entries.offsets, entries.values, known,
        people.astype(np.float64),
    )  # fmt: skip
    return compare(
        matches.offsets, matches.crowds, matches.weights, entries.offsets, entries.values, entries.counts, crowds.sizes,
        known, pooled,
    )  # fmt: skip
