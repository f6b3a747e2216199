"""Measure how wrong counts from a release are, with a small share of ε, on random questions.

Questions have one to three conditions about values that people seem to have: as the release tells where it knows single
values, and else as a quick count of every column tells, with half of that share. Each answer is held against the table.
What is told is the root mean square of errors over their scales, for each number of conditions, or for all of them
where noise would be too large for three; and for questions about whole boxes, whose noise is that of few sums.
One row changes the true counts of those questions that it satisfies, by one each. A root mean square is a norm, so it
changes by no more than the same norm of 1/scale over these questions: the most that any row could satisfy, in the table
or not. That is several times less than what a quantile changes by, which the question with the smallest scale decides.
Cost: `_QUESTIONS` passes over boxes and distinct tuples for each number of conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.consistency import agreeing_with_total
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.forms.error_factors import KINDS, REACH, ErrorFactors
from incrowd.forms.measured_boxes import MeasuredBoxes
from incrowd.kernels.questions import Conditions

_QUESTIONS = 280
"""So many for each number of conditions."""
_MOST_SHARES = 5 * 10**8
"""Boxes times questions: with very many boxes, fewer questions are asked. How many boxes there are is public."""
_FEWEST = 40
_UNITS = 2**20
_UNSURE = 0.05
"""Where noise would change a root mean square by more than this, one is told for all numbers of conditions."""
_UNSURE_OF_NOISE = 0.4
"""Where it would change that of noise by more than this, noise is taken to be what it is on average."""
_TAIL, _TAIL_OF_MODELS, _TAIL_OF_MARGINS, _TAIL_OF_NOISE = 2.4, 2.2, 2.05, 1.75
"""95 of 100 errors are below so many root mean squares. It would be 1.96 if errors were normal. Rows spread evenly
inside of boxes are off by much where a few values have nearly all of them; models are off in several ways; whole boxes
by the same few sums, which is less. From 40 releases each of Adult, the census and NIST's excerpts."""
_USUAL, _USUAL_SPREAD = 0.5, 0.9
"""Root mean squares in usual tables, and the standard deviation of their logarithm: for those that noise hides."""
_USUAL_OF_MODELS, _USUAL_OF_MARGINS, _SPREAD_OF_MODELS = 0.65, 0.95, 0.35
"""The same of models, and of boxes with margins: scales have the noise that is known (`forms/model_errors.py`)."""
_NOISE_SPREAD = 0.35
_OF_NOISE = Fraction(3, 4)
"""What noise gets of the share, where the rest is enough for the others."""
_SUMS = 0.7
"""Questions with less noise than this, next to the middle one, are not asked about it: they would cost too much."""

Question = Mapping[str, Bools]


