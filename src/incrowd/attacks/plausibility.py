"""How plausible a person is in a population: the tree of attributes in which neighbours depend on each other most
(Chow & Liu 1968). It knows pairs of attributes, and nobody in particular.

Cost: one count of the people per pair of attributes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Codes, Floats
from incrowd.common.records import dataclass

_LARGEST_TABLE = 1 << 22
"""Pairs with more combinations are taken as independent."""


@dataclass(frozen=True, eq=False)
class Plausibility:
    """Logarithms of Pr(code), or of Pr(code | code of another column), column by column."""

    parents: tuple[int | None, ...]
    logs: tuple[Floats, ...]

    @classmethod
    def of(cls, people: Codes, sizes: Sequence[int]) -> Plausibility:
        """Learn from people, one a row; every combination counts as if half a person more had it.

        `sizes[j]` bounds the codes of column j.
        """
        columns = range(len(sizes))
        counts = [np.bincount(people[:, place], minlength=sizes[place]) for place in columns]
        pairs = {
            (one, two): _joint(people[:, one], people[:, two], sizes[one], sizes[two])
            for one in columns
            for two in range(one)
            if sizes[one] * sizes[two] <= _LARGEST_TABLE
        }
        gains = {pair: _mutual_information(joint) for pair, joint in pairs.items()}
        parents: list[int | None] = [None for _ in columns]
        logs: list[Floats] = [np.log((count + 0.5) / (count + 0.5).sum()) for count in counts]
        reached = {0} if sizes else set()
        while len(reached) < len(columns):
            ways = [
                (gains[max(new, old), min(new, old)], -new, -old)
                for new in columns
                for old in reached
                if new not in reached and (max(new, old), min(new, old)) in gains
            ]
            if not ways:
                reached.add(min(set(columns) - reached))
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


def _joint(one: Codes, two: Codes, rows: int, columns: int) -> Floats:
    keys = one.astype(np.int64) * columns + two
    return np.bincount(keys, minlength=rows * columns).reshape(rows, columns).astype(np.float64)


def _mutual_information(joint: Floats) -> float:
    shares = joint / max(joint.sum(), 1)
    product = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    some = shares > 0
    return float((shares[some] * np.log(shares[some] / product[some])).sum())
