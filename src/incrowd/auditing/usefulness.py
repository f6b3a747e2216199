"""What a release is still good for: distributions, counting queries, learning; each against the table before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.auditing.suppression import FEW, bars
from incrowd.common.arrays import Floats
from incrowd.common.progress import Progress
from incrowd.common.threads import Once, do_together
from incrowd.core.families import registered
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import QueryError
from incrowd.metrics.association_kept import AssociationKept
from incrowd.metrics.distributions import (
    association,
    column_distances,
    comparable_pairs,
    distances,
    joint_counts,
)
from incrowd.metrics.expected_tables import ExpectedTables
from incrowd.metrics.total_variation import PairwiseTotalVariation, TotalVariation

if TYPE_CHECKING:
    from incrowd.core.form import Form
    from incrowd.core.labelled import Labelled
    from incrowd.metrics.learning import Examples
    from incrowd.metrics.workload.queries import Workload
    from incrowd.metrics.workload.sized import Size


QUERIES = 300
SIZES: tuple[Size, ...] = ("small", "large", "unbounded")
_ROWS_TO_ASK = 20_000
_ROWS_TO_LEARN = 20_000
MANY_CLASSES = ("decision tree", "naive Bayes")
FEW_CLASSES = (*MANY_CLASSES, "logistic regression")
_MOST_CLASSES = 8
"""With more classes than this, classifiers that learn one class against all others take minutes."""
_MOST_PAIRS = 66
"""All pairs of twelve columns; of more columns, those pairs that go together most are of interest anyway."""


def columns_before_and_after(truth: Tally, form: Form, seen: ExpectedTables) -> list[dict[str, Any]]:
    """Return how far each column's values are from the table's, and both as bars."""
    found = []
    for name in sorted(form.schema.tallied):
        tree = truth.trees[name]
        before, after = truth.value_counts(name).astype(np.float64), seen.column(name)
        labels, bar_of = bars(tree, before, after > 0)
        old, new = (np.bincount(bar_of, weights=given, minlength=len(labels)) for given in (before, after))
        there = (old >= FEW) | (old == 0) & (new >= FEW)
        found.append(
            {
                "column": name,
                "role": "sensitive" if name in form.schema.sensitive else "quasi-identifier",
                **_written(column_distances(before, after, tree)),
                "bars": [
                    {"value": label, "before": float(b / max(before.sum(), 1)), "after": float(a / max(after.sum(), 1))}
                    for label, b, a, shown in zip(labels, old, new, there, strict=True)
                    if shown
                ],
            }
        )
    return found


def pairs_before_and_after(truth: Tally, form: Form, seen: ExpectedTables) -> list[dict[str, Any]]:
    """Return how far pairs of columns are from the table's, and how much of what goes together still does."""
    found = []
    pairs = comparable_pairs(truth, sorted(form.schema.tallied))[:_MOST_PAIRS]
    for (one, two), kept in zip(pairs, seen.associations(pairs), strict=True):
        sizes = truth.trees[one].size, truth.trees[two].size
        before = joint_counts(truth.column(one), truth.column(two), truth.counts.astype(np.float64), sizes)
        after = seen.pair(one, two)
        found.append(
            {
                "one": one,
                "two": two,
                "total variation": distances(before, after).total_variation,
                "association before": association(before),
                "association after": kept,
            }
        )
    return found


class Queries:
    """Random counting queries, by the size of their answers, and the relative errors of what a form says to them.

    Queries of a size are looked for among a sample of a large table; their true answers are those of all of it. Where
    `totals` tell what the rows of each tuple weigh, weights are added up in place of rows, on both sides.
    """

    def __init__(
        self,
        truth: Tally,
        form: Form,
        rate: float,
        rng: np.random.Generator,
        *,
        number: int = QUERIES,
        totals: Floats | None = None,
    ) -> None:
        self._truth, self._form, self._rate, self._rng = truth, form, rate, rng
        self._number, self._totals = number, totals
        self._once = Once()

    def drawn(self) -> tuple[dict[Size, Workload], np.random.Generator]:
        """Return the queries of each size that the table has any of, and chance as it is after they were drawn."""
        return self._once.get("drawn", self._draw)

    def _draw(self) -> tuple[dict[Size, Workload], np.random.Generator]:
        from incrowd.metrics.workload.sized import draw_workload

        schema, found = self._form.schema, dict[Any, Any]()
        few = drawn_people(self._truth, _ROWS_TO_ASK, self._rng)
        quasi, sensitive = sorted(schema.quasi), min(schema.sensitive, default=None)
        for size in SIZES if quasi else ():
            with suppress(QueryError):  # the table has no queries of this size
                found[size], _ = draw_workload(few, quasi, sensitive, size, self._number, self._rng)
        return found, self._rng

    def errors(self, size: Size) -> dict[str, Any] | None:
        """Return the errors of queries of a size; None where the table has none."""
        from incrowd.metrics.workload.cells import Cells

        workload, totals = self.drawn()[0].get(size), self._totals
        if workload is None:
            return None
        cells = self._once.get("table", lambda: Cells.of_tally(self._truth, totals))
        actual = cells.answers(workload)
        fewest = 0.0 if totals is None else 1.0  # a person may stand for nobody
        estimated = self._answers(workload) / self._rate
        errors = np.abs(estimated - actual) / np.maximum(actual, fewest)
        return {"queries": size, "number": len(errors), **weighed(totals), **error_quantiles(errors)}

    def _answers(self, workload: Workload) -> Floats:
        """Answer many queries at once where the form allows it."""
        from incrowd.metrics.workload.cells import Cells

        labelled, weighted = self._form.labelled, self._totals is not None
        if labelled is not None:
            return self._once.get("release", lambda: Cells.of_release(labelled, weighted=weighted)).answers(workload)
        return np.array([self._form.count(workload.query(number)) for number in range(len(workload))])


