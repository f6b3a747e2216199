"""Pick one of the rows that could be a person's. Cost: one look at the crowds of each distinct person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target


@dataclass(frozen=True)
class TinyAttack(Attack):
    """Pick a row among all that fit what is known of a person, each as likely as another."""

    name: ClassVar[str] = "tiny-attack"
    threat: ClassVar[Threat] = "linkability"

    def lacks(self, target: Target) -> str | None:
        """Somebody to look for is needed."""
        return None if target.truth is not None else "the table before is needed"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the pick is right, at most: rows that were withheld are looked for in vain."""
        people = target.people
        fitting = target.matches(None).total(target.view.crowds(None).sizes)
        found = np.divide(1.0, fitting, out=np.zeros(len(fitting)), where=fitting >= 1)
        rate = float((found * people.tuple_counts).sum() / max(people.number, 1))
        return risk_of(
            self,
            value=min(rate, 1.0),
            baseline=1 / max(target.view.rows, 1),
            people=people.number,
            worst=float(found.max(initial=0.0)),
            says=f"A row that is picked among those that fit is the person's in {rate:.1%} of the cases.",
        )
