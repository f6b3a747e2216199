"""Similarity (Li, Li & Venkatasubramanian 2007): the values of a crowd differ, and yet mean much the same.

Values that mean the same are those below one node of the sensitive column's hierarchy, or within one fifth of the
table's people where the column is ordered.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import ROUNDING, Beliefs, by_rule, hits, ways_to_believe
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.arrays import Floats, Ints
from incrowd.common.parameters import require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.hierarchies.tree import Tree

_FIFTHS = 5


@dataclass(frozen=True)
class Similarity(Attack):
    """Guess what kind of value a person has.

    Parameters
    ----------
    level : a kind is a node at this level of the column's hierarchy, at least 1 (default: 1). In an ordered column,
        kinds are fifths of the table's people.
    column : the sensitive column to infer (default: the only one).

    Reference: Li, Li & Venkatasubramanian (2007).
    """

    level: int = 1
    column: str | None = None
    name: ClassVar[str] = "similarity"
    plain_name: ClassVar[str] = "guessing the kind of value"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 9
    per_column: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_whole(self.name, "level", self.level, at_least=1)

    def lacks(self, target: Target) -> str | None:
        """A sensitive column whose values have something in common is needed."""
        missing = lacks_secret(target, self.column)
        if missing is not None:
            return missing
        column = the_secret(self.name, target, self.column)
        tree = target.view.trees[column]
        if not tree.ordered and self.level >= tree.height:
            return f"the hierarchy of {column} does not say which values are alike"
        return None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the guessed kind is right."""
        column = the_secret(self.name, target, self.column)
        kinds: Ints | None = None
        best: tuple[Beliefs, Floats, float] | None = None
        for beliefs in ways_to_believe(target, column):
            kinds = kinds_of(target.view.trees[column], beliefs.prior, self.level) if kinds is None else kinds
            shares = _by_kind(beliefs.shares, kinds)
            rate = beliefs.rate(hits(shares, beliefs.kind_of, kinds[beliefs.values]))
            if best is None or rate > best[2] + ROUNDING:
                best = beliefs, shares, rate
        assert best is not None
        assert kinds is not None
        beliefs, shares, value = best
        prior = _by_kind(beliefs.prior[None, :], kinds)
        nobody = np.zeros(len(beliefs.values), dtype=np.int64)
        baseline = beliefs.rate(hits(prior, nobody, kinds[beliefs.values]))
        own = shares[beliefs.kind_of, kinds[beliefs.values]]
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=beliefs.people,
            worst=float(own.max(initial=0.0)),
            says=f"What kind of {column} a person has, out of {len(np.unique(kinds))}, is guessed in {percent(value)} "
            f"of the cases; without the release, in {percent(baseline)}." + by_rule(beliefs.rule),
            details={"certain": beliefs.rate(own >= 1 - 1e-9)},
        )


def kinds_of(tree: Tree, prior: Floats, level: int) -> Ints:
    """Return which values are alike: a number for each code; missing is a kind of its own."""
    if not tree.ordered or tree.height > level:
        kinds = tree.nodes[min(level, tree.height)].astype(np.int64)
    else:
        middle = np.cumsum(prior[1:]) - prior[1:] / 2
        kinds = np.concatenate(([0], 1 + np.minimum(middle * _FIFTHS, _FIFTHS - 1).astype(np.int64)))
    return np.unique(kinds, return_inverse=True)[1].ravel()


def _by_kind(shares: Floats, kinds: Ints) -> Floats:
    """Add up the shares of values that are alike."""
    summed = np.zeros((len(shares), int(kinds.max(initial=0)) + 1))
    for kind in range(summed.shape[1]):
        summed[:, kind] = shares[:, kinds == kind].sum(axis=1)
    return summed
