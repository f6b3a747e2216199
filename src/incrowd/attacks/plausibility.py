"""How plausible a person is in a population: the tree of attributes in which neighbours depend on each other most
(Chow & Liu 1968). It knows pairs of attributes, and nobody in particular.

Cost: one count of the table per pair of attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.attacks.matches import Floats
from incrowd.hierarchies.tree import Codes
from incrowd.tally import Tally

_LARGEST_TABLE = 1 << 22
"""Pairs with more combinations are taken as independent."""


@dataclass(frozen=True, eq=False)
class Plausibility:
    """Logarithms of Pr(code), or of Pr(code | code of another column), column by column."""

    parents: tuple[int | None, ...]
    logs: tuple[Floats, ...]

    @classmethod
    def of(cls, tally: Tally, columns: Sequence[str]) -> Plausibility:
        """Learn from a table; every combination counts as if half a person more had it."""
        shares = [tally.value_counts(name) / max(tally.rows, 1) for name in columns]
        pairs = {
            (one, two): _joint(tally, columns[one], columns[two])
            for one in range(len(columns))
            for two in range(one)
            if tally.trees[columns[one]].size * tally.trees[columns[two]].size <= _LARGEST_TABLE
        }
        gains = {pair: _mutual_information(joint) for pair, joint in pairs.items()}
        parents: list[int | None] = [None] * len(columns)
        logs: list[Floats] = [np.log(np.maximum(share, 0.5 / max(tally.rows, 1))) for share in shares]
        reached = {0} if columns else set()
        while len(reached) < len(columns):
            ways = [
                (gains[max(new, old), min(new, old)], -new, -old)
                for new in range(len(columns))
                for old in reached
                if new not in reached and (max(new, old), min(new, old)) in gains
            ]
            if not ways:
                reached.add(min(set(range(len(columns))) - reached))
                continue
            _, negated, negated_parent = max(ways)
            new, old = -negated, -negated_parent
            joint = pairs[max(new, old), min(new, old)]
            joint = joint.T if new > old else joint  # rows are the parent's codes
            logs[new] = np.log((joint + 0.5) / (joint + 0.5).sum(axis=1, keepdims=True))
            parents[new] = old
            reached.add(new)
        return cls(tuple(parents), tuple(logs))

    def scores(self, people: Codes) -> Floats:
        """Return the logarithm of each person's probability."""
        total = np.zeros(len(people))
        for place, (parent, logs) in enumerate(zip(self.parents, self.logs, strict=True)):
            codes = people[:, place]
            total += logs[codes] if parent is None else logs[people[:, parent], codes]
        return total


def _joint(tally: Tally, one: str, two: str) -> Floats:
    sizes = tally.trees[one].size, tally.trees[two].size
    keys = tally.column(one).astype(np.int64) * sizes[1] + tally.column(two)
    return np.bincount(keys, weights=tally.counts, minlength=sizes[0] * sizes[1]).reshape(sizes).astype(np.float64)


def _mutual_information(joint: Floats) -> float:
    shares = joint / max(joint.sum(), 1)
    product = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    some = shares > 0
    return float((shares[some] * np.log(shares[some] / product[some])).sum())