def weighed(totals: Floats | None) -> dict[str, bool]:
    """Say that answers are sums of weights, where they are."""
    return {} if totals is None else {"weighted": True}


def learning(truth: Tally, form: Form, rng: np.random.Generator, progress: Progress) -> list[dict[str, Any]]:
    """Return how well classifiers predict each sensitive column, taught by the release and by the raw table.

    Both are tested on people whom neither is taught: a third of the table is held out, and their rows are taken out of
    the release as far as a reader can tell which these are (`Form.without`). Where no row is anybody's, as in noisy
    counts, they have been counted, and `held out` says so.
    """
    from incrowd.metrics.learning import accuracies, examples_of_tally, majority_accuracy, stratified_folds

    found: list[dict[str, Any]] = []
    targets = sorted(form.schema.sensitive) or sorted(form.schema.quasi)[:1]
    for place, target in enumerate(targets):
        progress("learning", place / len(targets))
        features = [name for name in sorted(form.schema.tallied) if name != target]
        if truth.rows < 3 or not features:
            continue
        drawn = drawn_people(truth, _ROWS_TO_LEARN, rng)
        others, tested = next(stratified_folds(drawn, target, 3, rng))
        left = form.without(tested)
        taught = _taught(truth, form if left is None else left, features, target, others.rows, rng)
        test, raw = (examples_of_tally(part, features, target) for part in (tested, others))
        if taught is None:
            continue
        classes = len(np.unique(raw.classes))
        kinds = FEW_CLASSES if classes <= _MOST_CLASSES else MANY_CLASSES
        by_release, by_table = (accuracies(examples, test, truth.trees, kinds) for examples in (taught, raw))
        majority = majority_accuracy(raw, test)
        found += [
            {
                "target": target,
                "classifier": kind,
                "accuracy": by_release[kind],
                "accuracy on raw data": by_table[kind],
                "majority": majority,
                "people tested": tested.rows,
                "held out": left is not None,
            }
            for kind in by_release
        ]
    progress("learning", 1.0)
    return found


def _taught(
    truth: Tally, form: Form, features: Sequence[str], target: str, number: int, rng: np.random.Generator
) -> Examples | None:
    """Return so many rows of a release as examples; None where it has none."""
    from incrowd.metrics.learning import Examples

    codes, weights = form.reconstruct(rng)
    chosen = rng.permutation(len(weights))[:number]
    names = [*features, target]
    rows = np.stack([codes[name][chosen] for name in names], axis=1).astype(np.int32)
    index, first = group_tuples(rows, [truth.trees[name].size for name in names])
    counts = np.bincount(index, weights=weights[chosen], minlength=len(first)).astype(np.int64)
    some = counts > 0
    if not some.any():
        return None
    return Examples(tuple(features), rows[first][some][:, :-1], rows[first][some][:, -1], counts[some])


def can_learn() -> bool:
    """Whether the library that the classifiers come from is installed."""
    return find_spec("sklearn") is not None


def losses_of_labels(truth: Tally, form: Form) -> dict[str, float]:
    """Return what metrics say of what labels lose, by name, but those that average over columns or pairs.

    There are none for forms that have no labels, and none where only items are published.
    """
    labelled = form.labelled
    if labelled is None or not labelled.shown.columns:
        return {}
    averages = _averages([], [])
    kinds = {
        name: kind
        for name, kind in registered("metrics").items()
        if name not in averages and not any(kind.recipe_keys().values())
    }
    measured = do_together([partial(_measured, kind, truth, labelled) for kind in kinds.values()], steps=len(truth))
    return dict(zip(kinds, measured, strict=True))


def _measured(kind: Callable[[], Any], truth: Tally, labelled: Labelled) -> float:
    return float(kind().measure(truth, labelled))


def with_averages(
    losses: dict[str, float], columns: list[dict[str, Any]], pairs: list[dict[str, Any]]
) -> dict[str, float]:
    """Return losses with those that average over columns and pairs, as far as they are numbers, by name."""
    found = {**losses, **_averages(columns, pairs)}
    return {name: found[name] for name in sorted(found) if np.isfinite(found[name])}


def _averages(columns: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> dict[str, float]:
    strengths = [(pair["association before"], pair["association after"]) for pair in pairs]
    most = sum(max(both) for both in strengths)
    return {
        TotalVariation.name: _mean([column["total variation"] for column in columns]),
        PairwiseTotalVariation.name: _mean([pair["total variation"] for pair in pairs]),
        AssociationKept.name: sum(min(both) for both in strengths) / most if most else 1.0,
    }


def _mean(values: list[float]) -> float:
    return sum(values) / max(len(values), 1)


def drawn_people(truth: Tally, number: int, rng: np.random.Generator) -> Tally:
    """Return the tally of so many people of a larger table."""
    from dataclasses import replace

    from incrowd.core.target import draw_people

    chosen, counts = draw_people(truth.counts, number, rng)
    return replace(truth, codes=truth.codes[chosen], counts=counts)


def error_quantiles(errors: Floats) -> dict[str, float]:
    """Return the errors' middle and mean."""
    lower, median, upper = np.quantile(errors, [0.25, 0.5, 0.75])
    return {
        "median error": float(median),
        "lower quartile": float(lower),
        "upper quartile": float(upper),
        "mean error": float(errors.mean()),
    }


def _written(found: Any) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in asdict(found).items() if value is not None}
