"""What a release is worth to somebody who wants to predict, of all that was learnt from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.common.records import dataclass

_LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Learnt:
    """The best that classifiers do on one column: taught by the release, by the raw table, and without learning."""

    target: str
    classifier: str
    accuracy: float
    on_raw_data: float
    majority: float
    margin: float
    """Differences up to this much are chance."""

    @property
    def worth_learning(self) -> bool:
        """Whether the raw table teaches more than which value is the most frequent."""
        return self.on_raw_data > self.majority + self.margin

    @property
    def taught(self) -> bool:
        """Whether the release does."""
        return self.accuracy > self.majority + self.margin


def best_of_each(lines: Sequence[Mapping[str, Any]]) -> list[Learnt]:
    """Return the best classifiers of each column."""
    found = []
    for target in dict.fromkeys(line["target"] for line in lines):
        own = [line for line in lines if line["target"] == target]
        best = max(own, key=lambda line: line["accuracy"])
        majority = best["majority"]
        noise = 2 * math.sqrt(max(majority * (1 - majority), 0.0) / max(best["people tested"], 1))
        raw = max(line["accuracy on raw data"] for line in own)
        margin = max(_LEAST_GAIN, noise)
        found.append(Learnt(target, best["classifier"], best["accuracy"], raw, majority, margin))
    return found


def headline(lines: Sequence[Mapping[str, Any]]) -> Learnt | None:
    """Return the column that there is most to learn of; None where guessing the most frequent value is as good."""
    worth = [learnt for learnt in best_of_each(lines) if learnt.worth_learning]
    return max(worth, key=lambda learnt: learnt.on_raw_data - learnt.majority, default=None)
