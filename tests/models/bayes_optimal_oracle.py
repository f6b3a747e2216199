"""Bayes-optimal privacy of a finished recoding, by one who knows who is in which class: an oracle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import SchemaError, did_you_mean
from incrowd.models.bayes_optimal import _codes, _table, breaches, changes, estimate_joint, posterior, prior
from incrowd.models.shares import require_share

_BLOCK = 1 << 22
"""Beliefs that are held in memory at once."""


@dataclass(frozen=True)
class BayesOptimalRisk:
    """The share of published people with a breach, and the largest change of any belief about anybody."""

    breached: float
    largest: float


def audit_bayes_optimal(
    tally: Tally, recoding: Recoding, column: str, tau: float, knowledge: Floats | None = None
) -> BayesOptimalRisk:
    """Compare the beliefs about everybody who is published before and after, given the adversary's `knowledge`.

    `knowledge` is f(q, s) in the form that `estimate_joint` returns, which is also what it is unless given. People who
    are withheld are neither counted nor part of a class.
    """
    require_share("bayes-optimal privacy", "tau", tau, zero=False)
    if column not in tally.columns:
        raise SchemaError(f"'{column}' is not a sensitive column.{did_you_mean(column, tally.columns)}")
    joint = estimate_joint(tally, recoding.columns, column) if knowledge is None else knowledge
    place, first = group_tuples(*_codes(tally, recoding.columns))
    size = tally.trees[column].size
    if joint.shape != (len(first), size):
        raise SchemaError(
            f"bayes-optimal privacy: knowledge has the shape {joint.shape}, not {(len(first), size)}: one row for each "
            f"distinct tuple and one column for each code of '{column}'."
        )
    class_of, parts = _classes(recoding)
    counts = recoding.counts[parts].astype(np.float64)
    tuple_of, values = place[recoding.tuples[parts]], tally.column(column)[recoding.tuples[parts]]
    # A member is a distinct tuple within a class: people who share both are the same in the adversary's eyes.
    keys, member = np.unique(class_of * len(first) + tuple_of, return_inverse=True)
    member_class, member_tuple = keys // len(first), keys % len(first)
    people = np.bincount(member, weights=counts, minlength=len(keys)).astype(np.float64)
    breached, largest = 0.0, 0.0
    for members in _blocks(member_class, max(_BLOCK // size, 1)):
        low, high = int(member_class[members.start]), int(member_class[members.stop - 1]) + 1
        seen = slice(*np.searchsorted(class_of, (low, high)))
        shown = _table((class_of[seen] - low) * size + values[seen], counts[seen], (high - low, size))
        before = prior(joint[member_tuple[members]])
        after = posterior(before, member_class[members] - low, shown, people[members])
        breached += float(people[members][breaches(before, after, tau)].sum())
        largest = max(largest, float(changes(before, after).max()))
    return BayesOptimalRisk(breached / max(float(people.sum()), 1.0), largest)


def _classes(recoding: Recoding) -> tuple[Ints, Ints]:
    """Return, class by class, each published part's class and which part it is; what shows the same is one class."""
    runs = np.concatenate([recoding.lows, recoding.highs], axis=1)
    look, _ = group_tuples(runs, (runs.max(axis=0, initial=0) + 1).tolist())
    parts = np.flatnonzero(recoding.published)
    _, class_of = np.unique(look[recoding.groups[parts]], return_inverse=True)
    order = np.argsort(class_of, kind="stable")
    return class_of[order], parts[order]


def _blocks(member_class: Ints, length: int) -> Iterator[slice]:
    """Cut members, sorted by class, into blocks of whole classes and at least this length, but for the last."""
    start = 0
    while start < len(member_class):
        last = member_class[min(start + length, len(member_class)) - 1]
        end = int(np.searchsorted(member_class, last, side="right"))
        yield slice(start, end)
        start = end
