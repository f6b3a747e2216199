"""Try to catch a mechanism at being less private than it says: a lower bound on ε from many runs.

Run it on two tables that differ by one row. (ε, δ) promises P[event with the row] ≤ e^ε·P[event without] + δ, and the
other way round, for every event. A quarter of the runs says which outcomes either table makes likelier; with another
quarter the event that promises most is chosen, a set of such outcomes or all outcomes beyond a bound. The other half
says how often it came up, with Clopper and Pearson's bounds; so the result holds with the confidence asked for, however
many events were looked at. (In the manner of Ding et al. 2018 and Jagielski et al. 2020.) A bound above what was
promised proves a fault; one below proves nothing. Cost: the runs, and sorting their outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.dp.binomial import proportion_bounds

Outcome: TypeAlias = Any
"""A number, or anything that can be compared for equality and be a key of a dictionary."""
Event: TypeAlias = Callable[[Outcome], bool]


@dataclass(frozen=True)
class AuditResult:
    """What the runs show, with a confidence: the mechanism is not more private than `epsilon`, for this δ."""

    epsilon: float
    delta: float
    confidence: float
    event: str
    """The event that shows it; it says nothing about the tables beyond what the mechanism's outcomes say."""
    likelier_with: bool
    """Whether the event is likelier for the table with the row."""
    times: tuple[int, int]
    """How often it came up, on the table that makes it likelier and on the other."""
    runs: int
    """Runs of each table that were counted."""

    def contradicts(self, epsilon: float) -> bool:
        """Whether a promise of ε is shown to be wrong."""
        return self.epsilon > epsilon


def audit(
    run: Callable[[bool, np.random.Generator], Outcome],
    *,
    runs: int,
    rng: np.random.Generator,
    delta: float = 0.0,
    confidence: float = 0.99,
    events: Sequence[Event] = (),
) -> AuditResult:
    """Return a lower bound on the ε of `run(with_row, rng)`, from so many runs on each of the two tables.

    `events` are further sets of outcomes to look at: a mechanism that publishes tables has few equal outcomes, and
    whoever knows the row in question knows what to look for.

    >>> from incrowd.common.randomness import below, randomness
    >>> def honest_half(with_row: bool, rng: np.random.Generator) -> bool:
    ...     told_the_truth = int(below(rng, 4, 1)[0]) > 0
    ...     return with_row == told_the_truth  # ε = ln 3
    >>> result = audit(honest_half, runs=5000, rng=randomness(seed=1))
    >>> result.contradicts(math.log(2)), result.contradicts(math.log(3))
    (True, False)
    """
    outcomes = [[run(with_row, rng) for _ in range(runs)] for with_row in (True, False)]
    return audit_outcomes(outcomes[0], outcomes[1], delta=delta, confidence=confidence, events=events)


def audit_outcomes(
    with_row: Sequence[Outcome] | NDArray[Any],
    without_row: Sequence[Outcome] | NDArray[Any],
    *,
    delta: float = 0.0,
    confidence: float = 0.99,
    events: Sequence[Event] = (),
) -> AuditResult:
    """Return the same from outcomes that are there already: independent runs, as many for each table."""
    if len(with_row) != len(without_row) or len(with_row) < 4:
        raise ValueError("both tables have the same number of runs, at least four")
    if not 0 < confidence < 1 or not 0 <= delta < 1:
        raise ValueError("a confidence is between 0 and 1, and δ at least 0 and below 1")
    error = (1 - confidence) / 2  # one bound on each of two probabilities
    half = len(with_row) // 2
    first, second = _plain(with_row), _plain(without_row)
    chosen = _best_event(first[:half], second[:half], events, delta=delta, error=error)
    times = [sum(map(chosen.holds, outcomes[half:])) for outcomes in (first, second)]
    likelier, other = times if chosen.likelier_with else reversed(times)
    counted = len(first) - half
    shown = _log_ratio(
        proportion_bounds(likelier, counted, error)[0], proportion_bounds(other, counted, error)[1], delta
    )
    return AuditResult(shown, delta, confidence, chosen.name, chosen.likelier_with, (likelier, other), counted)


@dataclass(frozen=True)
class _Candidate:
    promises: float
    name: str
    likelier_with: bool
    holds: Event


