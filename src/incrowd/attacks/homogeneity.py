"""Homogeneity (Machanavajjhala et al. 2007): everybody in a crowd has the same value, so whoever finds the crowd knows
it, however large it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import beliefs_about
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target

_CERTAIN = 1 - 1e-9


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Claim a value only of people for whom no other is possible; count those for whom that is right.

    Parameters
    ----------
    column : the sensitive column to infer (default: the only one).

    Reference: Machanavajjhala et al. (2007).
    """

    column: str | None = None
    name: ClassVar[str] = "homogeneity"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 5
    per_column: ClassVar[bool] = True

    def lacks(self, target: Target) -> str | None:
        """A sensitive column is needed."""
        return lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return the share of people whose value is certain."""
        column = the_secret(self.name, target, self.column)
        beliefs = beliefs_about(target, column)
        certain = beliefs.own >= _CERTAIN
        value = beliefs.rate(certain)
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=float(beliefs.prior.max(initial=0.0) >= _CERTAIN),
            people=beliefs.people,
            worst=float(beliefs.own.max(initial=0.0)),
            says=f"The {column} of {value:.1%} of the people is certain: everybody who looks like them has the same.",
        )
