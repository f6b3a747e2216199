"""What is measured of each release, and how long it took to make."""

from __future__ import annotations

import time

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.common.progress import Progress, silent
from incrowd.core.form import Form
from incrowd.core.tally import group_tuples
from incrowd.experiments.results import Results
from incrowd.experiments.slicing.ways import Case, show_training, ways
from incrowd.experiments.tables import Subject, census_subject
from incrowd.forms.sliced import SlicedTable, as_sliced
from incrowd.metrics.learning import (
    Examples,
    classifier,
    encode,
    examples_of_tally,
    majority_accuracy,
    stratified_folds,
)
from incrowd.metrics.workload.cells import Cells
from incrowd.metrics.workload.queries import Workload, draw_queries
from incrowd.metrics.workload.sized import relative_errors
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release

RAW = "raw data"

_BLOCK = 50
_FOLDS = 4


def measure_queries(results: Results, case: Case) -> None:
    """Write down the median relative error of queries by the number of quasi-identifiers that they ask about."""
    subject, queries = case.subject, case.queries
    table = Cells.of_tally(subject.tally)
    number_drawn = queries * 3 * len(subject.quasi)
    drawn = draw_queries(subject.tally.trees, subject.quasi, subject.sensitive, number_drawn, case.rng)
    truth = table.answers(drawn)
    asked = drawn.asked[:, : len(subject.quasi)].sum(axis=1)
    # Relative errors of a handful of rows say nothing: one row in a thousand must fit.
    enough = truth >= max(subject.rows / 1000, 5)
    for number in range(1, len(subject.quasi) + 1):
        chosen = np.flatnonzero(enough & (asked == number))[:queries]
        if not len(chosen):
            continue
        workload = drawn.take(chosen)
        for name, release in case.releases.items():
            errors = relative_errors(truth[chosen], answers(release, workload))
            case.add(results, "queries", name, "median error", float(np.median(errors)), f"{number} attributes")


def answers(release: Release, workload: Workload) -> Floats:
    """Estimate the answers to many queries at once."""
    if release.form.labelled is not None:
        return Cells.of_release(release.form.labelled).answers(workload)
    sliced = as_sliced(release.form)
    assert sliced is not None
    return _sliced_answers(sliced, workload)


def _sliced_answers(form: SlicedTable, workload: Workload) -> Floats:
    order = np.argsort(form.buckets.bucket_of, kind="stable")
    starts = np.searchsorted(form.buckets.bucket_of[order], np.arange(len(form.buckets)))
    tuples, counts = form.buckets.tuples[order], form.buckets.counts[order].astype(np.float64)
    sizes = form.group_sizes.astype(np.float64)
    found = np.empty(len(workload))
    for first in range(0, len(workload), _BLOCK):
        queries = np.arange(first, min(first + _BLOCK, len(workload)))
        estimate = np.tile(sizes, (len(queries), 1))
        for column in form.columns:
            names = [name for name in column if name in workload.matches]
            if not names:
                continue
            fits = np.tile(counts, (len(queries), 1))
            for name in names:
                shares = form.matching_shares(name, workload.matches[name][queries])
                fits *= shares[:, form.shown.column(name)[tuples]]
            estimate *= np.add.reduceat(fits, starts, axis=1) / sizes
        found[queries] = estimate.sum(axis=1)
    return found


def measure_classifiers(results: Results, case: Case) -> None:
    """Write down how well the sensitive attribute and one quasi-identifier are learnt from releases of a training part.

    Accuracies are means over folds, on raw rows that neither the release nor the classifier has seen.
    """
    subject, rng = case.subject, case.rng
    found: dict[tuple[str, str], list[float]] = {}
    for training, held_out in stratified_folds(subject.tally, subject.sensitive, _FOLDS, rng):
        forms = show_training(subject, training, case.l, rng)
        for target in (subject.sensitive, "education") if forms else ():
            features = [name for name in (*subject.quasi, subject.sensitive) if name != target]
            test = examples_of_tally(held_out, features, target)
            raw = examples_of_tally(training, features, target)
            found.setdefault(("majority", f"{target}, any"), []).append(majority_accuracy(raw, test))
            learnt_from = {RAW: raw, **{name: _examples(form, features, target, rng) for name, form in forms.items()}}
            for name, examples in learnt_from.items():
                for kind, right in _accuracies(examples, test, subject).items():
                    found.setdefault((name, f"{target}, {kind}"), []).append(right)
    for (name, what), accuracies in found.items():
        case.add(results, "classifiers", name, "accuracy", float(np.mean(accuracies)), what)


def _accuracies(examples: Examples, test: Examples, subject: Subject) -> dict[str, float]:
    seen, unseen = encode(examples, subject.tally.trees), encode(test, subject.tally.trees)
    found = {}
    for kind in ("decision tree", "naive Bayes"):
        fitted = classifier(kind, int(examples.counts.sum())).fit(seen, examples.classes, examples.counts)
        found[kind] = float(test.counts[fitted.predict(unseen) == test.classes].sum() / test.counts.sum())
    return found


def _examples(form: Form, features: list[str], target: str, rng: np.random.Generator) -> Examples:
    codes, weights = form.reconstruct(rng)
    names = [*features, target]
    rows = np.stack([codes[name] for name in names], axis=1).astype(np.int32)
    index, first = group_tuples(rows, [form.tally.trees[name].size for name in names])
    counts = np.bincount(index, weights=weights, minlength=len(first)).astype(np.int64)
    return Examples(tuple(features), rows[first][:, :-1], rows[first][:, -1], counts)


def measure_times(results: Results, sizes: tuple[int, ...], l: int, seed: int, progress: Progress) -> None:
    """Write down how much time of the CPU each way takes on ever larger tables."""
    for number, rows in enumerate(sizes):
        progress("times", number / max(len(sizes), 1))
        subject = census_subject("occupation", rows, seed)
        for name, (method, model) in ways(subject, l).items():
            taken = []
            for _ in range(3):
                start = time.process_time()  # other people's work on the machine is not ours
                publish(subject.table, model, method=method, seed=seed, progress=silent)
                taken.append(time.process_time() - start)
            results.add("times", subject.name, rows, name, f"l = {l}", "seconds", min(taken))
    progress("times", 1.0)
