"""The label of a run of codes says exactly which codes it holds."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.hierarchies import labels
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.naming import label_runs, name_runs, widen_to_showable
from incrowd.hierarchies.tree import LONGEST_SET, MISSING, Tree, grow
from tests.hierarchies.grown import CHECKED, all_runs, trees

values = st.lists(st.integers(-50, 50) | st.sampled_from([-(2**60), 2**60]), max_size=8, unique=True)
fractions = st.lists(st.integers(-40, 40).map(lambda n: n / 8) | st.just(math.inf), max_size=8, unique=True)
days = st.lists(st.dates(date(1920, 1, 1), date(2030, 1, 1)), max_size=8, unique=True)


def label_all(tree: Tree, shown: str) -> list[str | None]:
    lows, highs = (np.array(bounds, dtype=np.int32) for bounds in zip(*all_runs(tree), strict=True))
    return label_runs(tree, lows, highs, shown=shown).to_list()  # type: ignore[arg-type]


def codes_of(tree: Tree, label: str | None) -> set[int]:
    """The codes that a label holds, read as a stranger to the tree's inside would."""
    if label is None:
        return {MISSING}
    match labels.read(label, ordered=tree.ordered):
        case labels.Anything():
            return set(range(tree.size))
        case labels.OneOf(names):
            return set().union(*(codes_of_name(tree, name) for name in names))
        case labels.Name(name):
            return codes_of_name(tree, name)
        case labels.Range(low, high, closed):
            return {code for code in range(1, tree.size) if within(tree.values[code], low, high, closed=closed)}


def codes_of_name(tree: Tree, name: str) -> set[int]:
    if tree.ordered and isinstance(labels.read(name, ordered=True), labels.Range):
        return codes_of(tree, name)
    found = set()
    for level, names in zip(tree.nodes[:-1], tree.names[:-1], strict=True):
        found |= {code for code in range(1, tree.size) if names[int(level[code])] == name}
    return found


def within(value: object, low: str | None, high: str | None, *, closed: bool) -> bool:
    parse = {date: first_day, int: int, float: float}[type(value)]
    above = low is None or parse(low) <= value
    return above and (high is None or value < parse(high) or (closed and value == parse(high)))


def first_day(text: str) -> date:
    """The day itself, or that on which a year or a month begins."""
    return date.fromisoformat(text + "-01" * (2 - text.count("-")))


def check_every_run(tree: Tree, shown: str) -> None:
    for (low, high), label in zip(all_runs(tree), label_all(tree, shown), strict=True):
        if label == labels.ANY:  # missing beside values, or all values there are
            assert low == MISSING or (low, high) == (1, tree.size)
            assert high - low > 1
        else:
            assert codes_of(tree, label) == set(range(low, high)), (label, low, high)


@CHECKED
@given(trees(kinds=("text",)), st.sampled_from(["region", "hierarchy"]))
def test_nodes_and_sets_hold_exactly_their_codes(tree: Tree, shown: str) -> None:
    check_every_run(tree, shown)


@CHECKED
@given(values | fractions | days, st.sampled_from(["region", "tight"]))
def test_ranges_hold_exactly_their_codes(found: list, shown: str) -> None:
    tree, _ = Flat().build("x", pl.Series(found, strict=True) if found else pl.Series(found, dtype=pl.Int64))
    check_every_run(tree, shown)


@CHECKED
@given(st.lists(st.integers(-50, 50), max_size=8, unique=True), st.sampled_from(["region", "hierarchy", "tight"]))
def test_intervals_hold_exactly_their_codes(found: list[int], shown: str) -> None:
    tree, _ = Intervals(widths=(5, 10, 20)).build("x", pl.Series(found, dtype=pl.Int64))
    check_every_run(tree, shown)


@CHECKED
@given(st.lists(st.text("*ab,{", min_size=2, max_size=3), max_size=7, unique=True))
def test_names_that_look_like_syntax_hold_exactly_their_codes(found: list[str]) -> None:
    tree, _ = Flat().build("x", pl.Series(found, dtype=pl.String))
    check_every_run(tree, "region")


@CHECKED
@given(trees())
def test_two_runs_never_read_the_same_unless_they_mean_anything(tree: Tree) -> None:
    for shown in ("region", "hierarchy", "tight"):
        told = [label for label in label_all(tree, shown) if label != labels.ANY]
        assert len(set(told)) == len(told)


def labels_of(tree: Tree, *runs: tuple[int, int], shown: str = "region") -> list[str | None]:
    lows, highs = (np.array(bounds, dtype=np.int32) for bounds in zip(*runs, strict=True))
    return label_runs(tree, lows, highs, shown=shown).to_list()  # type: ignore[arg-type]


