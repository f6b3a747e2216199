"""The likeliest value: guess what most people have who look like somebody. No knowledge is needed but the files.

It is what every other attack by inference is measured by: a trick that does worse than this helps nobody.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import best_way, by_rule, ways_to_believe
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target


@dataclass(frozen=True)
class LikeliestValue(Attack):
    """Guess the most frequent value of the crowd that a person could be in; ties are decided by a coin.

    Parameters
    ----------
    column : the sensitive column to infer (default: the only one).

    Where labels overlap, crowds are weighed by each rule that needs nothing but the files, and the best counts.

    Reference: Machanavajjhala et al. (2007).
    """

    column: str | None = None
    name: ClassVar[str] = "likeliest-value"
    plain_name: ClassVar[str] = "guessing what most look-alikes have"
    threat: ClassVar[Threat] = "inference"
    per_column: ClassVar[bool] = True

    def lacks(self, target: Target) -> str | None:
        """A sensitive column is needed."""
        return lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the guess is right, and how often without the release."""
        column = the_secret(self.name, target, self.column)
        beliefs, value = best_way(ways_to_believe(target, column), lambda ways: ways.rate(ways.right))
        baseline = beliefs.right_before
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=beliefs.people,
            worst=float(beliefs.own.max(initial=0.0)),
            says=f"The likeliest {column} of those who look like a person is the person's own in {percent(value)} of "
            f"the cases; what most people have, in {percent(baseline)}.{by_rule(beliefs.rule)}",
        )
