"""Linkage (Sweeney 2002): find the row of somebody whose quasi-identifiers are known. The prosecutor's risk: the
adversary knows that the person is in the table, and picks one of the rows that fit.

In sliced and bucketized tables the row that matters is the one with the sensitive value. Cost: that of the matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.common.arrays import Counts, Floats
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target


@dataclass(frozen=True)
class Linkage(Attack):
    """Pick one of the rows that a person could be, all equally likely.

    Reference: Sweeney (2002).
    """

    name: ClassVar[str] = "linkage"
    threat: ClassVar[Threat] = "linkability"
    stream: ClassVar[int | None] = 0

    def lacks(self, target: Target) -> str | None:
        """Rows that belong to people are needed."""
        return "noisy counts have no row that is anybody's" if target.form.private else None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the row is the person's own.

        A person who fits nothing is safe, and so is one who is not published and fits the rows of others: of all who
        fit, as large a share has a row of their own as there are rows.
        """
        candidates, people = crowd_sizes(target)
        chances = np.divide(1.0, candidates, out=np.zeros_like(candidates), where=candidates > 0)
        number = int(people.sum())
        everybody = number if target.truth is None else target.truth.rows
        fitting = float(people[candidates > 0].sum()) * everybody / max(number, 1)
        published = min(1.0, target.view.rows / fitting) if fitting else 0.0
        value = published * float((people * chances).sum() / max(number, 1))
        worst = float(chances.max(initial=0.0))
        return risk_of(
            self,
            value=value,
            baseline=1 / max(target.view.rows, 1),
            people=number,
            worst=worst,
            says=f"A person's row is found in {value:.2%} of the cases; the easiest to find hides among "
            f"{1 / worst:,.0f}."
            if worst
            else "No row fits anybody.",
            details={
                "alone": float(people[(candidates > 0) & (candidates < 2)].sum() / max(number, 1)),
                "above a fifth": float(people[chances > 0.2].sum() / max(number, 1)),
            },
        )


def crowd_sizes(target: Target) -> tuple[Floats, Counts]:
    """Return how many rows each kind of person could be, and how many people are of the kind."""
    column = target.view.sensitive[0] if target.view.sensitive else None
    sizes = target.view.crowds(column).sizes
    if target.truth is None:
        return sizes.astype(np.float64), sizes
    return target.matches(column).total(sizes), target.people.tuple_counts
