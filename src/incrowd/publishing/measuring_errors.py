"""Measure how wrong counts from a release are, with a small share of ε, on random questions.

Questions have one to three conditions about values that people seem to have: as the release tells where it knows single
values, and else as a quick count of every column tells, with half of that share. Each answer is held against the table.
One row more or less changes a true count by at most one, so it changes |error|/scale by at most 1/scale, and each order
statistic of these by at most one over the smallest scale: the 95 % quantile can be told with noise of that size. An
offset keeps scales from being too small. Where errors are large, as where rows are spread over wide boxes, that
noise is next to nothing. What is told is a factor for each number of conditions, or one for all of them where noise
would be too large for three. Cost: `_QUESTIONS` passes over boxes and distinct tuples for each number of conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Bools, Floats, Ints
from incrowd.dp.boxes.coded_rows import People
from incrowd.dp.boxes.consistency import agreeing_with_total
from incrowd.dp.discrete_laplace import noise_scale, noisy_counts, variance
from incrowd.forms.error_factors import KINDS, UNMEASURED, ErrorFactors
from incrowd.forms.measured_boxes import MeasuredBoxes

_QUESTIONS = 160
"""So many for each number of conditions."""
_MOST_SHARES = 3 * 10**8
"""Boxes times questions: with very many boxes, fewer questions are asked. How many boxes there are is public."""
_FEWEST = 40
_LEVEL = 0.95
_UNITS = 2**20
_UNSURE = 0.3
"""Where noise would change factors by more than this, one is told for all numbers of conditions."""
_ENOUGH = 4.0
_USUAL_SPREAD = 0.6
"""The standard deviation of the logarithm of factors in usual tables, for those that noise hides."""

Question = Mapping[str, Bools]


def measure_errors(
    measured: MeasuredBoxes, people: People, *, epsilon: Fraction, rng: np.random.Generator
) -> ErrorFactors:
    """Return the factors of a release, for which ε is spent."""
    boxes = max(len(measured.tree.parents), 1)
    number = int(min(max(_MOST_SHARES // (KINDS * boxes), _FEWEST), _QUESTIONS))
    if measured.knows_values:
        singles = {name: measured.single(name) for name in measured.schema.tallied}
    else:
        epsilon = epsilon / 2
        singles = _count_values(measured, people, epsilon, rng)
    draw = _Questions(measured, singles, rng)
    kinds: list[tuple[Floats, Floats]] = []
    for conditions in range(1, KINDS + 1):
        most = min(conditions, len(measured.schema.tallied))
        asked = [draw.question(most) for _ in range(number)]
        parts = np.array([measured.parts(question) for question in asked])
        true = np.array([_true_count(measured, people, question) for question in asked])
        matters = parts[:, 2] > 0  # elsewhere, the noise that is known decides
        errors, scales = np.abs(parts[:, 0] - true), np.sqrt(parts[:, 1] + parts[:, 2] ** 2)
        kinds.append((errors[matters], scales[matters]))
    return _factors(kinds, epsilon, rng)


def _factors(kinds: list[tuple[Floats, Floats]], epsilon: Fraction, rng: np.random.Generator) -> ErrorFactors:
    """Return a factor for each number of conditions, or the same for all of them."""
    offsets = [_offset(scales, epsilon / KINDS) for _, scales in kinds]
    if all(1 / (float(epsilon / KINDS) * offset) <= _UNSURE for offset in offsets):
        found = tuple(
            _factor(errors, scales, offset, epsilon / KINDS, rng)
            for (errors, scales), offset in zip(kinds, offsets, strict=True)
        )
        return ErrorFactors(found, tuple(offsets), measured=True)
    errors, scales = (np.concatenate([kind[part] for kind in kinds]) for part in (0, 1))
    offset = _offset(scales, epsilon)
    return ErrorFactors((_factor(errors, scales, offset, epsilon, rng),) * KINDS, (offset,) * KINDS, measured=True)


def _offset(scales: Floats, epsilon: Fraction) -> float:
    """Return what is added to scales: enough for little noise, but not more than scales are themselves."""
    if not len(scales):
        return 1.0
    return max(float(np.clip(_ENOUGH / float(epsilon), np.quantile(scales, 0.1), np.quantile(scales, 0.5))), 1.0)


def _factor(errors: Floats, scales: Floats, offset: float, epsilon: Fraction, rng: np.random.Generator) -> float:
    """Return the 95 % quantile of errors over scales with noise, drawn to what is usual where noise is large."""
    ratios = np.sort(errors / np.sqrt(scales**2 + offset**2))
    place = min(math.ceil(_LEVEL * (len(ratios) + 1)), len(ratios)) - 1
    true = int(min(ratios[place], 2.0**30) * _UNITS) if len(ratios) else 0
    # One row changes a ratio by 1/offset; rounding down, and what floating point does, by less than one unit each.
    sensitivity = Fraction(math.ceil(_UNITS / offset) + 2)
    noisy = int(noisy_counts(rng, np.array([true]), epsilon=epsilon, sensitivity=sensitivity)[0]) / _UNITS
    spread = math.sqrt(variance(noise_scale(sensitivity, epsilon)) / 2) / _UNITS
    return _likely(noisy, spread)


def _likely(noisy: float, scale: float) -> float:
    """Return the factor that is likeliest to be behind a noisy one, where factors are as in usual tables."""
    factors = np.geomspace(UNMEASURED / 200, UNMEASURED * 200, 2001)
    usual = -0.5 * (np.log(factors / UNMEASURED) / _USUAL_SPREAD) ** 2
    log = usual - np.abs(noisy - factors) / max(scale, 1e-9)
    weight = np.exp(log - log.max())
    return float((weight * factors).sum() / weight.sum())


class _Questions:
    """Random questions about values that people of a release seem to have."""

    def __init__(self, measured: MeasuredBoxes, singles: Mapping[str, Floats], rng: np.random.Generator) -> None:
        self._measured, self._rng = measured, rng
        shares = {name: np.maximum(counts, 0.0) + 1e-9 for name, counts in singles.items()}
        self._cumulated = {name: np.cumsum(each) / each.sum() for name, each in shares.items()}

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
        return np.searchsorted(self._cumulated[name], self._rng.random(number))


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


def _true_count(measured: MeasuredBoxes, people: People, question: Question) -> int:
    """Count the rows of the table that satisfy a question."""
    rows = np.ones(len(people.counts), dtype=bool)
    secrets = sorted(measured.schema.sensitive)
    for name, matches in question.items():
        if name in measured.schema.sensitive:
            rows &= matches[measured.class_codes[:, secrets.index(name)]][people.classes]
        else:
            rows &= matches[people.codes[:, measured.columns.index(name)]]
    return int(people.counts[rows].sum())
