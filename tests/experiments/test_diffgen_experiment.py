"""The DiffGen experiment, small: that it measures what it says, and judges by what it measured."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.dp.boxes.box_cuts import Cut
from incrowd.dp.boxes.utilities import Utility
from incrowd.errors import RecipeError
from incrowd.experiments.diffgen import Settings, adult_table, census_table, run
from incrowd.experiments.diffgen_claims import (
    ACCURACY,
    CLASS_ONLY,
    CONSISTENT,
    DIFFGEN,
    ERROR,
    PRINTED,
    PUBLISHED,
    RAW,
    SYNTHESIS,
)
from incrowd.experiments.diffgen_measuring import (
    Boxes,
    Split,
    consistent_boxes,
    consistent_tree,
    draw_any_ranges,
    draw_queries,
    flat_boxes,
    people_boxes,
    printed_boxes,
    specialize,
    true_boxes,
)
from incrowd.experiments.report import write_report


@pytest.fixture(scope="module")
def split() -> Split:
    return Split.of(census_table(3000)[1], np.random.default_rng(1))


def test_a_third_is_held_out_and_nobody_is_in_both(split: Split) -> None:
    whole = census_table(3000)[1].people
    assert split.held_out.counts.sum() == 1000
    assert (split.held_out.counts + split.training.people.counts == whole.counts).all()


def test_bounds(split: Split) -> None:
    classes = np.bincount(split.held_out.classes, weights=split.held_out.counts)
    assert split.majority_accuracy() == pytest.approx(classes.max() / 1000)
    assert split.majority_accuracy() < split.raw_accuracy() < 1


def test_true_boxes_of_all_values_are_as_good_as_raw_rows(split: Split) -> None:
    cuts = [Cut.at_level(tree, 0, missing=False) for tree in split.training.trees]
    people = split.training.people
    counts = np.zeros((len(people.counts), 2), dtype=np.int64)
    counts[np.arange(len(counts)), people.classes] = people.counts
    boxes = Boxes(people.codes, people.codes + 1, counts)
    assert split.accuracy(boxes, cuts, np.random.default_rng(1)) == pytest.approx(split.raw_accuracy(), abs=0.02)


def test_nothing_but_one_class_is_that_class(split: Split) -> None:
    cuts = [Cut(tree, missing=False) for tree in split.training.trees]
    roots = np.array([[1] * len(cuts)]), np.array([[tree.size for tree in split.training.trees]])
    boxes = Boxes(roots[0].astype(np.int32), roots[1].astype(np.int32), np.array([[5, 0]]))
    assert split.accuracy(boxes, cuts, np.random.default_rng(1)) == split.majority_accuracy()


def test_queries_are_answered_as_if_one_counted(split: Split) -> None:
    table = split.training
    cuts = [Cut.at_level(tree, min(1, tree.height), missing=False) for tree in table.trees]
    truth = true_boxes(table, cuts)
    sizes = []
    for size, queries in draw_queries(cuts, 10, np.random.default_rng(2)):
        sizes.append(size)
        naive = [
            table.people.counts[
                np.all([matches[query][table.people.codes[:, place]] for place, matches in enumerate(queries)], axis=0)
            ].sum()
            for query in range(len(queries[0]))
        ]
        assert truth.answers(queries) == pytest.approx(naive)
    assert sizes == ["one leaf", "up to 10 % of leaves", "more leaves"]


def test_any_ranges_are_answered_as_if_one_counted(split: Split) -> None:
    table, people = split.training, split.training.people
    for _, queries in draw_any_ranges(table.trees, 6, np.random.default_rng(3)):
        naive = [
            people.counts[
                np.all([asked[query][people.codes[:, place]] for place, asked in enumerate(queries)], axis=0)
            ].sum()
            for query in range(6)
        ]
        assert people_boxes(table).answers(queries) == pytest.approx(naive)


def test_algorithm_2_counts_the_boxes_that_diffgen_counts(split: Split) -> None:
    """As printed: all boxes of one tree, with leaves that add up to the root; and without noise, the truth."""
    rng = np.random.default_rng(4)
    search, _ = specialize(split.training, "max", 4, "1", Fraction(1, 2), rng)
    flat = flat_boxes(split.training, search, Fraction(1), rng)
    exact = printed_boxes(split.training, search, Fraction(10**6), rng)
    assert flat is not None
    assert exact is not None
    both = [np.unique(np.hstack([boxes.lows, boxes.highs]), axis=0) for boxes in (flat, exact)]
    assert (both[0] == both[1]).all()
    people = split.training.people
    assert exact.counts.sum(axis=0) == pytest.approx(np.bincount(people.classes, weights=people.counts))


def test_a_small_run(tmp_path: Path) -> None:
    settings = Settings.quick(
        adult=False,
        rows=800,
        runs=1,
        repeats=1,
        queries=5,
        steps=(2, 4),
        epsilons=("1",),
        utilities=("max",),
        query_steps=4,
    )
    findings, again = run(settings), run(settings)
    assert findings.results.equals(again.results)
    found = findings.results
    assert set(found["method"]) >= {RAW, CLASS_ONLY, DIFFGEN, CONSISTENT, PRINTED, PUBLISHED, SYNTHESIS}
    assert found.filter(pl.col("measure") == ACCURACY)["value"].is_between(0, 1).all()
    assert found.filter(pl.col("measure") == ERROR).height == 5 * (3 + 3)
    assert any("census was measured instead" in note for note in findings.notes)
    pytest.importorskip("vl_convert")
    report = write_report(findings, tmp_path / "out").read_text()
    assert "Which of the paper's claims hold here" in report
    assert (tmp_path / "out" / "figures" / "accuracy-max.png").exists()
    assert (tmp_path / "out" / "figures" / "queries.svg").exists()


@pytest.mark.parametrize(
    "changes", [{"runs": 0}, {"repeats": 0}, {"epsilons": ("0",)}, {"utilities": ("best",)}, {"queries": 1.5}], ids=str
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        Settings(**changes)


@pytest.mark.slow
@pytest.mark.adult
@pytest.mark.parametrize(
    ("epsilon", "steps", "least", "utility"),
    [("1", 10, 0.8, "max"), ("1", 13, 0.8, "gini"), ("1", 16, 0.8, "max"), ("0.25", 16, 0.775, "gini")],
)
def test_consistent_diffgen_on_adult_is_worth_its_noise(
    adult: Path, epsilon: str, steps: int, least: float, utility: Utility
) -> None:
    """A prototype had 0.825 on raw data and 0.753 for the larger class; DiffGen itself falls to 0.73 at 16."""
    split = Split.of(adult_table(adult)[1], np.random.default_rng(1))
    found = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        search, left = specialize(split.training, utility, steps, epsilon, Fraction(1, 4), rng)
        found.append(split.accuracy(consistent_boxes(split.training, search, left, rng), search.cuts, rng))
    assert np.mean(found) >= least


@pytest.mark.slow
@pytest.mark.adult
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_consistent_range_counts_on_adult_are_nearer_than_sums_of_noisy_leaves(adult: Path, epsilon: str) -> None:
    """The same boxes, the same ε for counting them, and the same questions."""
    table = adult_table(adult)[1]
    errors: dict[tuple[str, bool], list[float]] = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        search, left = specialize(table, "max", 10, epsilon, Fraction(1, 4), rng)
        flat, tree = flat_boxes(table, search, left, rng), consistent_tree(table, search, left, rng)
        assert flat is not None
        truth = true_boxes(table, search.cuts)
        for size, queries in draw_queries(search.cuts, 30, rng):
            for consistent, boxes in ((False, flat), (True, Boxes.of_leaves(tree, tree.estimates))):
                wrong = np.abs(boxes.answers(queries) - truth.answers(queries)).mean()
                errors.setdefault((size, consistent), []).append(float(wrong))
    for size in ("one leaf", "up to 10 % of leaves", "more leaves"):
        assert np.mean(errors[size, True]) < np.mean(errors[size, False])
