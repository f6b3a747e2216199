"""Mondrian told what matters: weights of columns, and columns that must not change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.models.k_map import KMap
from incrowd.testing import Case, check_method
from incrowd.testing.case import Attempt
from incrowd.testing.promises import PROMISES
from incrowd.testing.strategies import cases
from tests.methods import naive_mondrian
from tests.methods.test_mondrian import (
    column,
    draw_categories,
    draw_intervals,
    draw_names,
    draw_numbers,
    groups_of,
)

K2 = [ic.KAnonymity(2)]
SQUARE = pl.DataFrame({"a": [1, 1, 9, 9], "b": [1, 9, 1, 9]})
BY_A = [Counter({(1, 1): 1, (1, 9): 1}), Counter({(9, 1): 1, (9, 9): 1})]
BY_B = [Counter({(1, 1): 1, (9, 1): 1}), Counter({(1, 9): 1, (9, 9): 1})]


def variants(**options: Any) -> list[ic.Mondrian]:
    return [
        ic.Mondrian(cuts=cuts, labels=labels, **options)  # type: ignore[arg-type]
        for cuts in ("strict", "relaxed")
        for labels in ("region", "hierarchy", "tight")
    ]


# --- weights ---


def test_a_heavier_column_is_cut_first() -> None:
    assert groups_of(SQUARE, K2) == BY_A  # a tie goes to the first by name
    assert groups_of(SQUARE, K2, ic.Mondrian(weights={"b": 1.01})) == BY_B
    assert groups_of(SQUARE, K2, ic.Mondrian(weights={"a": 0.99})) == BY_B
    assert groups_of(SQUARE, K2, ic.Mondrian(weights={"a": 2, "b": 2})) == BY_A


def test_a_heavier_column_of_names_is_cut_first() -> None:
    named = SQUARE.select(pl.col("a").cast(pl.String) + "!", pl.col("b").cast(pl.String) + "?")
    assert [len({row[1] for row in group}) for group in groups_of(named, K2, ic.Mondrian(weights={"b": 3}))] == [1, 1]


def test_missing_values_are_weighed_like_others() -> None:
    frame = pl.DataFrame({"a": [None, None, 9, 9], "b": [1, 9, 1, 9]})
    assert groups_of(frame, K2, ic.Mondrian(weights={"b": 3})) == [
        Counter({(9, 1): 1, (None, 1): 1}),
        Counter({(9, 9): 1, (None, 9): 1}),
    ]


def test_a_column_of_no_weight_is_cut_only_where_no_other_can_be() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 9, 9, 9, 9], "b": [1, 1, 1, 1, 2, 2, 2, 2]})
    weights = {"a": 0.0}
    assert [group.total() for group in groups_of(frame, [ic.KAnonymity(4)], ic.Mondrian(weights=weights))] == [4, 4]
    found = groups_of(frame, K2, ic.Mondrian(weights=weights))
    assert found == [Counter({(1, 1): 2}), Counter({(2, 1): 2}), Counter({(9, 2): 4})]
    every = ic.Mondrian(weights={"a": 0, "b": 0})
    assert groups_of(frame, K2, every) == groups_of(frame, K2)  # by their own widths, then


def test_weights_that_are_all_alike_change_nothing() -> None:
    frame = ic.datasets.census(500, seed=2).select("age", "sex", "education", "race")
    for cuts in ("strict", "relaxed"):
        plain = groups_of(frame, [ic.KAnonymity(4)], ic.Mondrian(cuts=cuts))
        alike = ic.Mondrian(cuts=cuts, weights=dict.fromkeys(frame.columns, 0.25))
        assert groups_of(frame, [ic.KAnonymity(4)], alike) == plain


def test_a_heavy_column_stays_narrow() -> None:
    table = ic.read(ic.datasets.census(3000, seed=2), quasi=["age", "salary", "education"], others="drop")
    losses = [
        ic.publish(table, ic.KAnonymity(10), method=ic.Mondrian(weights={"age": weight})).summary["loss"]["ncp"]["age"]
        for weight in (0, 0.2, 1, 5, 100)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[2] / 2


# --- fixed columns ---


def test_a_fixed_column_is_published_as_it_is() -> None:
    people = ic.datasets.census(400, seed=3).select("age", "sex", "education")
    table = ic.read(people, quasi=people.columns)
    for method in variants(fixed=["sex"]):
        release = ic.publish(table, ic.KAnonymity(5), method=method)
        published = release.to_polars()
        assert Counter(published["sex"]) == Counter(people["sex"])
        assert len(release.form.shown) > 10
        assert release.guarantees[0].achieved >= 5


def test_fixed_numbers_and_missing_values_are_shown_as_they_are() -> None:
    frame = pl.DataFrame({"n": [1, 1, 7, 7, None, None], "x": [1, 2, 3, 4, 5, 6]})
    # The population has larger numbers, which must not open the range of the largest.
    table = ic.read(frame, quasi=["n", "x"], population=pl.DataFrame({"n": [8, 9], "x": [9, 9]}))
    for method in variants(fixed=["n"]):
        published = ic.publish(table, K2, method=method).to_polars()
        assert published["n"].to_list() == [None, None, "1", "1", "7", "7"]


def test_all_columns_may_be_fixed() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 2], "b": ["x", "x", "y", "y", "y"]})
    for method in variants(fixed=["b", "a"]):
        assert [group.total() for group in groups_of(frame, K2, method)] == [2, 3]


def test_a_fixed_value_whose_rows_are_unsafe_alone_is_unsatisfiable_and_not_quoted() -> None:
    frame = pl.DataFrame({"a": ["rare", "x", "x", "y", "y"], "b": [1, 2, 3, 4, 5]})
    with pytest.raises(Unsatisfiable, match=r"'a' must not be generalized.* 1 of 3 values .*2-anonymity") as raised:
        groups_of(frame, K2, ic.Mondrian(fixed=("a",)))
    assert "rare" not in str(raised.value)
    with pytest.raises(Unsatisfiable, match=r"'a' and 'b' .* 5 of 5 combinations of values"):
        groups_of(frame, K2, ic.Mondrian(fixed=("a", "b")))
    with pytest.raises(Unsatisfiable, match="all 5 rows together"):  # the columns are not to blame
        groups_of(frame, [ic.KAnonymity(6)], ic.Mondrian(fixed=("a",)))


def test_other_models_are_asked_of_fixed_values_too() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "s": ["x", "x", "x", "y"]})
    with pytest.raises(Unsatisfiable, match="1 of 2 values do not satisfy distinct 2-diversity"):
        groups_of(frame, [ic.LDiversity(2)], ic.Mondrian(fixed=("a",)), quasi=["a"])


def test_boxes_are_shown_whole_where_trimmed_ones_hold_too_few_people() -> None:
    # Each sex alone has one row: trimmed to its age, it could be one person; any age, three.
    people = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3, "age": [20, 30, 40] * 2})
    table = ic.read(people[[1, 4]], quasi=["sex", "age"], population=people)
    release = ic.publish(table, KMap(3), method=ic.Mondrian(fixed=("sex",)))
    assert release.to_polars().rows() == [("f", "*"), ("m", "*")]
    with pytest.raises(Unsatisfiable, match="2 of 2 values do not satisfy 4-map"):
        ic.publish(table, KMap(4), method=ic.Mondrian(fixed=("sex",)))


@settings(max_examples=6)
@given(case=cases(most_rows=30, most_quasi=3, most_kept=0), data=st.data())
def test_promises_are_kept_with_fixed_columns_and_weights(case: Case, data: st.DataObject) -> None:
    fixed = tuple(data.draw(st.lists(st.sampled_from(case.quasi), max_size=2)))
    weights = {name: data.draw(st.sampled_from([0.0, 0.5, 2.0])) for name in case.quasi[:2]}
    labels = data.draw(st.sampled_from(["region", "hierarchy", "tight"]))
    cuts = data.draw(st.sampled_from(["strict", "relaxed"]))
    k = data.draw(st.integers(1, 3))
    try:
        method = ic.Mondrian(cuts=cuts, labels=labels, fixed=fixed, weights=weights)  # type: ignore[arg-type]
        attempt = Attempt.of(case, method, [ic.KAnonymity(k)])
    except Unsatisfiable:
        assert k > 1
        return
    for promise in PROMISES:
        promise(attempt)
    for name in fixed:
        tree = attempt.release.form.tally.trees[name]
        shown = attempt.release.form.shown
        place = shown.columns.index(name)
        assert (shown.highs[:, place] - shown.lows[:, place] == 1).all(), tree.kind


def test_keeps_every_promise_with_weights() -> None:
    class Weighted(ic.Mondrian):
        """Generated tables have columns of any name; those of odd length weigh nothing."""

        def search(self, tally: Any, schema: Any, *args: Any, **options: Any) -> Any:
            weights = {name: float(len(name) % 2) for name in schema.quasi}
            return ic.Mondrian(weights=weights).search(tally, schema, *args, **options)

    check_method(Weighted(), examples=4)


# --- the oracle ---


@dataclass(frozen=True)
class Weighted(naive_mondrian.Column):
    """A column whose width counts for more or less; where it counts for nothing, it is ranked by itself."""

    weight: float = 1.0

    def width(self, values: set[Hashable]) -> float:
        return super().width(values) * (self.weight + 1e-9)


def test_the_same_groups_as_a_naive_mondrian_that_was_told() -> None:
    dice = random.Random(4)
    compared = 0
    for _ in range(60):
        rows = dice.choice([5, 12, 30, 80])
        drawn = {
            name: dice.choice([draw_numbers, draw_intervals, draw_names, draw_categories])(dice, rows)
            for name in "dacb"[: dice.randint(1, 4)]
        }
        frame = pl.DataFrame({name: series for name, (series, _, _) in drawn.items()})
        weights = {name: dice.choice([0, 0.5, 4.0]) for name in drawn if dice.random() < 0.7}
        fixed = [name for name in drawn if dice.random() < 0.2]
        k = dice.choice([1, 2, 3])
        columns = {
            name: Weighted(
                **{own.name: getattr(known, own.name) for own in fields(known)}, weight=weights.get(name, 1.0)
            )
            for name, (_, known, _) in drawn.items()
        }
        expected = partition_by_fixed(frame.to_dicts(), columns, fixed, k)
        method = ic.Mondrian(weights=weights, fixed=tuple(fixed))
        hierarchies = {name: hierarchy for name, (_, _, hierarchy) in drawn.items()}
        if expected is None:
            with pytest.raises(Unsatisfiable):
                groups_of(frame, [ic.KAnonymity(k)], method, hierarchies=hierarchies)
            continue
        compared += 1
        names = sorted(frame.columns)
        as_counters = [Counter(tuple(row[name] for name in names) for row in group) for group in expected]
        found = groups_of(frame, [ic.KAnonymity(k)], method, hierarchies=hierarchies)
        assert found == sorted(as_counters, key=lambda group: sorted(map(repr, group))), (frame, method, drawn)
    assert compared > 30


def partition_by_fixed(
    rows: Sequence[naive_mondrian.Row], columns: Mapping[str, naive_mondrian.Column], fixed: Sequence[str], k: int
) -> list[list[naive_mondrian.Row]] | None:
    """Cut the rows of each combination of fixed values on their own; None where one of them has fewer than k."""

    def key(row: naive_mondrian.Row) -> str:
        return repr([row[name] for name in fixed])

    parts = [list(part) for _, part in groupby(sorted(rows, key=key), key=key)]
    if min(map(len, parts)) < k:
        return None
    return [
        group for part in parts for group in naive_mondrian.partition(part, columns, lambda some: len(some) >= k, k)
    ]


# --- parameters ---


@pytest.mark.parametrize(
    "parameters",
    [
        {"weights": {"a": -1}},
        {"weights": {"a": "x"}},
        {"weights": {"a": float("nan")}},
        {"weights": 3},
        {"fixed": "a"},
        {"fixed": 3},
        {"fixed": [1]},
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="mondrian"):
        ic.Mondrian(**parameters)


@pytest.mark.parametrize("parameters", [{"weights": {"y": 2}}, {"fixed": ["y"]}])
def test_columns_that_are_no_quasi_identifiers_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="'y' is not a quasi-identifier"):
        groups_of(column(1, 2), [ic.KAnonymity(1)], ic.Mondrian(**parameters))


def test_a_list_is_as_good_as_a_tuple() -> None:
    assert ic.Mondrian(fixed=["a", "b", "a"]) == ic.Mondrian(fixed=("a", "b"))  # type: ignore[arg-type]


def test_thousands_of_boxes_may_be_there_from_the_start() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 2000, 20_000), "b": rng.integers(0, 50, 20_000)})
    release = ic.publish(ic.read(frame, quasi=["a", "b"]), ic.KAnonymity(1), method=ic.Mondrian(fixed=("a",)))
    assert release.to_polars().cast(pl.Int64).sort("a", "b").equals(frame.sort("a", "b"))