def test_the_ends_of_a_column_stay_open() -> None:
    tree, _ = Flat().build("age", pl.Series([17, 23, 41, 58, 90]))
    shown = labels_of(tree, (1, 3), (3, 6), (2, 4), (1, 6), (0, 3), (0, 1), (5, 6))
    assert shown == ["<40", ">=40", "[20, 50)", "*", "*", None, "90"]


def test_tight_ranges_show_the_values_themselves() -> None:
    tree, _ = Flat().build("age", pl.Series([17, 23, 41]))
    assert labels_of(tree, (1, 3), (1, 4), (2, 3), (0, 2), shown="tight") == ["[17, 23]", "[17, 41]", "23", "*"]


def test_whole_numbers_that_came_as_floats_look_like_whole_numbers() -> None:
    tree, _ = Flat().build("age", pl.Series([17.0, 23.0, 41.0, None]))  # as pandas has them, beside a missing one
    assert labels_of(tree, (1, 2), (1, 3), (2, 4), (0, 1)) == ["17", "<40", ">=20", None]


def test_a_region_is_written_with_the_bounds_of_the_intervals_around_it() -> None:
    tree, _ = Intervals(widths=(5, 10)).build("age", pl.Series([17, 23, 26.5, 41, 58], strict=False))
    assert labels_of(tree, (2, 4), (2, 4), (2, 3)) == ["[20, 40)", "[20, 40)", "23"]
    assert labels_of(tree, (2, 4), (2, 5), shown="level") == ["[20, 30)", '{"[20, 30)", "[40, 50)"}']
    assert labels_of(tree, (2, 4), (4, 5), shown="hierarchy") == ["[20, 30)", "41"]  # alone in its interval


def test_nodes_of_a_category_tree() -> None:
    places = Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan", "Korea, North"]})
    tree, _ = places.build("country", pl.Series(["Italy"]))
    shown = labels_of(tree, (1, 3), (1, 4), (2, 5), (4, 5), (3, 5), (1, 5), (0, 2))
    assert shown == ["Europe", "{Europe, Japan}", "{Spain, Asia}", "Korea, North", "Asia", "*", "*"]
    assert labels_of(tree, (2, 4)) == ["{Spain, Japan}"]


def test_an_asterisk_in_the_table_is_not_anything() -> None:
    tree, _ = Flat().build("x", pl.Series(["*", "a", "b"]))
    assert labels_of(tree, (1, 2), (1, 3), (1, 4)) == ['"*"', '{"*", a}', "*"]


def test_masks_and_calendar_names_need_no_quotes() -> None:
    codes, _ = Masking().build("zip", pl.Series(["75001", "75002", "75011", "75110"]))
    assert labels_of(codes, (1, 3), (1, 2), (1, 5)) == ["7500*", "75001", "*"]
    days, _ = Dates().build("born", pl.Series(["1987-11-03", "1987-11-24", "1987-12-24", "1988-02-14"]))
    assert labels_of(days, (1, 3), (1, 2), shown="hierarchy") == ["1987-11", "1987-11-03"]


@pytest.mark.parametrize(("members", "widened"), [(LONGEST_SET, False), (LONGEST_SET + 1, True)])
def test_an_overlong_set_is_widened_to_the_node_around_it(members: int, widened: bool) -> None:
    leaves = pl.Series([f"v{place:03}" for place in range(200)])
    tree = grow("x", leaves, "text", [pl.Series(["left"] * 100 + ["right"] * 100)], from_data=False)
    lows, highs = np.array([2, 0], dtype=np.int32), np.array([2 + members, 201], dtype=np.int32)
    wide_lows, wide_highs = widen_to_showable(tree, lows, highs)
    assert [wide_lows[0], wide_highs[0]] == ([1, 101] if widened else [2, 2 + members])
    assert [wide_lows[1], wide_highs[1]] == [0, 201]  # "*" is short enough
    assert lows[0] == 2, "the caller's runs stay as they are"


def test_a_long_run_of_few_nodes_is_not_widened() -> None:
    leaves = pl.Series([f"v{place:03}" for place in range(201)])
    tree = grow("x", leaves, "text", [pl.Series(["left"] * 100 + ["right"] * 100 + ["last"])], from_data=False)
    lows, highs = np.array([1], dtype=np.int32), np.array([201], dtype=np.int32)
    assert [bound.tolist() for bound in widen_to_showable(tree, lows, highs)] == [[1], [201]]


def test_no_runs_have_no_labels() -> None:
    tree, _ = Flat().build("x", pl.Series(["a", "b"]))
    nothing = np.empty(0, dtype=np.int32)
    assert label_runs(tree, nothing, nothing).to_list() == []


