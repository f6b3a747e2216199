"""What a release is still good for: distributions, counting queries, learning; each against the table before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.auditing.suppression import FEW, bars
from incrowd.common.arrays import Floats
from incrowd.common.progress import Progress
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
    from incrowd.metrics.learning import Examples
    from incrowd.metrics.workload.queries import Workload
    from incrowd.metrics.workload.sized import Size


QUERIES = 300
_SIZES: tuple[Size, ...] = ("small", "large", "unbounded")
_ROWS_TO_ASK = 20_000
_ROWS_TO_LEARN = 20_000
MANY_CLASSES = ("decision tree", "naive Bayes")
FEW_CLASSES = (*MANY_CLASSES, "logistic regression")
_MOST_CLASSES = 8
"""With more classes than this, classifiers that learn one class against all others take minutes."""
_MOST_PAIRS = 66
"""All pairs of twelve columns; of more columns, those pairs that go together most are of interest anyway."""


def columns_before_and_after(truth: Tally, form: Form, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return how far each column's values are from the table's, and both as bars."""
    seen = ExpectedTables.of(truth, form, rng)
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


def pairs_before_and_after(truth: Tally, form: Form, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return how far pairs of columns are from the table's, and how much of what goes together still does."""
    seen = ExpectedTables.of(truth, form, rng)
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


def query_errors(
    truth: Tally,
    form: Form,
    rate: float,
    rng: np.random.Generator,
    progress: Progress,
    number: int = QUERIES,
    totals: Floats | None = None,
) -> list[dict[str, Any]]:
    """Return the relative errors of random counting queries, by the size of their answers.

    Queries of a size are looked for among a sample of a large table; their true answers are those of all of it. Where
    `totals` tell what the rows of each tuple weigh, weights are added up in place of rows, on both sides.
    """
    from incrowd.metrics.workload.cells import Cells
    from incrowd.metrics.workload.sized import draw_workload

    found = []
    few, cells = drawn_people(truth, _ROWS_TO_ASK, rng), Cells.of_tally(truth, totals)
    quasi, sensitive = sorted(form.schema.quasi), sorted(form.schema.sensitive)
    for place, size in enumerate(_SIZES):
        progress("queries", place / len(_SIZES))
        try:
            workload, _ = draw_workload(
                few,
                quasi,
                sensitive[0] if sensitive else None,
                size,
                number,
                rng,
            )
        except QueryError:
            continue  # the table has no queries of this size
        actual = cells.answers(workload)
        fewest = 0.0 if totals is None else 1.0  # a person may stand for nobody
        estimated = answers(form, workload, weighted=totals is not None) / rate
        errors = np.abs(estimated - actual) / np.maximum(actual, fewest)
        found.append({"queries": size, "number": len(errors), **weighed(totals), **error_quantiles(errors)})
    progress("queries", 1.0)
    return found


def weighed(totals: Floats | None) -> dict[str, bool]:
    """Say that answers are sums of weights, where they are."""
    return {} if totals is None else {"weighted": True}


def answers(form: Form, workload: Workload, *, weighted: bool = False) -> Floats:
    """Answer many queries at once where the form allows it."""
    from incrowd.metrics.workload.cells import Cells

    if form.labelled is not None:
        return Cells.of_release(form.labelled, weighted=weighted).answers(workload)
    return np.array([form.count(workload.query(number)) for number in range(len(workload))])


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


def losses(truth: Tally, form: Form, columns: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> dict[str, float]:
    """Return all metrics of what labels lose, by name; nothing for forms that have no labels.

    Those that average over columns and pairs are taken from what is known of these already.
    """
    labelled = form.labelled
    if labelled is None:
        return {}
    found = _averages(columns, pairs)
    for name, kind in registered("metrics").items():
        if name not in found and not any(kind.recipe_keys().values()):
            found[name] = float(kind().measure(truth, labelled))
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
