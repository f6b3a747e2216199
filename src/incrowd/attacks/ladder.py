"""One person's ladder: with each attribute that somebody knows of them, the crowd that they could be shrinks, in the
table as it is and in the release.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.core.target import Target
from incrowd.errors import AttackError


@dataclass(frozen=True)
class Rung:
    """So many people fit what is known after one more attribute; `before` in the table, `after` in the release."""

    learnt: str
    before: int
    after: int


def ladder(target: Target, person: Codes, order: Sequence[str] | None = None) -> list[Rung]:
    """Return the crowd of a person, given by codes in the order of the view's columns, attribute by attribute.

    Attributes are learnt in the `order` given, or the most telling first.
    """
    truth, view = target.truth, target.view
    if truth is None:
        raise AttackError("a ladder needs the table before.  Hint: give it as the original.")
    left = np.ones(len(truth), dtype=bool)
    rungs = [Rung("nothing", truth.rows, view.rows)]
    learnt: list[str] = []
    for _ in view.columns:
        rest = [name for name in view.columns if name not in learnt]
        fits = {name: truth.column(name) == person[view.columns.index(name)] for name in rest}
        if order is None:
            name = min(rest, key=lambda name: int(truth.counts[left & fits[name]].sum()))
        else:
            name = order[len(learnt)]
        left &= fits[name]
        learnt.append(name)
        rungs.append(Rung(name, int(truth.counts[left].sum()), view.rows_fitting(person, learnt)))
    return rungs


def random_unusual_person(target: Target, rng: np.random.Generator) -> Codes:
    """Return a random person among those who are alone in the table, or in the smallest crowd there is."""
    people = target.people
    least = np.flatnonzero(people.tuple_counts == people.tuple_counts.min())
    person: Codes = people.tuples[int(rng.choice(least))]
    return person
