"""Hierarchies looked at over their column, and changed in one way at a time: against plain Python over the rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import HierarchyError
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.planning.hierarchies import ColumnValues, Looked, edited, look_at
from incrowd.sources import open_source

COUNTRIES = ["Italy", "Spain", "Spain", "Japan", None, "China", "Japan ", "Italy"]
PLACES = ic.Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan", "China"]}, taken_from="data")
AGES = [17, 23, 25, 25, 31, 38, 44, 59, 60, 84, None]


def column(values: list[Any]) -> ColumnValues:
    return ColumnValues.of(open_source(pl.DataFrame({"c": values})), "c")


def looked(values: list[Any], hierarchy: Hierarchy) -> Looked:
    return look_at(hierarchy, column(values))


def level(found: Looked, at: int) -> dict[str, int]:
    return {node["name"]: node["count"] for node in found.to_dict()["levels"][at]["listed"]}


def test_levels_count_rows_as_plain_python_does() -> None:
    found = looked(COUNTRIES, PLACES)
    assert level(found, 0) == Counter(name.strip() for name in COUNTRIES if name)
    assert level(found, 1) == {"Europe": 4, "Asia": 3}
    assert level(found, 2) == {"*": 7}
    told = found.to_dict()
    assert (told["rows"], told["missing"], told["height"], told["covered"]) == (8, 1, 2, True)
    for below, above in zip(told["levels"], told["levels"][1:], strict=False):
        names = {node["node"]: node for node in above["listed"]}
        sums: Counter[int] = Counter()
        for node in below["listed"]:
            sums[node["parent"]] += node["count"]
        assert sums == {node: one["count"] for node, one in names.items()}


def test_ranges_hold_the_numbers_that_they_name() -> None:
    found = looked(AGES, ic.Intervals(widths=(10, 20)))
    for node in found.to_dict()["levels"][1]["listed"]:
        low, high = (int(part) for part in node["name"].strip("[)").split(", "))
        inside = [age for age in AGES if age is not None and low <= age < high]
        assert node["count"] == len(inside)
        assert (node["from"], node["to"]) == (min(inside), max(inside))
    found = looked(AGES, ic.Intervals(cuts=((20, 40, 60), (40,))))
    assert found.cuts() == found.to_dict()["cuts"] == [[20, 40, 60], [40]]
    assert looked(COUNTRIES, PLACES).to_dict()["cuts"] is None


def test_long_levels_are_cut_short_and_say_so() -> None:
    told = looked([str(number) for number in range(50)], ic.Flat()).to_dict(most=10)
    assert (told["levels"][0]["nodes"], len(told["levels"][0]["listed"]), told["levels"][0]["left_out"]) == (50, 10, 40)


def test_lacking_values_are_told_and_not_refused() -> None:
    found = looked([*COUNTRIES, "Peru"], PLACES)
    assert not found.covered
    assert found.to_dict()["uncovered"] == {"count": 1, "values": ["Peru"]}
    with pytest.raises(HierarchyError, match="does not cover"):
        edited(found, {"action": "rename", "level": 1, "node": "Asia", "name": "East"})


def test_what_is_shown_is_what_publish_applies() -> None:
    """A release at level 1 of the hierarchy shows the names of that level, as often as was told."""
    rows = pl.DataFrame({"c": [name for name in COUNTRIES if name], "s": list("abcdefg")})
    made = edited(looked(COUNTRIES, PLACES), {"action": "rename", "level": 1, "node": "Asia", "name": "East"})
    table = ic.read(rows, quasi=["c"], sensitive=["s"], hierarchies={"c": made})
    release = ic.publish(table, ic.KAnonymity(1), method=ic.FullDomain(levels={"c": 1}))
    assert Counter(release.to_polars()["c"].to_list()) == level(look_at(made, column(COUNTRIES)), 1)


def test_values_are_grouped_renamed_and_ungrouped() -> None:
    flat = looked(COUNTRIES, ic.Flat())
    south = edited(flat, {"action": "group", "level": 0, "nodes": ["Italy", "Spain"], "name": "South"})
    assert isinstance(south, ic.Categories)
    assert south.taken_from == "data"  # its values were read off the table
    assert level(look_at(south, flat.column), 1) == {"China": 1, "South": 4, "Japan": 2}
    two = edited(
        look_at(south, flat.column), {"action": "group", "level": 1, "nodes": ["South", "China"], "name": "Far"}
    )
    assert level(look_at(two, flat.column), 2) == {"Far": 5, "Japan": 2}
    moved = edited(look_at(two, flat.column), {"action": "group", "level": 0, "nodes": ["Japan"], "name": "South"})
    assert level(look_at(moved, flat.column), 1) == {"South": 6, "China": 1}
    back = edited(look_at(south, flat.column), {"action": "dissolve", "level": 1, "node": "South"})
    assert look_at(back, flat.column).to_dict()["height"] == 1
    renamed = edited(looked(COUNTRIES, PLACES), {"action": "rename", "level": 1, "node": "Asia", "name": "East"})
    assert level(looked(COUNTRIES, renamed), 1) == {"Europe": 4, "East": 3}


def test_a_declared_tree_stays_declared() -> None:
    declared = ic.Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan", "China"]})
    made = edited(looked(COUNTRIES, declared), {"action": "rename", "level": 1, "node": "Asia", "name": "East"})
    assert isinstance(made, ic.Categories)
    assert made.taken_from is None


def test_cuts_of_a_level_are_moved_and_levels_nest() -> None:
    found = looked(AGES, ic.Intervals(cuts=((20, 30, 40, 60), (40, 60))))
    made = edited(found, {"action": "cuts", "level": 2, "cuts": [60, 35]})
    assert made == ic.Intervals(cuts=((20, 30, 35, 40, 60), (35, 60)))
    finer = edited(found, {"action": "cuts", "level": 1, "cuts": [25, 60]})
    assert finer == ic.Intervals(cuts=((25, 60), (60,)))
    more = edited(found, {"action": "add level"})
    assert more == ic.Intervals(cuts=((20, 30, 40, 60), (40, 60), (60,)))
    assert edited(found, {"action": "remove level", "level": 1}) == ic.Intervals(cuts=((40, 60),))
    first = edited(looked(AGES, ic.Flat()), {"action": "cuts", "level": 1, "cuts": [40]})
    assert level(looked(AGES, first), 1) == {"<40": 6, ">=40": 4}


@pytest.mark.parametrize(
    "edit",
    [
        {},
        {"action": "explode"},
        {"action": "group", "level": 0, "nodes": [], "name": "x"},
        {"action": "group", "level": 0, "nodes": ["Peru"], "name": "x"},
        {"action": "group", "level": 9, "nodes": ["Italy"], "name": "x"},
        {"action": "group", "level": 0, "nodes": ["Italy"], "name": "*"},
        {"action": "group", "level": 0, "nodes": "Italy", "name": "x"},
        {"action": "rename", "level": 0, "node": "Italy", "name": "x"},
        {"action": "rename", "level": 1, "node": "Peru", "name": "x"},
        {"action": "rename", "level": True, "node": "Asia", "name": "x"},
        {"action": "dissolve", "level": 2, "node": "*"},
        {"action": "cuts", "level": 1, "cuts": [1]},
    ],
)
def test_changes_that_make_no_sense_are_refused(edit: dict[str, Any]) -> None:
    with pytest.raises(HierarchyError):
        edited(looked(COUNTRIES, PLACES), edit)


@pytest.mark.parametrize(
    "edit",
    [
        {"action": "cuts", "level": 5, "cuts": [1]},
        {"action": "cuts", "level": 1, "cuts": []},
        {"action": "cuts", "level": 1, "cuts": ["1"]},
        {"action": "cuts", "level": 1, "cuts": [float("nan")]},
        {"action": "group", "level": 0, "nodes": ["17"], "name": "x"},
        {"action": "remove level", "level": 3},
    ],
)
def test_changes_of_numbers_that_make_no_sense_are_refused(edit: dict[str, Any]) -> None:
    with pytest.raises(HierarchyError):
        edited(looked(AGES, ic.Intervals(widths=(10,))), edit)


def test_a_file_of_it_reads_back_as_the_same_levels() -> None:
    found = looked(COUNTRIES, PLACES)
    text = "\n".join(";".join(row) for row in found.rows_of_values())
    again = looked(COUNTRIES, ic.Categories.from_csv(text))
    assert [level(again, at) for at in range(3)] == [level(found, at) for at in range(3)]


def test_an_empty_column_and_one_value() -> None:
    assert looked([None, None], ic.Flat()).to_dict()["missing"] == 2
    assert level(looked(["a"], ic.Flat()), 0) == {"a": 1}
    with pytest.raises(HierarchyError, match="no values"):
        edited(looked([None], ic.Flat()), {"action": "group", "level": 0, "nodes": ["a"], "name": "x"})
