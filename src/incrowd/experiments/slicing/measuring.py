"""What is measured of each release, and how long it took to make."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.datasets import census
from incrowd.errors import Unsatisfiable
from incrowd.experiments.cells import Cells
from incrowd.experiments.learning import (
    Examples,
    classifier,
    encode,
    examples_of_tally,
    majority_accuracy,
    stratified_folds,
)
from incrowd.experiments.queries import Workload, draw_queries
from incrowd.experiments.results import Results
from incrowd.experiments.tables import Subject, census_subject
from incrowd.experiments.workloads import relative_errors
from incrowd.methods import Anatomy, Method, Mondrian, Slicing
from incrowd.models import DeltaPresence, KAnonymity, Model, ProbabilisticLDiversity, SlicedDiversity
from incrowd.progress import Progress, silent
from incrowd.publishing import publish
from incrowd.releases.generalized import Generalized
from incrowd.releases.release import Release
from incrowd.releases.sliced import SlicedTable
from incrowd.releases.training import reconstruct
from incrowd.slicing.matching import BucketIndex, matching_buckets
from incrowd.slicing.membership import count_fakes, fake_tuples, known_parts
from incrowd.table import read
from incrowd.tally import Tally, group_tuples

GENERALIZED, BUCKETIZED, SLICED, RAW = "generalization", "bucketization", "slicing", "raw data"
WIDE = "slicing, buckets of 50"
Floats = NDArray[np.float64]

_BLOCK = 50


def ways(l: int) -> dict[str, tuple[Method, list[Model]]]:
    """Return the three ways to the same protection of the sensitive value, and slicing in larger buckets besides."""
    return {
        GENERALIZED: (Mondrian(), [ProbabilisticLDiversity(l)]),
        BUCKETIZED: (Anatomy(tables="one"), [ProbabilisticLDiversity(l)]),
        SLICED: (Slicing(), [SlicedDiversity(l)]),
        WIDE: (Slicing(), [SlicedDiversity(l), KAnonymity(50)]),
    }


def publish_all(results: Results, subject: Subject, l: int, seed: int) -> dict[str, Release]:
    """Publish a table in all three ways; what cannot be had is noted and left out."""
    releases = {}
    for name, (method, model) in ways(l).items():
        try:
            releases[name] = publish(subject.table, model, method=method, seed=seed)
        except Unsatisfiable:
            results.note(f"{name} of {subject.name} at l = {l} is impossible: a value is too frequent.")
    sliced = releases.get(SLICED)
    if sliced is not None and isinstance(sliced.form, SlicedTable):
        shown = "; ".join(", ".join(column) for column in sliced.form.columns)
        results.note(f"Columns of {subject.name} at l = {l}: {shown}.")
    return releases


def measure_queries(
    results: Results,
    subject: Subject,
    releases: Mapping[str, Release],
    l: int,
    queries: int,
    rng: np.random.Generator,
) -> None:
    """Write down the median relative error of queries by the number of quasi-identifiers that they ask about."""
    table = Cells.of_tally(subject.tally)
    drawn = draw_queries(subject.tally.trees, subject.quasi, subject.sensitive, queries * 3 * len(subject.quasi), rng)
    truth = table.answers(drawn)
    asked = drawn.asked[:, : len(subject.quasi)].sum(axis=1)
    # Relative errors of a handful of rows say nothing: one row in a thousand must fit.
    enough = truth >= max(subject.rows / 1000, 5)
    for number in range(1, len(subject.quasi) + 1):
        chosen = np.flatnonzero(enough & (asked == number))[:queries]
        if not len(chosen):
            continue
        workload = drawn.take(chosen)
        for name, release in releases.items():
            errors = relative_errors(truth[chosen], answers(release, workload))
            results.add("queries", subject.name, subject.rows, name, f"l = {l}, {number} attributes", "median error",
                        float(np.median(errors)))  # fmt: skip


def answers(release: Release, workload: Workload) -> Floats:
    """Estimate the answers to many queries at once."""
    if isinstance(release.form, Generalized):
        return Cells.of_release(release.form).answers(workload)
    assert isinstance(release.form, SlicedTable)
    return _sliced_answers(release.form, workload)


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
                fits *= workload.matches[name][queries][:, form.shown.column(name)[tuples]]
            estimate *= np.add.reduceat(fits, starts, axis=1) / sizes
        found[queries] = estimate.sum(axis=1)
    return found


def measure_classifiers(
    results: Results,
    subject: Subject,
    releases: Mapping[str, Release],
    l: int,
    queries: int,
    rng: np.random.Generator,
) -> None:
    """Write down how well the sensitive attribute and one quasi-identifier are learnt from each release."""
    _, held_out = next(stratified_folds(subject.tally, subject.sensitive, 4, rng))
    for target in (subject.sensitive, "education"):
        features = [name for name in (*subject.quasi, subject.sensitive) if name != target]
        test = examples_of_tally(held_out, features, target)
        raw = examples_of_tally(subject.tally, features, target)
        results.add("classifiers", subject.name, subject.rows, "majority", f"l = {l}, {target}, any", "accuracy",
                    majority_accuracy(raw, test))  # fmt: skip
        trained = {RAW: raw, **{name: _examples(release, features, target, rng) for name, release in releases.items()}}
        for name, examples in trained.items():
            seen, unseen = encode(examples, subject.tally.trees), encode(test, subject.tally.trees)
            for kind in ("decision tree", "naive Bayes"):
                fitted = classifier(kind, int(examples.counts.sum())).fit(seen, examples.classes, examples.counts)
                right = float(test.counts[fitted.predict(unseen) == test.classes].sum() / test.counts.sum())
                results.add("classifiers", subject.name, subject.rows, name, f"l = {l}, {target}, {kind}", "accuracy",
                            right)  # fmt: skip


def _examples(release: Release, features: list[str], target: str, rng: np.random.Generator) -> Examples:
    codes, weights = reconstruct(release.form, rng)
    names = [*features, target]
    rows = np.stack([codes[name] for name in names], axis=1).astype(np.int32)
    index, first = group_tuples(rows, [release.form.tally.trees[name].size for name in names])
    counts = np.bincount(index, weights=weights, minlength=len(first)).astype(np.int64)
    return Examples(tuple(features), rows[first][:, :-1], rows[first][:, -1], counts)


def measure_membership(
    results: Results,
    subject: Subject,
    releases: Mapping[str, Release],
    l: int,
    queries: int,
    rng: np.random.Generator,
) -> None:
    """Write down how many buckets original and fake people match, and how many fakes there are for each original."""
    tally, _ = subject.tally.project(subject.quasi)
    fakes = fake_tuples(rng, tally, 2_000)
    some = tally.codes[rng.choice(len(tally), min(2_000, len(tally)), replace=False)]
    for name in (BUCKETIZED, SLICED, WIDE):
        release = releases.get(name)
        if release is None or not isinstance(release.form, SlicedTable):
            continue
        form = release.form
        add = results.add
        add("membership", subject.name, subject.rows, name, f"l = {l}", "fake-original ratio",
            count_fakes(form.slices, form.buckets).ratio)  # fmt: skip
        for kind, people in (("original", some), ("fake", fakes)):
            matched = _matched(form, tally, people)
            add("membership", subject.name, subject.rows, name, f"l = {l}, {kind}", "share that matches a bucket",
                float((matched > 0).mean()))  # fmt: skip
            add("membership", subject.name, subject.rows, name, f"l = {l}, {kind}", "buckets matched",
                float(matched.mean()))  # fmt: skip


def measure_presence(results: Results, rows: int, l: int, seed: int) -> None:
    """Write down how sure generalization makes it that somebody is in the table, of twice as many people."""
    subject = census_subject("occupation", rows, seed)
    others = census(rows, seed=seed + 1_000)
    people = pl.concat([census(rows, seed=seed), others]).select(subject.quasi)
    table = read(
        census(rows, seed=seed),
        quasi=subject.quasi,
        sensitive=[subject.sensitive],
        others="drop",
        hierarchies=dict(subject.schema.quasi),
        population=people,
    )
    release = publish(table, [ProbabilisticLDiversity(l), DeltaPresence(1.0)], method=Mondrian(), seed=seed)
    results.add("membership", subject.name, rows, GENERALIZED, f"l = {l}", "largest presence (1/2 is no news)",
                release.guarantees[1].achieved)  # fmt: skip


def _matched(form: SlicedTable, people: Tally, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many buckets each of some people matches in all that is known of them."""
    whole = np.zeros((len(codes), len(form.shown.columns)), dtype=np.int32)
    for place, name in enumerate(people.columns):
        whole[:, form.shown.columns.index(name)] = codes[:, place]
    known = known_parts(form.shown, form.slices, form.columns, whole, tuple(form.schema.sensitive))
    return matching_buckets(BucketIndex(form.slices, form.buckets), known)


def measure_times(results: Results, sizes: tuple[int, ...], l: int, seed: int, progress: Progress) -> None:
    """Write down how long each way takes on ever larger tables, after one run that compiles."""
    for number, rows in enumerate(sizes):
        progress("times", number / max(len(sizes), 1))
        subject = census_subject("occupation", rows, seed)
        for name, (method, model) in ways(l).items():
            taken = []
            for _ in range(2):
                start = time.perf_counter()
                publish(subject.table, model, method=method, seed=seed, progress=silent)
                taken.append(time.perf_counter() - start)
            results.add("times", subject.name, rows, name, f"l = {l}", "seconds", min(taken))
    progress("times", 1.0)
