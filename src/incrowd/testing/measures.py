"""What every metric claims of itself, one function each: returns if the claim holds, raises `AssertionError` if not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from incrowd.core.metric import Metric
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.forms.generalized import Generalized
from incrowd.testing.case import Case
from incrowd.testing.expecting import expect, is_frozen_dataclass
from incrowd.testing.keeping import forget, kept

Claim = Callable[[Metric, Case], None]

_KEPT = 64
"""Cases that are counted and published once: all claims look at the same, and so do other metrics of the same run."""


def is_a_value(metric: Metric) -> None:
    """A metric has a name, a goal and bounds, so that any report can draw it; and is a frozen dataclass."""
    expect(metric.name, "a metric without a name", type(metric).__name__)
    expect(metric.goal in ("minimize", "maximize"), f"the goal is '{metric.goal}'", metric.name)
    low, high = metric.bounds
    expect(low < high, f"the bounds are {low} and {high}", metric.name)
    expect(is_frozen_dataclass(metric), "a metric that is no frozen dataclass", type(metric).__name__)


def stays_within_bounds(metric: Metric, case: Case) -> None:
    """Whatever is published, the value is a number within the metric's bounds."""
    tally = _tally(case)
    for way in (nothing_hidden, all_together, half_withheld):
        value = metric.measure(tally, _shown(case, way))
        low, high = metric.bounds
        expect(low - 1e-9 <= value <= high + 1e-9, f"{metric.name} is {value}, not in [{low}, {high}]", case)


def prefers_more_detail(metric: Metric, case: Case) -> None:
    """A table as it was is at least as good as one where everybody is in one group and nothing is told apart; where
    the metric is of privacy, at most.
    """
    tally = _tally(case)
    raw = metric.measure(tally, _shown(case, nothing_hidden))
    lost = metric.measure(tally, _shown(case, all_together))
    if metric.of_privacy:
        raw, lost = lost, raw
    better = raw <= lost + 1e-9 if metric.goal == "minimize" else raw >= lost - 1e-9
    expect(better, f"{metric.name} ({metric.goal}) is {raw} for the table itself, {lost} for nothing but *", case)


def ignores_row_order(metric: Metric, case: Case) -> None:
    """The same rows in another order have the same value."""
    other = case.with_rows(case.frame.reverse())
    tally, turned = _tally(case), _tally(other)
    for way in (nothing_hidden, half_withheld):
        values = metric.measure(tally, _shown(case, way)), metric.measure(turned, _shown(other, way))
        expect(math.isclose(*values, abs_tol=1e-9), f"{metric.name} is {values[0]} or {values[1]}", case)


def changes_nothing(metric: Metric, case: Case) -> None:
    """Measuring twice gives the same, and leaves tally and release as they were."""
    tally = _tally(case)
    form = _shown(case, half_withheld)
    codes, counts, published = tally.codes.copy(), tally.counts.copy(), form.counts.copy()
    expect(metric.measure(tally, form) == metric.measure(tally, form), f"{metric.name} is no function", case)
    unchanged = np.array_equal(tally.codes, codes) and np.array_equal(tally.counts, counts)
    same_release = np.array_equal(form.counts, published)
    if not (unchanged and same_release):
        forget()
    expect(unchanged, f"{metric.name} changed the tally", case)
    expect(same_release, f"{metric.name} changed the release", case)


CLAIMS: Sequence[Claim] = (
    changes_nothing,  # first: what a metric changes must be seen before others have measured the same
    stays_within_bounds,
    prefers_more_detail,
    ignores_row_order,
)


def nothing_hidden(case: Case, tally: Tally) -> Generalized:
    """Publish every value as it is."""
    columns = tuple(sorted(case.quasi))
    codes = tally.codes_of(columns)
    tuples = np.arange(len(tally))
    return _show(case, tally, Recoding(tuples, tally.counts, tuples, columns, codes, codes + np.int32(1)))


def all_together(case: Case, tally: Tally) -> Generalized:
    """Publish everybody in one group."""
    columns = tuple(sorted(case.quasi))
    lows = np.zeros((1, len(columns)), dtype=np.int32)
    highs = np.array([[tally.trees[name].size for name in columns]], dtype=np.int32)
    tuples = np.arange(len(tally))
    return _show(case, tally, Recoding(tuples, tally.counts, np.zeros_like(tuples), columns, lows, highs))


def half_withheld(case: Case, tally: Tally) -> Generalized:
    """Publish every other tuple as it is, and withhold the rest."""
    columns = tuple(sorted(case.quasi))
    codes = tally.codes_of(columns)[::2]
    tuples = np.arange(len(tally))
    groups = np.where(tuples % 2 == 0, tuples // 2, WITHHELD)
    return _show(case, tally, Recoding(tuples, tally.counts, groups, columns, codes, codes + np.int32(1)))


@kept(_KEPT)
def counted(case: Case) -> tuple[Schema, Tally]:
    """Return a case's schema and tally, made once."""
    table = case.table()
    return table.schema, table.engine.count(table.schema).tally


def _tally(case: Case) -> Tally:
    return counted(case)[1]


@kept(4 * _KEPT)
def _shown(case: Case, way: Callable[[Case, Tally], Generalized]) -> Generalized:
    return way(case, _tally(case))


def _show(case: Case, tally: Tally, recoding: Recoding) -> Generalized:
    return Generalized.of(tally, counted(case)[0], recoding)
