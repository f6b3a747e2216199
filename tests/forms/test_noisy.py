"""Releases of noisy counts: what they answer, how sure they are, and training sets."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.boxes.consistency import least_squares, pooled_variances
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.discrete_laplace import variance
from incrowd.errors import QueryError
from incrowd.forms.measured_boxes import covering_boxes
from incrowd.forms.noisy import NoisyCounts
from incrowd.methods.diffgen import ConsistentDiffGen, DiffGen
from incrowd.methods.flat_histogram import FlatHistogram
from incrowd.methods.hierarchical_histogram import HierarchicalHistogram
from incrowd.methods.private import PrivateMethod

pytestmark = pytest.mark.usefixtures("few_questions")

NOISELESS = 10**6
HIERARCHIES: dict[str, Any] = {
    "age": ic.Intervals(widths=(5,), lower=0, upper=39),
    "sex": ic.Categories.from_tree(["F", "M"]),
    "ill": ic.Categories.from_tree(["n", "y"]),
}


@cache
def table(rows: int = 4000) -> ic.Table:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 40, size=rows),
            "sex": rng.choice(["F", "M"], size=rows),
            "ill": rng.choice(["n", "y"], size=rows),
        }
    )
    return ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], hierarchies=HIERARCHIES)


def form(method: PrivateMethod, seed: int = 1, **changes: Any) -> NoisyCounts:
    shown = ic.publish(table(**changes), method=method, seed=seed).form
    assert isinstance(shown, NoisyCounts)
    return shown


class TestFigure3:
    """The example of Qian et al.: strings of A, B, C and D."""

    NAMES = ("ABCD", "AB", "CD", "A", "B", "C", "D")
    TREE = NoisyTree(
        np.array([-1, 0, 0, 1, 1, 2, 2]),
        np.array([[1], [1], [3], [1], [2], [3], [4]], dtype=np.int32),
        np.array([[5], [3], [5], [2], [3], [4], [5]], dtype=np.int32),
        np.array([[6], [4], [2], [3], [1], [2], [0]]),
        np.ones(7),
    )

    @pytest.mark.parametrize(
        ("asked", "covered", "count"),
        [
            ("ABCD", {"ABCD"}, 6),
            ("BCD", {"B", "CD"}, 3),
            ("AB", {"AB"}, 4),
            ("BC", {"B", "C"}, 3),
            ("D", {"D"}, 0),
            ("", set(), 0),
        ],
    )
    def test_the_fewest_boxes_cover_a_question(self, asked: str, covered: set[str], count: int) -> None:
        shares = np.array([sum(letter in asked for letter in name) / len(name) for name in self.NAMES])
        boxes = covering_boxes(self.TREE, shares)
        assert {self.NAMES[box] for box in boxes} == covered
        assert self.TREE.noisy[boxes].sum() == count

    def test_a_leaf_that_is_asked_about_in_part_is_covered(self) -> None:
        assert covering_boxes(self.TREE, np.array([0.1, 0, 0.2, 0, 0, 0, 0.5])).tolist() == [6]


def test_rows_lines_and_counts_say_the_same() -> None:
    noisy = form(ConsistentDiffGen(1, steps=5))
    counts = noisy.counts
    assert counts.columns == ["age", "sex", "ill", "count"]
    assert (counts["count"] > 0).all()
    assert counts["count"].sum() == noisy.rows == noisy.group_sizes.sum()
    rows = pl.concat(list(noisy.batches(700)))
    grouped = rows.group_by("age", "sex", "ill").len("count").sort("age", "sex", "ill")
    assert grouped.with_columns(pl.col("count").cast(pl.Int64)).equals(counts.sort("age", "sex", "ill"))
    assert (noisy.group_sizes > 0).all()


def test_a_column_called_count_keeps_its_name() -> None:
    frame = pl.DataFrame({"count": [1, 2, 3]})
    known = {"count": ic.Intervals(widths=(1,), lower=0, upper=5)}
    release = ic.publish(ic.read(frame, quasi=["count"], hierarchies=known), method=FlatHistogram(NOISELESS), seed=1)
    assert release.tables["counts"].columns == ["count", "noisy count"]


def test_answers_add_up_boxes_and_shares_of_boxes() -> None:
    noisy = form(FlatHistogram(NOISELESS, levels={"age": 1}))
    counts = noisy.counts
    young = counts.filter((pl.col("age") == "[5, 10)") & (pl.col("ill") == "y"))["count"].sum()
    assert noisy.count({"age": (5, 9), "ill": "y"}) == young
    assert noisy.count({"age": (5, 6), "ill": "y"}) == pytest.approx(young * 2 / 5)
    women = counts.filter(pl.col("sex") == "F")["count"].sum()
    assert noisy.count({"sex": ["F"]}) == women
    assert noisy.count({}) == noisy.rows == 4000


def test_unknown_columns_are_refused() -> None:
    noisy = form(FlatHistogram(1))
    for ask in (noisy.count, noisy.error):
        with pytest.raises(QueryError, match=r"'agee' is not.*age"):
            ask({"agee": 3})


def test_the_error_of_leaves_adds_up() -> None:
    noisy = form(FlatHistogram(1, levels={"age": 1}, error_share=0))
    one = variance(Fraction(1))
    boxes = 9 * 2  # eight ranges, from 39 on; two sexes
    assert noisy.error({}) == pytest.approx(np.sqrt(2 * boxes * one))
    assert noisy.error({"ill": "y"}) == pytest.approx(np.sqrt(boxes * one))
    assert noisy.error({"ill": "y", "sex": "F", "age": (5, 9)}) == pytest.approx(np.sqrt(one))
    assert noisy.error({"ill": "y", "sex": "F", "age": (5, 6)}) == pytest.approx(0.4 * np.sqrt(one))
    assert noisy.error({"age": []}) == 0


def test_the_error_of_a_tree_is_that_of_the_largest_boxes_with_what_is_in_them() -> None:
    noisy = form(ConsistentDiffGen(1, steps=4))
    pooled = pooled_variances(noisy.measured.tree.parents, noisy.measured.tree.variances)[0]
    assert pooled < noisy.measured.tree.variances[0]
    assert noisy.error({}) == pytest.approx(np.sqrt(2 * pooled))


def test_the_error_of_the_best_estimate_is_not_above_what_is_stated() -> None:
    """The variance of a sum of leaves after least squares, from a dense matrix."""
    noisy = form(ConsistentDiffGen(1, steps=6, fanout=2, patience=0, margins_share=0, error_share=0))
    tree = noisy.measured.tree
    unit = np.eye(len(tree.parents))
    linear = least_squares(tree.parents, unit, tree.variances)  # estimate = linear @ noisy
    for query in ({}, {"age": (0, 19)}, {"sex": "F"}, {"age": (3, 8), "sex": "M"}, {"ill": "y"}):
        shares, classes = noisy.measured._shares(noisy.measured.asked(query))
        weights = shares[tree.leaves] @ linear[tree.leaves]
        exact = np.sqrt((weights**2 * tree.variances).sum() * classes.sum())
        assert 0 < exact <= noisy.error(query) * (1 + 1e-9)


@pytest.mark.parametrize(
    "method",
    [DiffGen("0.1", steps=6, error_share=0), ConsistentDiffGen("0.1", steps=6, error_share=0, margins_share=0)],
    ids=lambda m: m.name,
)
def test_answers_are_unbiased_where_published_counts_are_not(method: PrivateMethod) -> None:
    """Few people and much noise: counts that are cut off at 0 add up to far too many, or sum up to nobody."""
    shown = [form(method, seed=seed, rows=1000) for seed in range(12)]
    answers = np.array([one.count({}) for one in shown])
    assert abs(answers.mean() - 1000) < 4 * np.mean([one.error({}) for one in shown]) / np.sqrt(12)
    assert (answers >= 0).all()
    assert form(FlatHistogram("0.01"), rows=1).count({"age": 3}) >= 0


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        (HierarchicalHistogram, {"age": (3, 30)}),
        (HierarchicalHistogram, {"age": (0, 7), "ill": "y"}),
        (HierarchicalHistogram, {}),
        (FlatHistogram, {"ill": "n"}),
        (FlatHistogram, {"age": (10, 19)}),
    ],
    ids=str,
)
def test_the_error_is_that_of_many_runs_or_above_it(kind: type[PrivateMethod], query: dict[str, Any]) -> None:
    shown = runs(kind)
    answers, stated = [one.count(query) for one in shown], [one.error(query) for one in shown]
    assert np.std(answers) < 1.35 * np.mean(stated)
    if kind is FlatHistogram:  # where nothing is adjusted, it is exact
        assert np.std(answers) > 0.7 * np.mean(stated)


@cache
def runs(kind: type[PrivateMethod]) -> list[NoisyCounts]:
    """Publish a table with many people everywhere, so that no count is cut off at 0, 25 times."""
    method: PrivateMethod = HierarchicalHistogram(1, branches=2)
    if kind is FlatHistogram:
        method = FlatHistogram(1, levels={"age": 1}, error_share=0)
    columns = ["age"] if kind is HierarchicalHistogram else ["age", "sex"]
    ages = np.repeat(np.arange(-1, 40), 400)
    frame = pl.DataFrame({"age": ages, "sex": np.where(np.arange(len(ages)) % 2, "F", "M")})
    frame = frame.with_columns(ill=pl.Series(np.where(np.arange(len(ages)) % 4 < 2, "y", "n")))
    known = {name: HIERARCHIES[name] for name in (*columns, "ill")}
    read = ic.read(frame.select(*columns, "ill"), quasi=columns, sensitive=["ill"], hierarchies=known)
    found = [ic.publish(read, method=method, seed=seed).form for seed in range(25)]
    assert all(isinstance(shown, NoisyCounts) for shown in found)
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("method", [DiffGen(5, steps=5), ConsistentDiffGen(5, steps=5)], ids=lambda one: one.name)
def test_rows_to_learn_from_are_as_many_as_the_counts_and_stay_inside_the_boxes(method: PrivateMethod) -> None:
    noisy = form(method)
    codes, weights = noisy.reconstruct(np.random.default_rng(1))
    frame = pl.DataFrame({name: noisy.tally.trees[name].values.gather(codes[name]) for name in ("age", "sex", "ill")})
    assert frame.height == len(weights) == noisy.rows
    assert (weights == 1).all()
    for query in ({"ill": "y"}, {"sex": "F"}, {"age": (0, 19)}):
        ((name, asked),) = query.items()
        inside = frame[name].is_between(*asked) if isinstance(asked, tuple) else frame[name] == asked
        assert inside.sum() == pytest.approx(noisy.boxes.count(query), rel=0.1)


def test_a_release_of_nothing_has_no_rows_to_learn_from() -> None:
    empty = next(
        shown for seed in range(200) if not (shown := form(ConsistentDiffGen(1, steps=1), seed=seed, rows=1)).rows
    )
    codes, weights = empty.reconstruct(np.random.default_rng(1))
    assert len(weights) == 0
    assert {name: len(found) for name, found in codes.items()} == {"age": 0, "sex": 0, "ill": 0}
    assert next(empty.batches(10)).height == 0
    assert empty.count({"sex": "F"}) == 0
