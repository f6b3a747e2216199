"""Bayes-optimal privacy: what an adversary who knows the population believes before and after seeing a release.

The adversary knows how quasi-identifiers q and sensitive values s go together, f(q, s), and somebody's q. The belief in
s is f(s|q) before; after, it is n(q*, s) · f(s|q) / f(s|q*), normalized over s, where the person's class q* shows the
value s n(q*, s) times (Machanavajjhala et al. 2007, theorem 3.1). It is a breach when the two differ by τ or more.

Here are the formulas, and an audit of a finished recoding, which knows who is in which class. The model that methods
search by, `bayes_optimal_privacy.py`, knows labels only. Cost: distinct quasi-identifier tuples × sensitive values, in
blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.parameters import require_number
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import SchemaError, did_you_mean
from incrowd.models.shares import require_share

_BLOCK = 1 << 22
"""Beliefs that are held in memory at once."""

_ROUNDING = 1e-12
"""A difference of exactly τ is a breach; it may come out smaller by this much."""


@dataclass(frozen=True)
class BayesOptimalRisk:
    """The share of published people with a breach, and the largest change of any belief about anybody."""

    breached: float
    largest: float


def prior(joint: Floats) -> Floats:
    """Return f(s|q), one row per q, from f(q, s) or anything proportional to it; a row of zeros stays one."""
    shares = np.zeros(joint.shape)
    totals = joint.sum(axis=1, keepdims=True)
    np.divide(joint, totals, out=shares, where=totals > 0)
    return shares


def class_prior(priors: Floats, class_of: Ints, classes: int, weights: Floats | None = None) -> Floats:
    """Return f(s|q*) of each class up to a factor: the sum of f(s|q) over its members.

    A member is a row of `priors`; `weights` are the people it stands for, one each unless given. Factors do not matter,
    since posteriors are normalized.
    """
    size = priors.shape[1]
    weighted = priors if weights is None else priors * weights[:, None]
    cells = (class_of[:, None] * size + np.arange(size)).ravel()
    return _table(cells, weighted.ravel(), (classes, size))


def posterior(priors: Floats, class_of: Ints, counts: Floats, weights: Floats | None = None) -> Floats:
    """Return the belief about each member after seeing how often its class shows each value, `counts[class, s]`.

    Where the release contradicts what the adversary knows, so that no value is left, the belief is what it shows: the
    class's own shares.
    """
    pooled = class_prior(priors, class_of, len(counts), weights)
    ratios = np.zeros(pooled.shape)
    np.divide(counts, pooled, out=ratios, where=pooled > 0)
    beliefs = ratios[class_of] * priors
    refuted = beliefs.sum(axis=1) <= 0
    beliefs[refuted] = counts[class_of[refuted]]
    return prior(beliefs)


def changes(priors: Floats, posteriors: Floats) -> Floats:
    """Return the largest change of the belief in any value, for each member."""
    return np.asarray(np.abs(priors - posteriors).max(axis=1, initial=0.0))


def breaches(priors: Floats, posteriors: Floats, tau: float) -> NDArray[np.bool_]:
    """Return whether the belief in any value changes by tau or more, for each member."""
    return changes(priors, posteriors) >= tau - _ROUNDING


def estimate_joint(tally: Tally, quasi: tuple[str, ...], column: str, *, smoothing: float = 0.0) -> Floats:
    """Return f(q, s) as the table has it: one row per distinct q in sorted order, one column per code of `column`.

    `smoothing` is added to every count of a value that the table has (Laplace). Without it, the adversary knows
    beforehand everything about people who are alone with their q, and learns nothing new about them.
    """
    require_number("bayes-optimal privacy", "smoothing", smoothing, least=0)
    place, first = group_tuples(*_codes(tally, quasi))
    size = tally.trees[column].size
    joint = _table(place * size + tally.column(column), tally.counts.astype(np.float64), (len(first), size))
    joint += smoothing * (tally.value_counts(column) > 0)
    joint /= joint.sum()
    return joint


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


def _table(cells: Ints, weights: Floats, shape: tuple[int, int]) -> Floats:
    """Add weights up in the cells of a table."""
    flat = np.bincount(cells, weights=weights, minlength=shape[0] * shape[1])
    return flat.astype(np.float64, copy=False).reshape(shape)


def _codes(tally: Tally, columns: tuple[str, ...]) -> tuple[Codes, list[int]]:
    codes = np.stack([tally.column(name) for name in columns], axis=1)
    return codes, [tally.trees[name].size for name in columns]
