"""Bayes-optimal privacy: what an adversary who knows the population believes before and after seeing a release.

The adversary knows how quasi-identifiers q and sensitive values s go together, f(q, s), and somebody's q. The belief in
s is f(s|q) before; after, it is n(q*, s) · f(s|q) / f(s|q*), normalized over s, where the person's class q* shows the
value s n(q*, s) times (Machanavajjhala et al. 2007, theorem 3.1). It is a breach when the two differ by τ or more.

Here are the formulas; the model that methods search by is `bayes_optimal_privacy.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.parameters import require_number
from incrowd.core.tally import Tally, group_tuples

_ROUNDING = 1e-12
"""A difference of exactly τ is a breach; it may come out smaller by this much."""


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
    require_number("bayes-optimal privacy", "smoothing", smoothing, at_least=0)
    place, first = group_tuples(*_codes(tally, quasi))
    size = tally.trees[column].size
    joint = _table(place * size + tally.column(column), tally.counts.astype(np.float64), (len(first), size))
    joint += smoothing * (tally.value_counts(column) > 0)
    joint /= joint.sum()
    return joint


def _table(cells: Ints, weights: Floats, shape: tuple[int, int]) -> Floats:
    """Add weights up in the cells of a table."""
    flat = np.bincount(cells, weights=weights, minlength=shape[0] * shape[1])
    return flat.astype(np.float64, copy=False).reshape(shape)


def _codes(tally: Tally, columns: tuple[str, ...]) -> tuple[Codes, list[int]]:
    codes = tally.codes_of(columns)
    return codes, [tally.trees[name].size for name in columns]
