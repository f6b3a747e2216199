"""Slicing of a wide and sparse table, in the manner of the paper's experiment on the Netflix Prize data set.

That data set may not be had any more, so `datasets.ratings` stands in: people, and what they think of many films,
mostly nothing. Every film is an attribute that others may know. Some people are held out; what the others' release is
worth is how well ratings of the people held out are predicted from their other ratings. What a release has to keep for
that is which films are liked together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from incrowd.common.arrays import Floats
from incrowd.common.progress import Progress
from incrowd.core.form import Form
from incrowd.datasets import ratings
from incrowd.errors import Unsatisfiable
from incrowd.experiments.results import Results
from incrowd.experiments.slicing.measuring import RAW
from incrowd.experiments.slicing.membership import measure_membership
from incrowd.experiments.slicing.ways import BUCKETIZED, GENERALIZED, PAPER, RECOMMENDED, SLICED, Case, ways
from incrowd.experiments.tables import Subject
from incrowd.forms.sliced import as_sliced
from incrowd.methods.slicing import Slicing
from incrowd.methods.slicing_parts.attribute_columns import Columns
from incrowd.models.sliced_diversity import SlicedDiversity
from incrowd.publishing.publish import publish
from incrowd.publishing.release import Release
from incrowd.publishing.table import read

AT_RANDOM, ITEM_MEAN = "slicing, columns at random", "mean of the item"
EXPLAINED = "share of squared error explained"
RATING_L = 3
"""As many as the table allows with room to spare: one person in eleven is retired, and ages tell who."""

_SENSITIVE = "occupation"
_HELD_OUT = 0.25
_RIDGE = 20.0
"""Ratings that agree with the mean, added to every item: pairs that few people rated say little."""


def measure_ratings(results: Results, rows: int, items: int, seed: int, progress: Progress) -> None:
    """Write down how much better than by an item's mean ratings are predicted, and who is told to be in the table."""
    rng = np.random.default_rng([seed, 7])
    people = ratings(rows, items, seed=seed)
    out = np.zeros(rows, dtype=bool)
    out[rng.permutation(rows)[: int(_HELD_OUT * rows)]] = True
    names = [name for name in people.columns if name.startswith("item_")]
    training, held_out = people.filter(~out), people.filter(out)
    subject = _subject(training)
    releases = _releases(results, subject, seed, rng)
    test, mean = _matrix(held_out, names), _means(_matrix(training, names))
    learnt_from = {RAW: _matrix(training, names)} | {
        name: _published(release.form, names, rng) for name, release in releases.items()
    }
    for number, (name, known) in enumerate(learnt_from.items()):
        progress("ratings", number / len(learnt_from))
        _write(results, subject, name, explained(test, predicted(known, test), mean))
    _write(results, subject, ITEM_MEAN, 0.0)
    measure_membership(results, Case(subject, RATING_L, releases, 0, rng))
    progress("ratings", 1.0)


def _write(results: Results, subject: Subject, method: str, value: float) -> None:
    results.add("ratings", subject.name, subject.rows, method, f"l = {RATING_L}", EXPLAINED, value)


def _subject(people: pl.DataFrame) -> Subject:
    quasi = [name for name in people.columns if name != _SENSITIVE]
    return Subject("ratings", read(people, quasi=quasi, sensitive=[_SENSITIVE]), _SENSITIVE)


def _releases(results: Results, subject: Subject, seed: int, rng: np.random.Generator) -> dict[str, Release]:
    compared = ways(subject, RATING_L)
    releases = {}
    for name in (GENERALIZED, BUCKETIZED, SLICED, PAPER, RECOMMENDED):
        method, model = compared[name]
        try:
            releases[name] = publish(subject.table, model, method=method, seed=seed)
        except Unsatisfiable:
            results.note(f"At l = {RATING_L}, the ratings cannot be published by {name}.")
    form = as_sliced(releases[PAPER].form) if PAPER in releases else None
    if form is not None:
        results.note(f"Columns of the ratings at l = {RATING_L}: {'; '.join(', '.join(one) for one in form.columns)}.")
        mixed = Slicing(columns=mixed_columns(form.columns, rng), tuple_partition="cuts")
        releases[AT_RANDOM] = publish(subject.table, SlicedDiversity(RATING_L), method=mixed, seed=seed)
    return releases


def mixed_columns(columns: Sequence[Sequence[str]], rng: np.random.Generator) -> Columns:
    """Return as many columns of the same sizes with other attributes in them; the sensitive one's stays as it is."""
    others = [name for column in columns if _SENSITIVE not in column for name in column]
    mixed = iter(np.array(others)[rng.permutation(len(others))].tolist())
    return tuple(
        tuple(column) if _SENSITIVE in column else tuple(str(next(mixed)) for _ in column) for column in columns
    )


def _matrix(people: pl.DataFrame, names: Sequence[str]) -> Floats:
    """Return ratings, a row per person and a column per item; NaN where there is none."""
    return people.select(pl.col(names).cast(pl.Float64)).fill_null(np.nan).to_numpy()


def _published(form: Form, names: Sequence[str], rng: np.random.Generator) -> Floats:
    """Return the ratings of rows that could be those behind a release, as many of each as it tells of."""
    codes, weights = form.reconstruct(rng)
    trees = form.tally.trees
    values = pl.DataFrame({name: trees[name].values.gather(codes[name]) for name in names})
    return np.repeat(_matrix(values, names), np.rint(weights).astype(np.int64), axis=0)


def _means(known: Floats) -> Floats:
    """Return the mean rating of each item; that of all ratings where an item has none."""
    rated = ~np.isnan(known)
    every = float(known[rated].mean()) if rated.any() else 0.0
    sums, counts = np.where(rated, known, 0.0).sum(axis=0), rated.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), every)


def predicted(known: Floats, test: Floats) -> Floats:
    """Return a guess for each rating of some people from all their other ratings and from which items they rated.

    One ridge regression for each item over those who rated it.
    """
    mean = _means(known)
    seen, unseen = _features(known, mean), _features(test, mean)
    guesses = np.tile(mean, (len(test), 1))
    items = known.shape[1]
    for item in range(items):
        rated = ~np.isnan(known[:, item])
        if not rated.any():
            continue
        of_others = np.delete(np.arange(2 * items), [item, items + item])
        features = seen[rated][:, of_others]
        centre = features.mean(axis=0)
        features = features - centre
        matrix = features.T @ features + _RIDGE * np.eye(len(of_others))
        weights = np.linalg.solve(matrix, features.T @ (known[rated, item] - mean[item]))
        guesses[:, item] += (unseen[:, of_others] - centre) @ weights
    return np.clip(guesses, 1.0, 5.0)


def _features(known: Floats, mean: Floats) -> Floats:
    rated = ~np.isnan(known)
    return np.concatenate([np.where(rated, known - mean, 0.0), rated.astype(np.float64)], axis=1)


def explained(test: Floats, guesses: Floats, mean: Floats) -> float:
    """Return which share of the squared error of the items' means is gone: 1 is all of it, 0 or less none."""
    given = ~np.isnan(test)
    errors, without = (float(((np.where(given, test - told, 0.0)) ** 2).sum()) for told in (guesses, mean))
    return 1.0 - errors / without if without else 0.0
