"""How many people of the population are like those of a sample: the mean of 1/F, given how many were drawn of them.

Each person of the population who looks a certain way is drawn with the same probability π, and f of them were. Then
F, how many there are, follows a negative binomial distribution: P(F = j) = C(j - 1, f - 1) π^f (1 - π)^(j - f) for
j ≥ f (Bethlehem, Keller & Pannekoek 1990; Benedetti & Franconi 1998). The mean of 1/F is

    π · ∫ u^(f - 1) / (π + (1 - π) u) du over 0 ≤ u ≤ 1  =  (π / f) · ₂F₁(1, 1; f + 1; 1 - π),

which is π/(1 - π) · log(1/π) for f = 1, and π/(1 - π) · (1/(f - 1) - the mean for f - 1) for each larger f. The series
is used where it converges fast (π ≥ 1/2, or many people), and the steps from f to f + 1 elsewhere, where each makes the
error smaller. Cost: some hundred steps over all groups at once.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Counts, Floats

_STEPS_UP_TO = 12
"""From one person on, so many steps are as exact as the series, which needs more terms the fewer people there are."""
_MOST_TERMS = 2_000
_NEGLIGIBLE = 1e-17


def mean_inverse(sampled: Counts, people: Floats) -> Floats:
    """Return the mean of 1/F, where `sampled` people were drawn and `people` is the sum of their weights.

    The sum of weights estimates F; π is taken as sampled / people. Where weights add up to fewer people than there
    are, everybody was drawn.

    >>> mean_inverse(np.array([1, 2, 5]), np.array([1.0, 20.0, 100.0])).round(4).tolist()
    [1.0, 0.0827, 0.0123]
    """
    drawn = np.maximum(sampled, 1)
    chance = drawn / np.maximum(people, drawn)
    by_steps = (chance < 0.5) & (drawn <= _STEPS_UP_TO)
    found = np.empty(len(drawn))
    found[by_steps] = _steps(drawn[by_steps], chance[by_steps])
    found[~by_steps] = _series(drawn[~by_steps], chance[~by_steps])
    return found


def _steps(drawn: Counts, chance: Floats) -> Floats:
    odds = chance / (1 - chance)
    found = -odds * np.log(chance)
    for number in range(2, _STEPS_UP_TO + 1):
        more = drawn >= number
        found[more] = odds[more] * (1 / (number - 1) - found[more])
    return found


def _series(drawn: Counts, chance: Floats) -> Floats:
    term, total = np.ones(len(drawn)), np.ones(len(drawn))
    for number in range(1, _MOST_TERMS):
        term = term * number / (drawn + number) * (1 - chance)
        total += term
        if (term <= _NEGLIGIBLE * total).all():
            break
    return np.asarray(chance / drawn * total)
