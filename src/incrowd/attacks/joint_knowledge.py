"""The Bayes-optimal adversary (Machanavajjhala et al. 2007): knows how quasi-identifiers and sensitive values go
together in the population, and changes that belief by what the release shows.

The joint distribution is a small Bayesian network fitted to the table (`models/knowledge/dependence.py`): a table's own
frequencies would already tell everything about people who are alone with their quasi-identifiers. For the same reason
what is known of a person comes from other people: those with the same quasi-identifiers are in one half of the table,
and the network is fitted to the other. It is made to agree with how frequent each value is, so that a release which
shows no more than that changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from incrowd.attacks.beliefs import ROUNDING, beliefs_about, by_rule, hits
from incrowd.attacks.reweighing import reweigh
from incrowd.attacks.sensitive_column import lacks_secret, the_secret
from incrowd.common.arrays import Counts, Floats
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.tally import Tally, group_tuples
from incrowd.core.target import Target
from incrowd.kernels.beliefs import sum_by_code
from incrowd.models.knowledge.dependence import fitted_shares

_FITTING_ROUNDS = 10


@dataclass(frozen=True)
class JointKnowledge(Attack):
    """Guess by prior knowledge and release together; the baseline guesses by the knowledge alone.

    Parameters
    ----------
    column : the sensitive column to infer (default: the only one).

    The prior knowledge is how quasi-identifiers and sensitive values are related in the population, fitted to the
    table.

    Reference: Machanavajjhala et al. (2007).
    """

    column: str | None = None
    name: ClassVar[str] = "joint-knowledge"
    plain_name: ClassVar[str] = "guessing with general knowledge"
    threat: ClassVar[Threat] = "inference"
    stream: ClassVar[int | None] = 7
    per_column: ClassVar[bool] = True

    def lacks(self, target: Target) -> str | None:
        """The table before is needed, to know what goes with what, and something by which people are known."""
        if target.truth is None:
            return "the table before is needed"
        return lacks_secret(target, self.column) if target.view.columns else "there is no quasi-identifier"

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how often the guess is right; details tell how far beliefs move."""
        column = the_secret(self.name, target, self.column)
        beliefs = beliefs_about(target, column)
        assert target.truth is not None
        people = target.people.tuple_counts
        known = calibrated(learnt_from_others(target, target.truth, column, beliefs.prior, rng), people, beliefs.prior)
        baseline = beliefs.rate(hits(known, beliefs.kind_of, beliefs.values))
        value, rule, after = -1.0, "", known
        for reading, matches in target.readings(column).items():
            believed = reweigh(matches, target.view.crowds(column), known, people)
            rate = beliefs.rate(hits(believed, beliefs.kind_of, beliefs.values))
            if rate > value + ROUNDING:
                value, rule, after = rate, reading, believed
        moved = np.abs(after - known).max(axis=1)[beliefs.kind_of]
        return risk_of(
            self,
            column=column,
            value=value,
            baseline=baseline,
            people=beliefs.people,
            worst=float(after[beliefs.kind_of, beliefs.values].max(initial=0.0)),
            against="what is known beforehand of people like them",
            says=f"Whoever knows how {column} goes with everything else guesses it in {percent(value)} of the cases; "
            f"without the release, in {percent(baseline)}.{by_rule(rule)}",
            details={
                "mean change of belief": beliefs.rate(moved),
                "largest change of belief": float(moved.max(initial=0.0)),
            },
        )


def learnt_from_others(target: Target, truth: Tally, column: str, prior: Floats, rng: np.random.Generator) -> Floats:
    """Return f(s|t) of each tuple, as the half of the table knows it that the tuple is not in."""
    columns = target.view.columns
    table = truth.codes_of(columns)
    numbers, first = group_tuples(
        np.concatenate([table, target.people.tuples]), [truth.trees[name].size for name in columns]
    )
    half_of = rng.permutation(len(first)) % 2
    known = np.tile(prior, (len(target.people.tuples), 1))
    for half in (0, 1):
        others = np.flatnonzero(half_of[numbers[: len(table)]] != half)
        if len(others):
            taught = replace(truth, codes=truth.codes[others], counts=truth.counts[others])
            shares = {name: fitted_shares(taught, name, column) for name in columns}
            mine = half_of[numbers[len(table) :]] == half
            known[mine] = naive_bayes(target, shares, prior)[mine]
    return known


def calibrated(known: Floats, people: Counts, frequencies: Floats) -> Floats:
    """Return beliefs whose mean over all people is as frequent as values are, by proportional fitting."""
    known, weights, everybody = known.copy(), people.astype(np.float64), np.zeros(len(known), dtype=np.int32)
    for _ in range(_FITTING_ROUNDS):
        # One after the other: a product of matrices adds up in an order that depends on how many cores there are.
        expected = sum_by_code(everybody, known, weights, 1)[0] / max(people.sum(), 1)
        known *= np.divide(frequencies, expected, out=np.zeros_like(expected), where=expected > 0)
        totals = known.sum(axis=1, keepdims=True)
        some = totals > 0
        known /= np.where(some, totals, 1.0)
        known[~some[:, 0]] = frequencies
    return known


def naive_bayes(target: Target, shares: dict[str, Floats], prior: Floats) -> Floats:
    """Return f(s|t) of each tuple, from the shares of each column's codes (rows) given the value s (columns)."""
    # In two places that are used again and again: to get memory for each step takes longer than the step.
    known = np.empty((len(target.people.tuples), len(prior)))
    of_column = np.empty_like(known)
    with np.errstate(divide="ignore"):
        known[:] = np.log(prior)
        for place, name in enumerate(target.view.columns):
            told = np.where(shares[name].any(axis=1, keepdims=True), shares[name], 1.0)  # a new code tells nothing
            codes = target.people.tuples[:, place]
            known += np.take(np.log(told), codes, axis=0, out=of_column, mode="clip")
    best = known.max(axis=1, keepdims=True)
    known -= np.where(np.isfinite(best), best, 0.0)
    np.exp(known, out=known)
    totals = known.sum(axis=1, keepdims=True)
    some = totals > 0
    known /= np.where(some, totals, 1.0)
    known[~some[:, 0]] = prior
    return known
