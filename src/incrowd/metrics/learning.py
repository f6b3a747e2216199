"""Training sets from generalized releases, and what classifiers make of them.

A published row is turned back into values by drawing each one evenly from its label's run; test rows are raw. One
encoder serves all classifiers: an indicator per value, and for numbers and dates their place between smallest and
largest besides. On
Adult, drawn rows served decision trees and linear SVMs better than expected indicators (a value that is one of four
counts a quarter each): by up to nine points for trees on wide groups, which then cut at shares that no raw row has;
naive Bayes and logistic regression did alike with both. Cost: that of the classifiers, on distinct rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats
from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import QueryError
from incrowd.hierarchies.tree import Tree

CLASSIFIERS = ("decision tree", "naive Bayes", "logistic regression", "linear SVM")
_LEAF_PEOPLE = 50
"""A leaf of a decision tree stands for this many people at least; examples are distinct rows, so that weights count."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct coded rows with their classes, and how many people each stands for: what a classifier is given."""

    columns: tuple[str, ...]
    codes: Codes
    classes: NDArray[np.int32]
    counts: Counts


def examples_of_tally(tally: Tally, features: Sequence[str], target: str) -> Examples:
    """Take rows as they are."""
    codes = tally.codes_of((*features, target))
    return _distinct(codes, tally.counts, features, [tally.trees[name].size for name in (*features, target)])


def examples_of_release(release: Labelled, features: Sequence[str], target: str, rng: np.random.Generator) -> Examples:
    """Draw each value of each published row evenly from what its label may stand for."""
    lines = np.repeat(np.arange(len(release.counts)), release.counts)
    codes = np.empty((len(lines), len(features) + 1), dtype=np.int32)
    for place, name in enumerate((*features, target)):
        if name in release.schema.sensitive:
            codes[:, place] = release.sensitive[lines, list(release.schema.sensitive).index(name)]
        else:
            column = release.shown.columns.index(name)
            groups = release.groups[lines]
            lows, highs = release.shown.lows[groups, column], release.shown.highs[groups, column]
            codes[:, place] = rng.integers(lows, highs)
    sizes = [release.tally.trees[name].size for name in (*features, target)]
    return _distinct(codes, np.ones(len(lines), dtype=np.int64), features, sizes)


def _distinct(codes: Codes, counts: Counts, features: Sequence[str], sizes: Sequence[int]) -> Examples:
    index, first = group_tuples(codes, sizes)
    totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
    return Examples(tuple(features), codes[first][:, :-1], codes[first][:, -1], totals)


def encode(examples: Examples, trees: Mapping[str, Tree]) -> Floats:
    """Return features as numbers between 0 and 1; they depend on the columns' domains, and on no row."""
    parts: list[Floats] = []
    for place, name in enumerate(examples.columns):
        codes, tree = examples.codes[:, place], trees[name]
        parts.append(np.eye(tree.size)[codes])
        if tree.ordered and tree.span:
            positions = (tree.positions - np.nanmin(tree.positions)) / tree.span
            parts.append(np.nan_to_num(positions, nan=0.5)[codes][:, None])
    return np.concatenate(parts, axis=1)


def classifier(name: str, people: int) -> Any:
    """Return one of the four, unfitted, to be trained on examples of so many people."""
    with needing_extra("experiments", "classifiers"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.svm import LinearSVC
        from sklearn.tree import DecisionTreeClassifier
    match name:
        case "decision tree":
            share = min(_LEAF_PEOPLE / people, 0.1)
            return DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=share, random_state=0)
        case "naive Bayes":
            return MultinomialNB()
        case "logistic regression":
            return LogisticRegression(solver="newton-cholesky", max_iter=200)
        case "linear SVM":
            return LinearSVC(dual=False, max_iter=5000)
        case _:
            raise QueryError(f"there is no classifier '{name}'.  Hint: it is one of {', '.join(CLASSIFIERS)}.")


def accuracies(
    train: Examples, test: Examples, trees: Mapping[str, Tree], kinds: Sequence[str] = CLASSIFIERS
) -> dict[str, float]:
    """Return the share of test rows that each classifier gets right."""
    seen, unseen = encode(train, trees), encode(test, trees)
    found = {}
    for name in kinds:
        if len(np.unique(train.classes)) == 1:
            told = np.full(len(test.classes), train.classes[0])
        else:
            unfitted = classifier(name, int(train.counts.sum()))
            fitted = unfitted.fit(seen, train.classes, sample_weight=train.counts)
            told = fitted.predict(unseen)
        found[name] = float(test.counts[told == test.classes].sum() / test.counts.sum())
    return found


def majority_accuracy(train: Examples, test: Examples) -> float:
    """Return the share of test rows that are of the training set's largest class."""
    largest = np.bincount(train.classes, weights=train.counts).argmax()
    return float(test.counts[test.classes == largest].sum() / test.counts.sum())


def stratified_folds(tally: Tally, target: str, folds: int, rng: np.random.Generator) -> Iterator[tuple[Tally, Tally]]:
    """Yield training and test part, fold by fold: each row is in one test part, and classes are dealt out evenly."""
    if not 2 <= folds <= tally.rows:
        raise QueryError(f"there are from 2 up to {tally.rows:,} folds for {tally.rows:,} rows, not {folds:,}.")
    rows = np.repeat(np.arange(len(tally)), tally.counts)[rng.permutation(tally.rows)]
    rows = rows[np.argsort(tally.column(target)[rows], kind="stable")]
    fold_of = np.arange(len(rows)) % folds
    for fold in range(folds):
        held_out = np.bincount(rows[fold_of == fold], minlength=len(tally))
        yield _part(tally, tally.counts - held_out), _part(tally, held_out)


def _part(tally: Tally, counts: Counts) -> Tally:
    there = np.flatnonzero(counts)
    return replace(tally, codes=tally.codes[there], counts=counts[there].astype(np.int64))
