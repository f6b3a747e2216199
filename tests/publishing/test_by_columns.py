"""Columns published separately: a sample for each, prices that add up, and why one sample for all would not do."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.binomial import log_probability
from incrowd.dp.budget import Budget
from incrowd.dp.exact_suppression import exact_delta
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.methods.sdgs import SDGS
from incrowd.publishing.by_columns import GroupColumns, publish_separately
from incrowd.publishing.noisy_counts import SEEDED

LETTERS = ic.Categories.from_tree(["a", "b", "c"])
METHOD = SDGS(5, epsilon=2)


def table(rows: int = 400) -> ic.Table:
    frame = pl.DataFrame({name: [letter for letter in "abca" for _ in range(rows // 4)] for name in ("x", "y")})
    frame = frame.with_columns(sick=pl.lit("flu"), who=pl.int_range(rows).cast(pl.String))
    return ic.read(
        frame, quasi=["x", "y"], sensitive=["sick"], identifiers=["who"], hierarchies={"x": LETTERS, "y": LETTERS}
    )


def test_every_set_of_columns_is_a_release_of_its_own() -> None:
    parts = publish_separately(table(), [["x", "sick"], ["y"]], method=METHOD, sample=0.5, seed=1)
    first, second = parts.releases
    assert first is not None
    assert second is not None
    assert first.data.columns == ["x", "sick"]
    assert second.data.columns == ["y"]
    for release in (first, second):
        assert min(Counter(release.data.rows()).values()) >= 5
        assert release.guarantees[-1] == parts.guarantee


def test_prices_add_up_to_what_was_asked_for() -> None:
    method = SDGS(5, epsilon=2, scheme="chosen", scheme_epsilon="1/2")
    parts = publish_separately(table(), [["x"], ["y"], ["x", "y"]], method=method, sample=0.3, seed=1)
    model: Any = parts.guarantee.model
    assert model.epsilon == "5/2"
    assert float(Fraction(model.delta)) == pytest.approx(3 * exact_delta(5, "0.3", "2/3"), rel=1e-5)
    assert parts.guarantee.note == SEEDED
    assert publish_separately(table(), [["x"]], method=METHOD, sample=0.5).guarantee.note == ""


def test_every_part_has_a_sample_of_its_own() -> None:
    same = 0
    for seed in range(10):
        parts = publish_separately(table(), [["x"], ["x"]], method=METHOD, sample=0.5, seed=seed)
        counts = [Counter(release.data.rows()) for release in parts.releases if release is not None]
        same += counts[0] == counts[1]
    assert same <= 1


def test_one_sample_for_all_would_promise_too_much() -> None:
    """Exactly: one person alone links two crowds of `people` others each; both tables publish k or more of theirs."""
    k, rate, epsilon = 100, 1e-4, 0.05
    people = round(k / rate / math.sqrt((math.exp(2 * epsilon) - 1 + rate) / rate))
    seen = range(k, k + 60)
    others = np.exp([log_probability(people, rate, count) for count in seen])
    more = np.exp([log_probability(people, rate, count - 1) for count in seen])  # the person is sampled too
    without = np.outer(others, others)
    shared = (1 - rate) * without + rate * np.outer(more, more)
    apart = np.outer((1 - rate) * others + rate * more, (1 - rate) * others + rate * more)

    def excess(with_person: np.ndarray[Any, Any]) -> float:
        return float(np.maximum(with_person - math.exp(2 * epsilon) * without, 0).sum())

    allowed = 2 * exact_delta(k, rate, epsilon)
    assert excess(apart) <= allowed
    assert excess(shared) > 2 * allowed


def test_levels_go_to_the_sets_that_have_the_column() -> None:
    parts = publish_separately(table(), [["x"], ["y"]], method=SDGS(5, levels={"x": 1}, epsilon=2), sample=0.5)
    first, second = parts.releases
    assert first is not None
    assert set(first.data["x"]) == {"*"}
    assert second is not None
    assert set(second.data["y"]) == {"a", "b", "c"}


def test_a_set_of_which_nothing_can_be_published_is_left_out() -> None:
    method = SDGS(120, levels={"x": 1}, epsilon=2)
    parts = publish_separately(table(), [["x"], ["y"]], method=method, sample=0.5, seed=1)
    assert [release is None for release in parts.releases] == [False, True]
    with pytest.raises(Unsatisfiable, match="no set of columns"):
        publish_separately(table(), [["y"]], method=SDGS(120, epsilon=2), sample=0.5, seed=1)


def test_parts_are_saved_each_by_itself(tmp_path: Path) -> None:
    parts = publish_separately(table(), [["x"], ["y"]], method=METHOD, sample=0.5, seed=1)
    paths = parts.save(tmp_path / "out")
    assert [path.parent.name for path in paths] == ["columns-1", "columns-2"]
    for path in paths:
        told = json.loads((path.parent / "summary.json").read_text(encoding="utf-8"))
        assert told["guarantees"][-1]["parameters"]["epsilon"] == "2"
        assert "in" not in told["rows"]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([["x", "z"]], "not a published column"),
        ([["x", "x"]], "once"),
        (["x", "y"], "sets of names"),
        ([["sick"]], "quasi-identifier"),
        ([["who"]], "not a published column"),
    ],
)
def test_sets_that_make_no_sense_are_refused(columns: Any, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        publish_separately(table(), columns, method=METHOD, sample=0.5)


def test_what_cannot_be_promised_is_refused() -> None:
    with pytest.raises(RecipeError, match="nothing to publish"):
        publish_separately(table(), [], method=METHOD, sample=0.5)
    with pytest.raises(SchemaError, match="in no set"):
        publish_separately(table(), [["y"]], method=SDGS(5, levels={"x": 1}), sample=0.5)
    with pytest.raises(RecipeError, match="at least −ln"):
        publish_separately(table(), [["x"], ["y"]], method=SDGS(5, epsilon=1), sample=0.5)
    with pytest.raises(RecipeError, match="publishes a sample"):
        publish_separately(table(), [["x"]], method=METHOD, sample=1)
    with pytest.raises(RecipeError, match="δ adds up"):
        publish_separately(table(), [["x"]] * 4, method=SDGS(1), sample="0.7")


def test_columns_can_be_grouped_privately(tmp_path: Path) -> None:
    """What it costs adds to the rest, in the promise and in the ledger."""
    illnesses = ic.Categories.from_tree(["flu"])
    named = table()
    schema = replace(named.schema, sensitive={"sick": illnesses}, each_row_a_person=True)
    book = ic.Ledger.create(tmp_path / "book", cap=Budget(4, "0.1"))
    parts = publish_separately(
        replace(named, schema=schema),
        GroupColumns("1/2", most_columns=2),
        method=METHOD,
        sample=0.5,
        seed=1,
        ledger=book,
    )
    assert sorted(name for names in parts.columns for name in names) == ["sick", "x", "y"]
    assert all({"x", "y"} & set(names) for names in parts.columns)
    assert parts.guarantee.achieved == 2.5
    for release in parts.releases:
        assert release is not None
        assert release.guarantees[-1] == parts.guarantee
    assert book.spent.epsilon == Fraction(5, 2)


def test_a_group_without_room_is_refused_before_anything_is_counted() -> None:
    with pytest.raises(RecipeError, match="no room"):
        publish_separately(table(), GroupColumns(1, most_columns=1), method=METHOD, sample=0.5)
    with pytest.raises(RecipeError, match="most_columns"):
        GroupColumns(1, most_columns=0)
