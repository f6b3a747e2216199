"""Homogeneity (Machanavajjhala et al. 2007): everybody in a crowd has the same value, so whoever finds the crowd knows
it, however large it is.

Where labels overlap, the crowd is the one whose labels fit best, too: if everybody in it has the same value, the
adversary claims it. Such a claim may be wrong. Only right ones count, and the baseline is how many of these are luck: a
claim about somebody who is in another crowd is right as often as the value is frequent, and the wrong claims tell how
many of such there are.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.beliefs import Beliefs, best_way, by_rule, ways_to_believe
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
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
    plain_name: ClassVar[str] = "all look-alikes have the same value"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 5
    per_column: ClassVar[bool] = True

    def lacks(self, target: Target) -> str | None:
        """A sensitive column is needed."""
        return lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return the share of people whose value is certain."""
        column = the_secret(self.name, target, self.column)
        beliefs, _ = best_way(ways_to_believe(target, column), lambda way: way.rate(way.own >= _CERTAIN) - by_luck(way))
        value = beliefs.rate(beliefs.own >= _CERTAIN)
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=by_luck(beliefs),
            people=beliefs.people,
            worst=float(beliefs.own.max(initial=0.0)),
            against="claims that are right by luck",
            says=f"The {column} of {percent(value)} of the people is certain: everybody who looks like them has the "
            f"same.{by_rule(beliefs.rule)}",
            exposed=0 if target.form.private else (value - by_luck(beliefs)) * beliefs.people,
            details={"claimed": beliefs.rate(_claims(beliefs)[beliefs.kind_of])},
        )


def by_luck(beliefs: Beliefs) -> float:
    """Return how many claims, per person, are right only because the value is frequent."""
    frequent = beliefs.prior[beliefs.shares.argmax(axis=1)]
    if (frequent >= _CERTAIN).any():
        return 1.0  # there is but one value
    wrong = _claims(beliefs)[beliefs.kind_of] & (beliefs.own < _CERTAIN)
    return min(1.0, beliefs.rate(wrong * (frequent / (1 - frequent))[beliefs.kind_of]))


def _claims(beliefs: Beliefs) -> NDArray[np.bool_]:
    """Return which kinds of people there is but one value for."""
    return np.asarray(beliefs.shares.max(axis=1, initial=0.0) >= _CERTAIN)