@dataclass(frozen=True, eq=False)
class _Asked:
    """Questions, how wrong the answers are in rows, and the scales of these errors."""

    questions: Sequence[Question]
    errors: Floats
    scales: Floats

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions of all questions."""
        return Conditions(self.questions)

    def some(self, which: Bools) -> _Asked:
        places = np.flatnonzero(which)
        return _Asked([self.questions[place] for place in places.tolist()], self.errors[places], self.scales[places])

    @classmethod
    def all(cls, parts: Sequence[_Asked]) -> _Asked:
        """Return all questions of several kinds."""
        return cls(
            [question for part in parts for question in part.questions],
            np.concatenate([part.errors for part in parts]),
            np.concatenate([part.scales for part in parts]),
        )


def measure_errors(
    measured: MeasuredBoxes, people: People, *, epsilon: Fraction, rng: np.random.Generator
) -> ErrorFactors:
    """Return the factors of a release, for which ε is spent."""
    boxes = max(len(measured.tree.parents), 1)
    number = int(min(max(_MOST_SHARES // (KINDS * boxes), _FEWEST), _QUESTIONS))
    if measured.knows_values:
        names = measured.schema.tallied
        each = do_together([partial(measured.single, name) for name in names], steps=boxes * len(names))
        singles = dict(zip(names, each, strict=True))
    else:
        epsilon = epsilon / 2
        singles = _count_values(measured, people, epsilon, rng)
    draw, everybody = _Questions(measured, singles, rng), np.arange(len(people.counts))
    kinds = np.repeat(np.arange(KINDS), number)
    asked = [draw.question(min(kind + 1, len(measured.schema.tallied))) for kind in kinds.tolist()]
    parts = measured.parts_of(asked)
    true = measured.rows_asked(people.codes, everybody, people.classes, people.counts, asked)
    found = _Asked(asked, np.abs(parts[:, 0] - true), np.sqrt(parts[:, 1] + parts[:, 2] ** 2))
    matters = parts[:, 2] > 0
    spread = [found.some(matters & (kinds == kind)) for kind in range(KINDS)]
    return _factors(measured, spread, found.some(~matters & (parts[:, 1] > 0)), epsilon, rng)


def _factors(
    measured: MeasuredBoxes, spread: list[_Asked], whole: _Asked, epsilon: Fraction, rng: np.random.Generator
) -> ErrorFactors:
    """Return a factor for each number of conditions, or the same for all of them; and that of noise."""
    noise = 1.0
    share = epsilon * (_OF_NOISE if len(_kinds(spread, epsilon * (1 - _OF_NOISE))) > 1 else Fraction(1, 2))
    whole = whole.some(whole.scales >= _SUMS * np.median(whole.scales)) if len(whole.scales) else whole
    # Where rows come from a model, the noise of single values is known: nothing is spent on that.
    unsure = len(whole.errors) >= _FEWEST and not measured.from_model
    if unsure and _shaken(whole, 0.0, share) <= _UNSURE_OF_NOISE:
        noise = _TAIL_OF_NOISE / REACH * _likely(*_told(whole, 0.0, share, rng), 1.0, _NOISE_SPREAD)
        epsilon = epsilon - share
    kinds = _kinds(spread, epsilon)
    tail, usual = _TAIL, (_USUAL, _USUAL_SPREAD)
    if measured.knows_values:
        tail, own = (
            (_TAIL_OF_MODELS, _USUAL_OF_MODELS) if measured.from_model else (_TAIL_OF_MARGINS, _USUAL_OF_MARGINS)
        )
        usual = own, _SPREAD_OF_MODELS
    found: dict[int, tuple[float, float]] = {}
    for places in kinds:
        asked = _Asked.all([spread[place] for place in places])
        offset, share = _offset(asked, epsilon / len(kinds)), epsilon / len(kinds)
        likely = _likely(*_told(asked, offset, share, rng), *usual)
        found |= dict.fromkeys(places, (likely * tail, offset))
    factors, offsets = zip(*(found[kind] for kind in range(KINDS)), strict=True)
    return replace(measured.errors, factors=factors, offsets=offsets, noise=noise, measured=True)


def _kinds(spread: list[_Asked], epsilon: Fraction) -> list[tuple[int, ...]]:
    """Return which numbers of conditions get a factor of their own; those with few questions go with the next."""
    kinds: list[tuple[int, ...]] = []
    waiting: tuple[int, ...] = ()
    for place, asked in enumerate(spread):
        waiting = (*waiting, place)
        if len(asked.errors) >= _FEWEST:
            kinds.append(waiting)
            waiting = ()
    if waiting:
        kinds = [*kinds[:-1], (*kinds[-1], *waiting)] if kinds else [waiting]
    for places in kinds:
        asked = _Asked.all([spread[place] for place in places])
        share = epsilon / len(kinds)
        if _shaken(asked, _offset(asked, share), share) > _UNSURE:
            return [tuple(range(KINDS))]
    return kinds


def _offset(asked: _Asked, epsilon: Fraction) -> float:
    """Return what is added to scales: enough for little noise, but not more than scales are themselves."""
    if not len(asked.scales):
        return 1.0
    tried = [max(float(offset), 1.0) for offset in np.quantile(asked.scales, (0.02, 0.1, 0.25, 0.5))]
    return next((offset for offset in tried if _shaken(asked, offset, epsilon) <= _UNSURE), tried[-1])


def _shaken(asked: _Asked, offset: float, epsilon: Fraction) -> float:
    """Return the scale of the noise that a root mean square gets."""
    return _largest_change(asked, offset) / float(epsilon)


def _largest_change(asked: _Asked, offset: float) -> float:
    """Return by how much one row, whatever its values, can change the root mean square at most.

    No row satisfies a question whose condition on some column it does not satisfy. So each question is looked at in one
    of its columns, and a row has one code of each column: the code that satisfies the most is what counts.
    """
    if not len(asked.scales):
        return 0.0
    weights = 1 / (asked.scales**2 + offset**2)
    return math.sqrt(sum(asked.conditions.heaviest(weights).tolist()) / len(weights))


def _told(asked: _Asked, offset: float, epsilon: Fraction, rng: np.random.Generator) -> tuple[float, float]:
    """Return the root mean square of errors over scales with noise, and the scale of that noise."""
    ratios = np.minimum(asked.errors / np.sqrt(asked.scales**2 + offset**2), 2.0**20)
    true = int(math.sqrt(np.mean(ratios**2)) * _UNITS) if len(ratios) else 0
    # Rounding down, and what floating point does, come to less than one unit each.
    sensitivity = Fraction(math.ceil(_largest_change(asked, offset) * _UNITS * (1 + 1e-9)) + 2)
    noisy = int(noisy_counts(rng, np.array([true]), epsilon=epsilon, sensitivity=sensitivity)[0]) / _UNITS
    return noisy, math.sqrt(variance(noise_scale(sensitivity, epsilon)) / 2) / _UNITS


def _likely(noisy: float, scale: float, usual: float, usual_spread: float) -> float:
    """Return the number that is likeliest to be behind a noisy one, where such numbers are as in usual tables."""
    tried = np.geomspace(usual / 200, usual * 200, 2001)
    log = -0.5 * (np.log(tried / usual) / usual_spread) ** 2 - np.abs(noisy - tried) / max(scale, 1e-9)
    weight = np.exp(log - log.max())
    return float((weight * tried).sum() / weight.sum())


class _Questions:
    """Random questions about values that people of a release seem to have."""

    def __init__(self, measured: MeasuredBoxes, singles: Mapping[str, Floats], rng: np.random.Generator) -> None:
        self._measured, self._rng = measured, rng
        shares = {name: np.maximum(counts, 0.0) + 1e-9 for name, counts in singles.items()}
        self._cumulated: dict[str, Floats] = {name: np.cumsum(each) / each.sum() for name, each in shares.items()}

    def question(self, conditions: int) -> dict[str, Bools]:
        """Return so many conditions: a value, one of some values, or a range between two people's numbers."""
        names = self._measured.schema.tallied
        chosen = self._rng.permutation(len(names))[:conditions]
        return {names[place]: self._condition(names[place]) for place in chosen}

    def _condition(self, name: str) -> Bools:
        tree = self._measured.trees[name]
        matches = np.zeros(tree.size, dtype=bool)
        some = self._values(name, 3)
        if tree.ordered:
            matches[min(some[:2]) : max(some[:2]) + 1] = True
        else:
            matches[some if self._rng.random() < 0.5 else some[:1]] = True
        return matches

    def _values(self, name: str, number: int) -> Ints:
        return self._cumulated[name].searchsorted(self._rng.random(number))


def _count_values(
    measured: MeasuredBoxes, people: People, epsilon: Fraction, rng: np.random.Generator
) -> dict[str, Floats]:
    """Return about how many rows have each value of each column: noise that is above 0 by chance is taken off."""
    found = {name: measured.single(name) for name in measured.schema.sensitive}
    share = epsilon / len(measured.columns)
    for place, name in enumerate(measured.columns):
        true = people.count_values(place, measured.trees[name].size).sum(axis=1)
        noisy = noisy_counts(rng, true, epsilon=share)
        start = int(measured.tree.lows[:, place].min(initial=1))
        found[name] = np.zeros(len(noisy))
        found[name][start:] = agreeing_with_total(noisy[start:, None])[:, 0]
    return found