def check_present(tree: Tree, present: np.ndarray, shown: str) -> None:
    """Labels hold the values of their run that may be named, name no others, and say which codes they stand for."""
    runs = [(low, high) for low, high in all_runs(tree) if present[low:high].any()]
    if shown == "tight":
        runs = [(low, high) for low, high in runs if present[low] and present[high - 1]]
    if not runs:
        return
    lows, highs = (np.array(bounds, dtype=np.int32) for bounds in zip(*runs, strict=True))
    unseen = set(tree.names[0].filter(~pl.Series(present)).to_list())
    for wider in (False, True):
        named = name_runs(tree, lows, highs, shown=shown, present=present, wider=wider)  # type: ignore[arg-type]
        for place, ((low, high), label) in enumerate(zip(runs, named.labels.to_list(), strict=True)):
            held = codes_of(tree, label)
            assert set(np.flatnonzero(present[low:high]) + low) <= held
            if label is not None and label != labels.ANY:
                told = labels.read(label, ordered=tree.ordered)
                names = told.names if isinstance(told, labels.OneOf) else (label,)
                assert not unseen & set(names), label
            if wider:
                assert set(range(low, high)) <= held, (low, high, label)
            if label == labels.ANY:
                continue
            if named.pieces is not None and named.piece_of is not None:
                pieces = slice(*named.pieces.offsets[named.piece_of[place] : named.piece_of[place] + 2])
                ends = zip(named.pieces.lows[pieces], named.pieces.highs[pieces], strict=True)
                assert held == {code for first, last in ends for code in range(first, last)}
            else:
                assert held == set(range(named.lows[place], named.highs[place])), label
            assert (min(held), max(held) + 1) == (named.lows[place], named.highs[place])


@CHECKED
@given(trees(kinds=("text",)), st.sampled_from(["region", "hierarchy", "level", "tight"]), st.data())
def test_sets_name_only_values_that_are_present(tree: Tree, shown: str, data: st.DataObject) -> None:
    present = np.array([data.draw(st.booleans()) for _ in range(tree.size)])
    check_present(tree, present, shown)


@CHECKED
@given(values | fractions | days, st.sampled_from(["region", "tight"]), st.data())
def test_ranges_name_only_values_that_are_present(found: list, shown: str, data: st.DataObject) -> None:
    tree, _ = Flat().build("x", pl.Series(found, strict=True) if found else pl.Series(found, dtype=pl.Int64))
    check_present(tree, np.array([data.draw(st.booleans()) for _ in range(tree.size)]), shown)


@CHECKED
@given(st.lists(st.integers(-50, 50), max_size=8, unique=True), st.data())
def test_bounds_of_ranges_depend_on_values_that_are_present_alone(found: list[int], data: st.DataObject) -> None:
    """With other values in between that nobody may name, the labels are the same."""
    chosen = data.draw(st.lists(st.sampled_from(found), unique=True)) if found else []
    for hierarchy in (Flat(), Intervals(widths=(5, 10, 20))):
        tree, codes = hierarchy.build("x", pl.Series(found, dtype=pl.Int64))
        alone, _ = hierarchy.build("x", pl.Series(chosen, dtype=pl.Int64))
        present = np.isin(np.arange(tree.size), [0, *(codes[found.index(value)] for value in chosen)])
        check_present(tree, present, "region")
        whole = np.flatnonzero(present)
        for low in range(1, alone.size):
            for high in range(low + 2, alone.size + 1):
                last = whole[high] if high < alone.size else tree.size
                run = np.array([whole[low]], dtype=np.int32), np.array([last], dtype=np.int32)
                assert name_runs(tree, *run, present=present).labels[0] == labels_of(alone, (low, high))[0]


def test_declared_values_may_be_named_whoever_has_them() -> None:
    tree, _ = Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan"]}).build("x", pl.Series(["Italy"]))
    run = np.array([2], dtype=np.int32), np.array([4], dtype=np.int32)
    nobody = np.zeros(tree.size, dtype=bool)
    assert name_runs(tree, *run, present=nobody).labels.to_list() == ["{Spain, Japan}"]


def test_values_taken_from_the_data_are_not() -> None:
    places = Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan", "Laos"]}, taken_from="data")
    tree, _ = places.build("x", pl.Series(["Italy"]))
    run = np.array([2], dtype=np.int32), np.array([5], dtype=np.int32)
    present = np.array([False, True, True, False, False])
    assert name_runs(tree, *run, present=present).labels.to_list() == ["Spain"]
    assert name_runs(tree, *run, present=present, wider=True).labels.to_list() == ["*"]