@dataclass(frozen=True, eq=False)
class _Seen:
    """Distinct outcomes, how likely each seemed at first, and how often it then came up on each of the tables.

    `ours` is of the table that an event should be likelier for; what did not come up at first has no ratio.
    """

    outcomes: list[Outcome]
    first_ratios: NDArray[np.float64]
    ours: Counts
    theirs: Counts
    likelier_with: bool
    promise: Callable[[Counts, Counts], NDArray[np.float64]]

    def likely_set(self) -> _Candidate:
        """Return the best of the sets that hold the outcomes with the largest ratios.

        Ratios and judgement come from different runs: rare outcomes with a ratio by luck would seem the best of all.
        """
        order = np.argsort(-self.first_ratios, kind="stable")
        order = order[~np.isnan(self.first_ratios[order])]
        size, promises = self._best_start(order)
        members = frozenset(self.outcomes[place] for place in order[:size])
        return _Candidate(promises, f"one of {size} outcomes", self.likelier_with, members.__contains__)

    def tails(self) -> Iterator[_Candidate]:
        """Yield the best events of the kinds `at most` and `at least`."""
        values = np.array(self.outcomes)
        ascending = np.argsort(values, kind="stable")
        size, promises = self._best_start(ascending)
        largest = self.outcomes[ascending[size - 1]]
        yield _Candidate(promises, f"at most {largest}", self.likelier_with, lambda outcome: bool(outcome <= largest))
        size, promises = self._best_start(ascending[::-1])
        smallest = self.outcomes[ascending[-size]]
        yield _Candidate(
            promises, f"at least {smallest}", self.likelier_with, lambda outcome: bool(outcome >= smallest)
        )

    def named(self, name: str, event: Event) -> _Candidate:
        """Return an event of the caller's as a candidate."""
        order = np.flatnonzero([event(outcome) for outcome in self.outcomes])
        promises = self.promise(self.ours[order].sum(keepdims=True), self.theirs[order].sum(keepdims=True))
        return _Candidate(float(promises[0]), name, self.likelier_with, event)

    def _best_start(self, order: NDArray[np.int64]) -> tuple[int, float]:
        """Return how many outcomes from the start of a list make the best event, and what it promises."""
        promises = self.promise(np.cumsum(self.ours[order]), np.cumsum(self.theirs[order]))
        best = int(promises.argmax())
        return best + 1, float(promises[best])


def _best_event(
    first: list[Outcome], second: list[Outcome], events: Sequence[Event], *, delta: float, error: float
) -> _Candidate:
    """Return the event that promises the largest bound, judged by these runs alone."""
    number: dict[Outcome, int] = {}
    codes = [np.array([number.setdefault(outcome, len(number)) for outcome in runs]) for runs in (first, second)]
    start = len(first) // 2
    before = [np.bincount(each[:start], minlength=len(number)) for each in codes]
    known = np.where(before[0] + before[1] > 0, 1.0, np.nan)
    counts = [np.bincount(each[start:], minlength=len(number)) for each in codes]
    promise = partial(_promise, runs=len(first) - start, delta=delta, error=error)
    ordered = all(isinstance(outcome, Real) and outcome == outcome for outcome in number)
    candidates = []
    for likelier_with in (True, False):
        ours, theirs = counts if likelier_with else reversed(counts)
        likely, unlikely = before if likelier_with else reversed(before)
        seen = _Seen(list(number), known * (likely + 1) / (unlikely + 1), ours, theirs, likelier_with, promise)
        candidates.append(seen.likely_set())
        if ordered:
            candidates.extend(seen.tails())
        candidates.extend(seen.named(f"event {place}", event) for place, event in enumerate(events))
    return max(candidates, key=lambda candidate: candidate.promises)


def _promise(ours: Counts, theirs: Counts, *, runs: int, delta: float, error: float) -> NDArray[np.float64]:
    """Return about what bound an event would give: square roots of counts have a spread of about one half."""
    spread = math.sqrt(-math.log(error) / 2)
    low = np.maximum(np.sqrt(ours) - spread, 0) ** 2 / runs - delta
    high = (np.sqrt(theirs + 1) + spread) ** 2 / runs
    return np.asarray(np.log(np.maximum(low, 1e-300) / np.minimum(high, 1)))


def _log_ratio(low: float, high: float, delta: float) -> float:
    return max(math.log((low - delta) / high), 0.0) if low > delta else 0.0


def _plain(outcomes: Sequence[Outcome] | NDArray[Any]) -> list[Outcome]:
    return outcomes.tolist() if isinstance(outcomes, np.ndarray) else list(outcomes)
