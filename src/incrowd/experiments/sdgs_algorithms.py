"""What Li, Qardaji & Su (2012) say of other algorithms and of samples that are shared, worked out exactly.

Algorithm 1 (k-Duplication) is k-anonymous and shows people as they are; algorithm 5 (δ-sampling) has a small δ and
publishes people all the same; theorem 2 adds up the prices of two algorithms that each are private *after a sample*
(definition 4), although both see the same one. Everything is enumerated: the tables are small, or all their outcomes
follow a formula. Cost: below a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import polars as pl

from incrowd.datasets.census import census
from incrowd.dp.amplification import amplified
from incrowd.dp.binomial import log_probability, log_tail
from incrowd.dp.budget import Budget
from incrowd.dp.exact_suppression import exact_delta
from incrowd.dp.sampled_suppression import delta_of, worst_case
from incrowd.experiments.results import Results

SHARED, APART = "one sample for both", "a sample for each"
SAID = "what theorem 2 says"
LIKELY, BAD = "up to γn", "beyond γn"
_NO_TABLE = "theorem 1"
_CURVE = (20, "0.2", "1")
_UDP = ((0.1, 0.5), (0.1, 1.0), (0.2, 1.0), (0.5, 1.0), (0.2, 2.0))
"""β and the ε that each of two algorithms has without a sample."""
_K, _PEOPLE, _KNOWN = 5, 2000, ("age", "sex", "education", "marital", "race", "birth_place")


def measure_curve(results: Results) -> None:
    """Write down figure 1: how many of a crowd are sampled, and which outcomes show one person."""
    k, rate, epsilon = _CURVE
    worst = worst_case(k, rate, epsilon)
    for count in range(worst.crowd + 1):
        series = BAD if count >= worst.seen else LIKELY
        share = math.exp(log_probability(worst.crowd, float(rate), count))
        results.add("1", _NO_TABLE, worst.crowd, series, count, "probability", share)
    results.add("1", _NO_TABLE, worst.crowd, "tail", worst.seen, "δ", worst.delta)


def measure_exact(results: Results, rates: Sequence[str], epsilons: Sequence[str]) -> None:
    """Write down what δ really is in the cells of Table 1, and how many times too large theorem 1 is."""
    for rate in rates:
        for epsilon in epsilons:
            name, exact = f"k = 20, β = {rate}", exact_delta(20, rate, epsilon)
            results.add("exact", _NO_TABLE, 0, name, epsilon, "exact δ", exact)
            results.add(
                "exact", _NO_TABLE, 0, name, epsilon, "theorem 1 over exact", delta_of(20, rate, epsilon) / exact
            )


def measure_shared_sample(results: Results) -> None:
    """Write down the ε of two algorithms after one sample and after one each, and what theorem 2 says of it."""
    for rate, epsilon in _UDP:
        name = f"β = {rate:g}, ε = {epsilon:g} each"
        said = 2 * float(amplified(Budget(epsilon), rate).epsilon)
        for how, found in ((SAID, said), (SHARED, _loss(rate, epsilon, True)), (APART, _loss(rate, epsilon, False))):
            results.add("theorem 2", _NO_TABLE, 0, name, how, "ε", found)


def _loss(rate: float, epsilon: float, shared: bool) -> float:
    """Return the exact ε of two randomized answers to "is she in the sample?", from all their outcomes.

    Each answer alone has exactly the ε that is given for it without a sample.
    """
    true = math.exp(epsilon) / (1 + math.exp(epsilon))
    worst = 0.0
    for answers in product((True, False), repeat=2):
        absent = math.prod(1 - true if yes else true for yes in answers)
        if shared:
            present = rate * math.prod(true if yes else 1 - true for yes in answers) + (1 - rate) * absent
        else:
            present = math.prod(
                rate * (true if yes else 1 - true) + (1 - rate) * (1 - true if yes else true) for yes in answers
            )
        worst = max(worst, abs(math.log(present / absent)))
    return worst


def measure_duplication(results: Results) -> None:
    """Run k-Duplication on made-up people; write down its k, and how many of its groups are one person's row."""
    people = census(_PEOPLE, seed=0).select(_KNOWN)
    # Clusters of k who are alike, of whom the first is taken and published k times.
    chosen = people.sort(_KNOWN).gather_every(_K)
    published = pl.concat([chosen] * _K).group_by(_KNOWN).len("rows")
    owners = published.join(people.group_by(_KNOWN).len("people"), on=_KNOWN)
    told = {
        "smallest group": owners["rows"].to_numpy().min(),
        "groups": owners.height,
        "groups of one person": owners.filter(pl.col("people") == 1).height,
    }
    for measure, value in told.items():
        results.add("algorithm 1", "census", _PEOPLE, f"k = {_K}", "", measure, value)


def measure_delta_sampling(results: Results) -> None:
    """Write down what publishing each row with probability δ costs by definition, and what it publishes."""
    people, delta = 50_000_000, 1e-7
    name = "n = 50,000,000, δ = 1e-7"
    # Rows are published one by one, so that only whether this one is there tells two tables apart.
    present, absent = (delta, 1 - delta), (0.0, 1.0)
    for epsilon in (0.0, 1.0, 10.0):
        excess = math.fsum(max(one - math.exp(epsilon) * other, 0) for one, other in zip(present, absent, strict=True))
        results.add("algorithm 5", _NO_TABLE, people, name, epsilon, "δ at ε", excess)
    results.add("algorithm 5", _NO_TABLE, people, name, "", "rows published on average", people * delta)
    somebody = math.exp(log_tail(people, delta, 1))
    results.add("algorithm 5", _NO_TABLE, people, name, "", "probability that somebody is published", somebody)
