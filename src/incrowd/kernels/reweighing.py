"""Compare what crowds show with what their people were expected to have, entry by entry of their histograms."""

from __future__ import annotations

import numpy as np

from incrowd.kernels.compiling import compiled


@compiled
def add_up(offsets, crowds, weights, starts, values, known, people):
    """Return, for each entry of a crowd's histogram, how many of its people were expected to have that value.

    Divided by how many people are expected in the crowd, so that only proportions matter.
    """
    expected = np.zeros(len(values))
    inside = np.zeros(len(starts) - 1)
    for person in range(len(offsets) - 1):
        for place in range(offsets[person], offsets[person + 1]):
            crowd = crowds[place]
            weight = weights[place] * people[person]
            inside[crowd] += weight
            for entry in range(starts[crowd], starts[crowd + 1]):
                expected[entry] += weight * known[person, values[entry]]
    for crowd in range(len(starts) - 1):
        if inside[crowd] > 0:
            for entry in range(starts[crowd], starts[crowd + 1]):
                expected[entry] /= inside[crowd]
    return expected


@compiled
def compare(offsets, crowds, weights, starts, values, counts, sizes, known, expected):
    """Return the belief in each value for each person; rows add up to 1."""
    beliefs = np.zeros(known.shape)
    for person in range(len(offsets) - 1):
        total = 0.0
        for place in range(offsets[person], offsets[person + 1]):
            crowd = crowds[place]
            inside = 0.0
            for entry in range(starts[crowd], starts[crowd + 1]):
                if expected[entry] > 0:
                    inside += counts[entry] / sizes[crowd] * known[person, values[entry]] / expected[entry]
            if inside <= 0:
                continue
            for entry in range(starts[crowd], starts[crowd + 1]):
                if expected[entry] > 0:
                    share = counts[entry] / sizes[crowd] * known[person, values[entry]] / expected[entry]
                    # A crowd is as likely as before: what is known of values says nothing of where the person is.
                    beliefs[person, values[entry]] += weights[place] * share / inside
                    total += weights[place] * share / inside
        if total > 0:
            beliefs[person] /= total
        else:
            beliefs[person] = known[person]
    return beliefs
