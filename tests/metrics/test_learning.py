"""Training sets from releases: rows are drawn from what labels stand for, and folds leave nobody out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import incrowd as ic
from incrowd.errors import QueryError
from incrowd.metrics.learning import (
    CLASSIFIERS,
    accuracies,
    classifier,
    encode,
    examples_of_release,
    examples_of_tally,
    majority_accuracy,
    stratified_folds,
)
from tests.experiments.experiment_tables import counted, frames, opened, people

FEATURES = ("age", "place")


@settings(max_examples=14)
@given(frame=frames)
def test_drawn_rows_are_such_as_the_release_shows(frame) -> None:
    release = ic.publish(opened(frame), ic.KAnonymity(3)).generalized
    drawn = examples_of_release(release, FEATURES, "ill", np.random.default_rng(0))
    assert drawn.counts.sum() == release.rows
    allowed = np.zeros(len(drawn.counts), dtype=bool)
    for group, (value,) in zip(release.groups, release.sensitive, strict=True):
        inside = drawn.classes == value
        for place, name in enumerate(FEATURES):
            column = release.shown.columns.index(name)
            codes = drawn.codes[:, place]
            inside &= (codes >= release.shown.lows[group, column]) & (codes < release.shown.highs[group, column])
        allowed |= inside
    assert allowed.all()
    by_class = np.bincount(drawn.classes, weights=drawn.counts, minlength=5)
    assert by_class.tolist() == np.bincount(release.sensitive[:, 0], weights=release.counts, minlength=5).tolist()


def test_a_release_of_exact_values_is_the_table_itself() -> None:
    frame = pl.DataFrame({"age": [20, 30], "place": ["a", "c"], "ill": ["flu", "ok"]})
    frame = pl.concat([frame] * 10)
    table = opened(frame)
    release = ic.publish(table, ic.KAnonymity(10), method=ic.LocalRecoding()).generalized
    drawn = examples_of_release(release, FEATURES, "ill", np.random.default_rng(0))
    itself = examples_of_tally(counted(table), FEATURES, "ill")
    assert drawn.codes.tolist() == itself.codes.tolist()
    assert drawn.counts.tolist() == itself.counts.tolist() == [10, 10]


def test_values_are_drawn_evenly_and_a_quasi_identifier_may_be_the_class() -> None:
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 500, "place": ["a"] * 2000, "ill": ["flu"] * 2000})
    release = ic.publish(opened(frame), ic.KAnonymity(2000)).generalized
    drawn = examples_of_release(release, ("place", "ill"), "age", np.random.default_rng(0))
    assert np.bincount(drawn.classes, weights=drawn.counts)[1:] == pytest.approx([500] * 4, rel=0.15)


def test_encoding() -> None:
    frame = pl.DataFrame({"age": [20, 30, None], "place": ["a", "c", "a"], "ill": ["flu", "ok", "ok"]})
    tally = counted(opened(frame))
    examples = examples_of_tally(tally, FEATURES, "ill")
    encoded = encode(examples, tally.trees)
    # Missing, 20 and 30; the place between them; missing, and the five places of the hierarchy or those in the table.
    assert encoded.shape == (3, 3 + 1 + tally.trees["place"].size)
    assert encoded[:, :3].sum(axis=1).tolist() == encoded[:, 4:].sum(axis=1).tolist() == [1, 1, 1]
    assert sorted(encoded[:, 3]) == [0.0, 0.5, 1.0]
    assert encoded.min() >= 0.0
    assert encoded.max() <= 1.0


@pytest.mark.parametrize("folds", [2, 3, 10])
def test_folds_are_parts_of_the_table_with_all_classes(folds) -> None:
    tally = counted(people(1000, "salary"))
    whole = tally.value_counts("salary")
    held_out = np.zeros_like(whole)
    parts = list(stratified_folds(tally, "salary", folds, np.random.default_rng(0)))
    assert len(parts) == folds
    for train, test in parts:
        assert train.rows + test.rows == 1000
        assert (train.value_counts("salary") + test.value_counts("salary")).tolist() == whole.tolist()
        assert np.abs(test.value_counts("salary") - whole / folds).max() < 1  # dealt out evenly
        held_out += test.value_counts("salary")
    assert held_out.tolist() == whole.tolist()


def test_wrong_folds_and_classifiers_are_refused() -> None:
    tally = counted(people(50))
    for folds in (1, 51):
        with pytest.raises(QueryError, match=f"not {folds}"):
            next(stratified_folds(tally, "occupation", folds, np.random.default_rng(0)))
    with pytest.raises(QueryError, match=r"there is no classifier 'oracle'.  Hint: it is one of decision tree"):
        classifier("oracle", 100)


def test_every_classifier_learns_what_is_plain() -> None:
    ages = list(range(20, 60)) * 20
    frame = pl.DataFrame(
        {"age": ages, "place": ["a", "c"] * 400, "ill": ["old" if age >= 40 else "young" for age in ages]}
    )
    tally = counted(opened(frame))
    train, test = next(stratified_folds(tally, "ill", 4, np.random.default_rng(0)))
    seen, unseen = (examples_of_tally(part, FEATURES, "ill") for part in (train, test))
    found = accuracies(seen, unseen, tally.trees)
    assert tuple(found) == CLASSIFIERS
    assert min(found.values()) == 1.0
    assert majority_accuracy(seen, unseen) == pytest.approx(0.5, abs=0.02)
    release = ic.publish(opened(frame), ic.KAnonymity(40)).generalized
    rebuilt = accuracies(examples_of_release(release, FEATURES, "ill", np.random.default_rng(0)), unseen, tally.trees)
    assert min(rebuilt.values()) > 0.9


def test_leaves_of_a_tree_stand_for_people_not_for_distinct_rows() -> None:
    frame = pl.DataFrame({"age": [20] * 500 + [50] * 500, "place": ["a"] * 1000, "ill": ["ok"] * 500 + ["flu"] * 500})
    tally = counted(opened(frame))
    examples = examples_of_tally(tally, FEATURES, "ill")
    assert len(examples.counts) == 2
    assert accuracies(examples, examples, tally.trees)["decision tree"] == 1.0


def test_a_single_class_is_all_that_is_told() -> None:
    frame = pl.DataFrame({"age": [20, 30, 40], "place": ["a"] * 3, "ill": ["flu"] * 3})
    tally = counted(opened(frame))
    only = examples_of_tally(tally, FEATURES, "ill")
    assert set(accuracies(only, only, tally.trees).values()) == {1.0}
