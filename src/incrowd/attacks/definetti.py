"""deFinetti (Kifer 2009): learn from the release itself how quasi-identifiers go with sensitive values, then use that
against its own crowds. A crowd is not a fair urn: what is known of a person says which of its values is likely theirs.

Each round learns a naive Bayes classifier from what is believed, and corrects what is believed by what it says. The
baseline is the crowd alone, without anything learnt. Cost per round: people × (values × columns + crowds' values).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import ROUNDING, by_rule, hits, ways_to_believe
from incrowd.attacks.joint_knowledge import naive_bayes
from incrowd.attacks.reweighing import reweigh
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.kernels.beliefs import sum_by_code


@dataclass(frozen=True)
class DeFinetti(Attack):
    """Learn from the release how quasi-identifiers and sensitive values are related, and guess by that, in turns.

    Parameters
    ----------
    rounds : how many times to learn and guess (default: 5).
    column : the sensitive column to infer (default: the only one).

    It needs the table before. The baseline is the crowd alone, without anything learnt.

    Reference: Kifer (2009).
    """

    rounds: int = 5
    column: str | None = None
    name: ClassVar[str] = "definetti"
    plain_name: ClassVar[str] = "learning rules from the release itself"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 12
    per_column: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "rounds", self.rounds, at_least=1)

    def lacks(self, target: Target) -> str | None:
        """The table before is needed, to know whom to look for."""
        return "the table before is needed" if target.truth is None else lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the guess is right after the last round."""
        column = the_secret(self.name, target, self.column)
        crowds = target.view.crowds(column)
        readings = target.readings(column)
        value, rule, baseline, worst = -1.0, "", 0.0, 0.0
        for beliefs in ways_to_believe(target, column):
            baseline = max(baseline, beliefs.rate(beliefs.right))
            if beliefs.rule not in readings:  # what most people have teaches nothing
                continue
            learnt = beliefs.shares
            for _ in range(self.rounds):
                known = naive_bayes(target, _learn(target, learnt), beliefs.prior)
                learnt = reweigh(readings[beliefs.rule], crowds, known, target.people.tuple_counts)
            rate = beliefs.rate(hits(learnt, beliefs.kind_of, beliefs.values))
            if rate > value + ROUNDING:
                value, rule = rate, beliefs.rule
                worst = float(learnt[beliefs.kind_of, beliefs.values].max(initial=0.0))
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=beliefs.people,
            worst=worst,
            against="the crowd alone, nothing learnt",
            says=f"Learning from the release how {column} goes with everything else "
            f"{'raises' if value > baseline else 'does not raise'} right guesses: {percent(value)} with it, "
            f"{percent(baseline)} without it.{by_rule(rule)}",
            details={"without the release": beliefs.right_before},
        )


def _learn(target: Target, believed: Floats) -> dict[str, Floats]:
    """Return the shares of each column's codes given the value, by what is believed; smoothed by one person each."""
    people = target.people.tuple_counts.astype(np.float64)
    learnt = {}
    for place, name in enumerate(target.view.columns):
        size = target.view.trees[name].size
        codes = np.ascontiguousarray(target.people.tuples[:, place])
        counts = sum_by_code(codes, believed, people, size)
        everybody = np.bincount(codes, weights=people, minlength=size)[:, None] / people.sum()
        learnt[name] = (counts + everybody) / (counts.sum(axis=0) + 1.0)
    return learnt
