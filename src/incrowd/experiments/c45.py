"""C4.5 (Quinlan 1993), the classifier of Qian, Song & Liang, on weighted rows.

Categories split into one branch per value, numbers in two at a threshold. Of the splits whose gain is at least average,
the one with the largest gain ratio is made; a threshold pays for having been chosen, as in release 8. Then subtrees are
replaced by leaves where the pessimistic estimate of errors (confidence 0.25) is not larger. Subtree raising and missing
values are left out: there are none here. Cost: a pass over a node's rows for each of its attributes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from incrowd.common.arrays import Floats, Ints

_CONFIDENCE = 0.25
_FEWEST = 2.0
"""Two branches of a split have at least so much weight."""
_NOTHING = 1e-9


@dataclass
class _Node:
    """A leaf, unless it has a column to split by; a child of None sends unseen values to the node's own class."""

    classes: Floats
    column: int = -1
    threshold: float = math.nan
    children: dict[float, _Node] = field(default_factory=dict)

    @property
    def answer(self) -> int:
        return int(self.classes.argmax())

    @property
    def errors_if_leaf(self) -> float:
        total = float(self.classes.sum())
        return _pessimistic(total, total - float(self.classes.max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class C45:
    """A decision tree that has been grown and pruned."""

    root: _Node

    @classmethod
    def fit(cls, features: Floats, classes: Ints, weights: Floats, *, numeric: Sequence[bool], kinds: int) -> C45:
        """Grow a tree on weighted rows; `numeric` says which columns are ordered."""
        rows = np.column_stack([features, classes])
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        together: Floats = np.bincount(place.ravel(), weights=weights).astype(np.float64)
        root = _grow(distinct[:, :-1], distinct[:, -1].astype(np.int64), together, tuple(numeric), kinds)
        _prune(root)
        return cls(root)

    def predict(self, features: Floats) -> Ints:
        """Return the class of each row."""
        found = np.empty(len(features), dtype=np.int64)
        waiting = [(self.root, np.arange(len(features)))]
        while waiting:
            node, rows = waiting.pop()
            found[rows] = node.answer
            if node.column >= 0:
                branch = _branches(features[rows, node.column], node.threshold)
                waiting += [(child, rows[branch == value]) for value, child in node.children.items()]
        return found


def _branches(values: Floats, threshold: float) -> Floats:
    return values if math.isnan(threshold) else (values > threshold).astype(np.float64)


@dataclass(frozen=True)
class _Split:
    column: int
    threshold: float
    gain: float
    ratio: float


def _grow(features: Floats, classes: Ints, weights: Floats, numeric: tuple[bool, ...], kinds: int) -> _Node:
    node = _Node(_counted(classes, weights, kinds))
    if weights.sum() < 2 * _FEWEST or np.count_nonzero(node.classes) < 2:
        return node
    tried = [
        _by_threshold(column, features[:, column], classes, weights, kinds)
        if ordered
        else _by_value(column, features[:, column], classes, weights, kinds)
        for column, ordered in enumerate(numeric)
    ]
    splits = [split for split in tried if split is not None and split.gain > _NOTHING]
    if not splits:
        return node
    average = sum(split.gain for split in splits) / len(splits)
    best = max((split for split in splits if split.gain >= average - _NOTHING), key=lambda split: split.ratio)
    node.column, node.threshold = best.column, best.threshold
    branch = _branches(features[:, best.column], best.threshold)
    for value in np.unique(branch):
        rows = branch == value
        node.children[float(value)] = _grow(features[rows], classes[rows], weights[rows], numeric, kinds)
    return node


def _by_value(column: int, values: Floats, classes: Ints, weights: Floats, kinds: int) -> _Split | None:
    _, place = np.unique(values, return_inverse=True)
    table = _counted(place * kinds + classes, weights, kinds * (int(place.max()) + 1)).reshape(-1, kinds)
    sizes = table.sum(axis=1)
    if (sizes >= _FEWEST).sum() < 2:
        return None
    gain = _entropy(table.sum(axis=0)) - float((sizes * _entropies(table)).sum() / sizes.sum())
    return _Split(column, math.nan, gain, gain / max(_entropy(sizes), _NOTHING))


def _by_threshold(column: int, values: Floats, classes: Ints, weights: Floats, kinds: int) -> _Split | None:
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return None
    table = _counted(place * kinds + classes, weights, kinds * len(distinct)).reshape(-1, kinds)
    below = table.cumsum(axis=0)[:-1]
    above = table.sum(axis=0) - below
    under, over, total = below.sum(axis=1), above.sum(axis=1), weights.sum()
    fits = (under >= _FEWEST) & (over >= _FEWEST)
    if not fits.any():
        return None
    left = (under * _entropies(below) + over * _entropies(above)) / total
    gains = np.where(fits, _entropy(table.sum(axis=0)) - left, -np.inf)
    at = int(gains.argmax())
    gain = float(gains[at]) - math.log2(len(distinct) - 1) / total
    sizes = np.array([under[at], over[at]])
    return _Split(column, float(distinct[at] + distinct[at + 1]) / 2, gain, gain / max(_entropy(sizes), _NOTHING))


def _counted(places: Ints, weights: Floats, size: int) -> Floats:
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


def _entropy(counts: Floats) -> float:
    return float(_entropies(counts[None, :])[0])


def _entropies(table: Floats) -> Floats:
    """Return the entropy of each row of counts, in bits."""
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1))


def _prune(node: _Node) -> float:
    """Replace subtrees by leaves where that is expected to make no more errors; return how many are left."""
    if node.column < 0:
        return node.errors_if_leaf
    below = sum(_prune(child) for child in node.children.values())
    alone = node.errors_if_leaf
    if alone <= below + 0.1:
        node.column, node.children = -1, {}
        return alone
    return below


def _pessimistic(total: float, errors: float) -> float:
    """Return the errors that are expected of a leaf on other rows: the upper end of a confidence interval."""
    if total <= 0:
        return 0.0
    if errors < 1:
        none: float = total * (1 - _CONFIDENCE ** (1 / total))
        return none if errors <= 0 else none + errors * (_pessimistic(total, 1.0) - none)
    if errors + 0.5 >= total:
        return total
    z = NormalDist().inv_cdf(1 - _CONFIDENCE)
    share = (errors + 0.5) / total
    spread = z * math.sqrt(share / total - share * share / total + z * z / (4 * total * total))
    return total * (share + z * z / (2 * total) + spread) / (1 + z * z / total)
