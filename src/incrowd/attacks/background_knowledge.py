"""Background knowledge (Machanavajjhala et al. 2007; Martin et al. 2007): the adversary knows some values that a person
does *not* have, and strikes them out.

The statements are the most useful ones that are true: the values most believed in besides the person's own.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import Beliefs, best_way, by_rule, ways_to_believe
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.arrays import Floats, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target

_ROUNDING = 1e-9
_LINES_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class BackgroundKnowledge(Attack):
    """Strike out values that the person is known not to have, then guess the likeliest that is left.

    Parameters
    ----------
    statements : how many values are struck out (default: 1). The most useful true statements are taken.
    column : the sensitive column to infer (default: the only one).

    Reference: Machanavajjhala et al. (2007); Martin et al. (2007).
    """

    statements: int = 1
    column: str | None = None
    name: ClassVar[str] = "background-knowledge"
    plain_name: ClassVar[str] = "ruling values out, then guessing"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 6
    per_column: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "statements", self.statements, at_least=0)

    def lacks(self, target: Target) -> str | None:
        """A sensitive column is needed."""
        return lacks_secret(target, self.column)

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the guess is right, with and without the release."""
        column = the_secret(self.name, target, self.column)
        beliefs, value = best_way(ways_to_believe(target, column), self._rate)
        _, sure = self._guesses(beliefs, beliefs.shares, beliefs.kind_of)
        nobody = np.zeros(len(beliefs.values), dtype=np.int64)
        baseline = beliefs.rate(self._guesses(beliefs, beliefs.prior[None, :], nobody)[0])
        known = "one value" if self.statements == 1 else f"{self.statements} values"
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=beliefs.people,
            worst=float(sure.max(initial=0.0)),
            says=f"Whoever knows {known} that a person does not have guesses their {column} in {percent(value)} of the "
            f"cases; without the release, in {percent(baseline)}." + by_rule(beliefs.rule),
            details={"statements": float(self.statements), "certain": beliefs.rate(sure >= 1 - _ROUNDING)},
        )

    def _rate(self, beliefs: Beliefs) -> float:
        return beliefs.rate(self._guesses(beliefs, beliefs.shares, beliefs.kind_of)[0])

    def _guesses(self, beliefs: Beliefs, shares: Floats, kind_of: Ints) -> tuple[Floats, Floats]:
        """Return how likely each line's guess is right, and how sure the true value has become."""
        lines, size = len(beliefs.values), shares.shape[1]
        right, sure = np.empty(lines), np.empty(lines)
        step = max(_LINES_AT_ONCE // max(size, 1), 1)
        for first in range(0, lines, step):
            block = slice(first, first + step)
            others = shares[kind_of[block]]
            here = np.arange(len(others))
            own = others[here, beliefs.values[block]].copy()
            others[here, beliefs.values[block]] = -1.0
            others.sort(axis=1)
            kept = max(size - self.statements, 0)
            left, struck = others[:, :kept], np.maximum(others[:, kept:], 0).sum(axis=1)
            best = left.max(axis=1, initial=-1.0)
            ties = (np.abs(left - own[:, None]) < _ROUNDING).sum(axis=1)
            right[block] = np.where(own >= best - _ROUNDING, 1.0 / (1 + ties), 0.0)
            sure[block] = own / np.maximum(1 - struck, own + (own == 0))
        return right, sure
