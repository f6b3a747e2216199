"""Linkage (Sweeney 2002): find the row of somebody whose quasi-identifiers are known. The prosecutor's risk: the
adversary knows that the person is in the table, and picks one of the rows that fit.

In sliced and bucketized tables the row that matters is the one with the sensitive value. Cost: that of the matches.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.beliefs import ROUNDING, by_rule
from incrowd.attacks.tightest_fit import chances_by_tightest_fit
from incrowd.common.arrays import Counts, Floats
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.core.view import EVERY_ROW, TIGHTEST


@dataclass(frozen=True)
class Linkage(Attack):
    """Pick one of the rows that a person could be: any of them, or one whose labels fit most tightly.

    Reference: Sweeney (2002).
    """

    name: ClassVar[str] = "linkage"
    plain_name: ClassVar[str] = "finding a person's row"
    threat: ClassVar[Threat] = "linkability"
    stream: ClassVar[int | None] = 0

    def lacks(self, target: Target) -> str | None:
        """Rows that belong to people are needed."""
        return "noisy counts have no row that is anybody's" if target.form.private else None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the row is the person's own, by the better of two rules: all rows that fit are as likely,
        or the row is among those whose labels fit most tightly (`tightest_fit.py`).
        """
        ways = ways_to_pick(target)
        best = max(ways, key=lambda way: way.rate)
        worst = best.chances.max(initial=0.0)
        return risk_of(
            self,
            value=best.rate,
            baseline=1 / max(target.view.rows, 1),
            people=best.number,
            worst=float(worst),
            says=f"A person's row is found in {percent(best.rate, 2)} of the cases; the easiest to find hides among "
            f"{1 / worst:,.0f}.{by_rule(best.rule)}"
            if worst
            else "No row fits anybody.",
            exposed=best.sure * best.number,
            details={
                "alone": best.share((best.candidates > 0) & (best.candidates < 2)),
                "above a fifth": best.share(best.chances > 0.2 + ROUNDING),
            },
        )


@dataclass(frozen=True, eq=False)
class WayToPick:
    """How an adversary picks a row: kind i of `people[i]` people has so many `candidates`, and a chance to be found."""

    rule: str
    candidates: Floats
    chances: Floats
    people: Counts
    rate: float
    """The mean chance; lower than that of `chances` where some who fit are not published."""
    published: float = 1.0
    """The share of those who fit that is published, where `chances` do not tell."""

    @property
    def sure(self) -> float:
        """The share of people whose row is found for sure."""
        return self.published * self.share(self.chances >= 1 - ROUNDING)

    @property
    def number(self) -> int:
        """How many people are looked for."""
        return int(self.people.sum())

    def share(self, of: NDArray[np.bool_]) -> float:
        """Return the share of people who are of some kinds."""
        return float(self.people[of].sum() / max(self.number, 1))


def ways_to_pick(target: Target) -> list[WayToPick]:
    """Return the ways to pick one of the rows that a person could be, that of all rows alike first."""
    return target.share("ways to pick", lambda: _ways_to_pick(target))


def _ways_to_pick(target: Target) -> list[WayToPick]:
    ways = [_any_row(target)]
    tight = chances_by_tightest_fit(target)
    if tight is not None:
        people = target.people
        chances, candidates = (numbers[people.lines] for numbers in tight)
        rate = float((people.counts * chances).sum() / max(people.number, 1))
        ways.append(WayToPick(TIGHTEST, candidates, chances, people.counts, rate))
    return ways


def _any_row(target: Target) -> WayToPick:
    """A person who fits nothing is safe, and so is one who is not published and fits the rows of others: of all who
    fit, as large a share has a row of their own as there are rows.
    """
    candidates, people = crowd_sizes(target)
    chances = np.divide(1.0, candidates, out=np.zeros_like(candidates), where=candidates > 0)
    number = int(people.sum())
    everybody = number if target.truth is None else target.truth.rows
    fitting = float(people[candidates > 0].sum()) * everybody / max(number, 1)
    published = min(1.0, target.view.rows / fitting) if fitting else 0.0
    rate = published * float((people * chances).sum() / max(number, 1))
    return WayToPick(EVERY_ROW, candidates, chances, people, rate, published)


def crowd_sizes(target: Target) -> tuple[Floats, Counts]:
    """Return how many rows each kind of person could be, and how many people are of the kind."""
    column = target.view.sensitive[0] if target.view.sensitive else None
    sizes = target.view.crowds(column).sizes
    if target.truth is None:
        return sizes.astype(np.float64), sizes
    return target.matches(column).total(sizes), target.people.tuple_counts
