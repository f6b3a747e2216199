"""Skewness (Li, Li & Venkatasubramanian 2007): a crowd may be diverse, and yet its shares be far from the table's.

Measured by how much belief a release puts on what is true.
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
class Skewness(Attack):
    """Draw a guess from the crowd's shares; the rate of success is the mean belief in people's true values.

    Parameters
    ----------
    column : the sensitive column to infer (default: the only one).

    Reference: Li, Li & Venkatasubramanian (2007).
    """

    column: str | None = None
    name: ClassVar[str] = "skewness"
    plain_name: ClassVar[str] = "a value becomes likelier than usual"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 8
    per_column: ClassVar[bool] = True

    def lacks(self, target: Target) -> str | None:
        """A sensitive column is needed."""
        return lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return the mean belief in the true value, after and before; details tell the largest change."""
        column = the_secret(self.name, target, self.column)
        beliefs, value = best_way(ways_to_believe(target, column), lambda ways: ways.rate(ways.own))
        before = beliefs.prior[beliefs.values]
        baseline = beliefs.rate(before)
        gains = np.divide(beliefs.own, before, out=np.ones_like(before), where=before > 0)
        doubled = beliefs.rate(gains >= 2)
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=beliefs.people,
            worst=float(beliefs.own.max(initial=0.0)),
            says=f"On average the release gives {percent(value)} of belief to a person's true {column}; the table's "
            f"own frequencies give {percent(baseline)}. The belief at least doubles for {percent(doubled)} of the "
            f"people.{by_rule(beliefs.rule)}",
            details={"largest ratio": float(gains.max(initial=1.0)), "doubled": doubled},
        )
