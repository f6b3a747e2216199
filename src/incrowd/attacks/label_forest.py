"""A model of how probable each combination of labels is, fitted to a sample of rows: a forest over the columns.

As the trees of Chow & Liu (1968): each column has its shares, and each edge of the forest says how two columns go
together. Whatever is said of a row is learnt from the other rows (leave one out), so that a combination that occurs
once is not taken for as frequent as that:

    p(value)        = (rows − 1 + a) / (all − 1 + a·values)
    p(pair)         = (rows − 1 + m·p(one)·p(other)) / (all − 1 + m)

`values` are those that the column seems to have, seen or not (Chao 1984). a and m, which say how much is borrowed from
what is even or independent, are those under which the rows are likeliest; so is the forest, in which an edge stays only
if it makes the rows likelier. Cost: pairs of columns times one sort of the distinct rows.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.kernels.keys import rank_keys

_BORROWED = np.array([0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0])
_EVEN = np.array([1e-3, 1e-2, 0.1, 0.3, 1.0, 10.0, 1000.0])


def row_probabilities(labels: Ints, counts: Counts) -> Floats:
    """Return how probable it is that another person has the labels of each distinct row, `labels[row, column]`.

    `counts[row]` rows are like it; each of them is judged by all others.

    >>> one_coin = np.array([[0], [1]])
    >>> row_probabilities(one_coin, np.array([50, 50])).round(2)
    array([0.5, 0.5])
    """
    rows, columns = labels.shape
    if not rows:
        return np.zeros(0)
    singles = [_value_logs(labels[:, column], counts) for column in range(columns)]
    edges = []
    for one, two in combinations(range(columns), 2):
        logs = _pair_logs(labels[:, one], labels[:, two], counts, singles[one], singles[two])
        edges.append((float(counts @ logs), one, two, logs))
    total = np.sum(singles, axis=0)
    tree_of = list(range(columns))
    for gain, one, two, logs in sorted(edges, key=lambda edge: -edge[0]):
        if gain > 0 and tree_of[one] != tree_of[two]:
            joined = tree_of[two]
            tree_of = [tree_of[one] if tree == joined else tree for tree in tree_of]
            total = total + logs
    return np.asarray(np.exp(np.minimum(total, 0.0)))


def _value_logs(values: Ints, counts: Counts) -> Floats:
    """Return log p of each row's value in a column, learnt from all rows but one of its own."""
    number, first = rank_keys(values.astype(np.int64), int(values.max()) + 1)
    of_value = np.bincount(number, counts, len(first))
    rows = float(counts.sum())
    once, twice = float((of_value == 1).sum()), float((of_value == 2).sum())
    seen = len(first) + once * (once - 1) / (2 * (twice + 1))
    own = of_value[number]
    tried = np.log((own[None] - 1 + _EVEN[:, None]) / (rows - 1 + _EVEN[:, None] * seen))
    return np.asarray(tried[int(np.argmax(tried @ counts))])


def _pair_logs(one: Ints, two: Ints, counts: Counts, log_one: Floats, log_two: Floats) -> Floats:
    """Return how much likelier each row's pair of values is than if the two columns were independent, as a log."""
    room = int(two.max()) + 1
    number, first = rank_keys(one.astype(np.int64) * room + two, (int(one.max()) + 1) * room)
    others = np.bincount(number, counts, len(first))[number] - 1
    rows = float(counts.sum())
    apart = np.exp(log_one + log_two)
    borrowed = _BORROWED[:, None] * max(len(first), 1)
    tried = np.log((others[None] + borrowed * apart) / (rows - 1 + borrowed)) - (log_one + log_two)
    return np.asarray(tried[int(np.argmax(tried @ counts))])
