"""The scheme of a release, applied to other rows: from memory, from files, and by the command line."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import RecipeError, UncoveredValue, Unsatisfiable
from incrowd.methods.scheme import FITS_NO_GROUP, IN_FAILING_GROUPS
from tests.cli.command import incrowd

ROLES: dict[str, Any] = {
    "quasi": ["age", "sex"],
    "sensitive": ["ill"],
    "others": "drop",
    "hierarchies": {"age": ic.Intervals(widths=(5, 10, 20))},
}


def people(rows: int, start: int = 0) -> pl.DataFrame:
    numbers = range(start, start + rows)
    return pl.DataFrame(
        {
            "age": [None if row % 23 == 0 else 18 + (7 * row * row + row) % 60 for row in numbers],
            "sex": ["F" if row % 3 else "M" for row in numbers],
            "ill": [["flu", "cold", "gout"][row % 7 % 3] for row in numbers],
            "note": ["x"] * rows,
        }
    )


def published(method: Any, show: Any = None, k: int = 4) -> Any:
    return ic.publish(ic.read(people(200), **ROLES), ic.KAnonymity(k), method=method, show=show, seed=1)


def holds(label: str | None, value: Any) -> bool:
    """Whether a label of numbers or names holds a value, in plain Python."""
    if label is None or value is None:
        return label == "*" or (label is None and value is None)
    if label == "*":
        return True
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return float(low) <= value < float(high) or (label.endswith("]") and value == float(high))
    if label.startswith("<"):
        return value < float(label[1:])
    if label.startswith(">="):
        return value >= float(label[2:])
    if label.startswith("{"):
        return str(value) in label[1:-1].split(", ")
    return str(value) == label


def test_levels_are_the_same_and_new_combinations_are_judged(tmp_path: Path) -> None:
    first = published(ic.FullDomain(levels={"age": 2, "sex": 0}, max_withheld=1.0), k=3)
    new = pl.concat(
        [people(90, 500), pl.DataFrame({"age": [99] * 3, "sex": ["F"] * 3, "ill": ["flu"] * 3, "note": ["x"] * 3})]
    )
    expected: dict[Any, int] = Counter(
        (None if age is None else f"[{age // 10 * 10}, {age // 10 * 10 + 10})", sex)
        for age, sex in new.select("age", "sex").rows()
    )
    first.save(tmp_path / "first", format="csv")
    for release in (first, ic.open_release(tmp_path / "first")):
        second = release.scheme.apply(new)
        found = Counter(second.to_polars().select("age", "sex").rows())
        known = set(first.to_polars()["age"])
        # [90, 100) is no label of the first release, and the hierarchy tells it without looking at data
        assert found == {pair: n for pair, n in expected.items() if n >= 3 and (pair[0] is not None or None in known)}
        assert second.rows + second.withheld == new.height
        assert second.guarantees[0].achieved == min(found.values())
        assert (
            second.summary["method tells"][IN_FAILING_GROUPS] + second.summary["method tells"][FITS_NO_GROUP]
            == second.withheld
        )


@pytest.mark.parametrize("method", [ic.Mondrian(), ic.Mondrian(cuts="relaxed", labels="tight"), ic.KMember()], ids=repr)
def test_rows_get_a_group_that_holds_them_or_are_withheld(method: Any, tmp_path: Path) -> None:
    first, new = published(method), people(150, 1000)
    groups = set(first.to_polars().select("age", "sex").rows())
    held = [
        [g for g in groups if holds(g[0], age) and holds(g[1], sex)] for age, sex in new.select("age", "sex").rows()
    ]
    first.save(tmp_path / "first", format="parquet")
    for release in (first, ic.open_release(tmp_path / "first")):
        second = release.scheme.apply(new)
        shown = Counter(second.to_polars().select("age", "sex").rows())
        assert set(shown) <= groups
        assert min(shown.values()) >= 4
        told = second.summary["method tells"]
        assert told[FITS_NO_GROUP] == sum(not some for some in held)
        assert sum(shown.values()) + told[FITS_NO_GROUP] + told[IN_FAILING_GROUPS] == new.height
    by_hand: dict[Any, int] = defaultdict(int)
    for some in held:
        if len(some) == 1:
            by_hand[some[0]] += 1
    if all(len(some) <= 1 for some in held):
        assert {group: n for group, n in by_hand.items() if n >= 4} == dict(shown)


@pytest.mark.parametrize("show", ["mean", "bounds", "midpoint"])
def test_numbers_in_place_of_labels_are_those_of_the_first_release(show: Any, tmp_path: Path) -> None:
    first = published(ic.Mondrian(), show)
    first.save(tmp_path / "first", format="csv")
    second = ic.open_release(tmp_path / "first").scheme.apply(people(150, 1000))
    columns = [name for name in first.to_polars().columns if name != "ill"]
    assert set(second.to_polars().select(columns).rows()) <= set(first.to_polars().select(columns).rows())
    second.save(tmp_path / "second", format="csv")
    again = ic.open_release(tmp_path / "second")
    assert again.guarantees[0].achieved == second.guarantees[0].achieved
    assert ic.check(tmp_path / "second").k == second.guarantees[0].achieved


def test_the_command_and_the_recipe_that_it_writes(tmp_path: Path) -> None:
    first = published(ic.FullDomain(max_withheld=0.5))
    first.save(tmp_path / "first", format="csv")
    people(150, 1000).write_csv(tmp_path / "new.csv")
    done = incrowd("apply", tmp_path / "first", tmp_path / "new.csv", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["rows"]["in"] == 150
    expected = first.scheme.apply(people(150, 1000))
    opened = ic.open_release(tmp_path / "first-applied")
    assert sorted(opened.to_polars().rows(), key=str) == sorted(
        [tuple(None if v is None else str(v) for v in row) for row in expected.to_polars().rows()], key=str
    )
    from incrowd.publishing.recipe import Recipe

    again = Recipe.load(tmp_path / "first-applied" / "recipe.toml").run()
    assert again.to_polars().equals(expected.to_polars())


def test_the_summary_tells_levels_and_cuts() -> None:
    told = published(ic.FullDomain(levels={"age": 1, "sex": 0}, max_withheld=1.0)).summary["scheme"]
    assert told["columns"]["age"]["level"] == 1
    assert told["recoded"] == "all groups share levels"
    local = published(ic.Mondrian())
    told = local.summary["scheme"]["columns"]["age"]
    assert "level" not in told
    assert set(told["labels"]) == {label for label in local.to_polars()["age"] if label is not None}


def test_what_fits_nothing_and_other_roles_are_refused() -> None:
    first = published(ic.Mondrian(labels="tight"))
    strange = pl.DataFrame({"age": [500] * 9, "sex": ["F"] * 9, "ill": ["flu"] * 9})
    with pytest.raises(Unsatisfiable, match="nothing is left"):
        first.scheme.apply(strange)
    with pytest.raises(RecipeError, match="roles that they had"):
        first.scheme.apply(ic.read(people(50), quasi=["age"], sensitive=["ill"], others="drop"))
    with pytest.raises(RecipeError, match="names no release"):
        ic.publish(ic.read(people(50), **ROLES), ic.KAnonymity(2), method=ic.Scheme())


CITIES = ic.Categories.from_tree({"north": ["Oslo", "Bergen"], "south": ["Rome", "Pisa"]})


def citizens(cities: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"city": cities * 12, "ill": [["flu", "cold"][row % 2] for row in range(12 * len(cities))]})


@pytest.mark.parametrize("method", [ic.FullDomain(), ic.Mondrian()], ids=lambda method: method.name)
@pytest.mark.parametrize("taken_from", [None, "data"])
def test_values_that_the_hierarchy_lacks_are_withheld_and_counted(method: Any, taken_from: Any, tmp_path: Path) -> None:
    tree = CITIES if taken_from is None else ic.Categories(CITIES.rows, taken_from)
    roles: dict[str, Any] = {"quasi": ["city"], "sensitive": ["ill"], "hierarchies": {"city": tree}}
    known = ["Oslo", "Bergen", "Rome", "Pisa"]
    first = ic.publish(ic.read(citizens(known), **roles), ic.KAnonymity(5), method=method, seed=1)
    first.save(tmp_path / "first")
    # One that is nowhere, and one that has the name of a group.
    new = citizens([*known, "Atlantis", "north"])
    new.write_csv(tmp_path / "new.csv")
    second = first.scheme.apply(new)
    assert second.summary["method tells"][FITS_NO_GROUP] == 24
    assert (second.rows, second.withheld) == (48, 24)
    assert set(second.to_polars()["city"]) == set(first.to_polars()["city"])
    done = incrowd("apply", tmp_path / "first", tmp_path / "new.csv", "--output", tmp_path / "second", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["rows"]["withheld"] == 24
    for path in (tmp_path / "second").iterdir():
        assert "Atlantis" not in path.read_text(encoding="utf-8")
        assert "not listed" not in path.read_text(encoding="utf-8")
    assert ic.check(tmp_path / "second").k == second.guarantees[0].achieved
    with pytest.raises(UncoveredValue):  # elsewhere such a value is an error
        ic.publish(ic.read(new, **roles), ic.KAnonymity(5), method=method, seed=1)


def test_a_value_that_the_hierarchy_lacks_fits_a_label_of_everything() -> None:
    roles: dict[str, Any] = {"quasi": ["city"], "sensitive": ["ill"], "hierarchies": {"city": CITIES}}
    first = ic.publish(ic.read(citizens(["Oslo", "Rome"]), **roles), ic.KAnonymity(20), method=ic.FullDomain(), seed=1)
    assert set(first.to_polars()["city"]) == {"*"}
    second = first.scheme.apply(citizens(["Oslo", "Atlantis"]))
    assert (second.rows, set(second.to_polars()["city"])) == (24, {"*"})


def test_a_sensitive_value_that_its_hierarchy_lacks_is_withheld() -> None:
    ills = ic.Categories.from_tree({"mild": ["flu", "cold"]})
    roles: dict[str, Any] = {"quasi": ["city"], "sensitive": ["ill"], "hierarchies": {"ill": ills}}
    first = ic.publish(ic.read(citizens(["Oslo", "Rome"]), **roles), ic.KAnonymity(5), seed=1)
    other = citizens(["Oslo", "Rome"]).with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("plague")).otherwise("ill").alias("ill")
    )
    second = first.scheme.apply(other)
    assert second.withheld == 3
    assert "plague" not in set(second.to_polars()["ill"])
