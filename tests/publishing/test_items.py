"""Sets of items in a table: what is published is judged by counting combinations in plain Python, from the files."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from tests.cli.command import incrowd


@cache
def people_with_sets(people: int = 600, kinds: int = 30, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, kinds + 1)
    names = np.array([f"item {number}" for number in range(kinds)])
    sets = [
        names[rng.choice(kinds, size, replace=False, p=weights / weights.sum())].tolist()
        for size in rng.integers(0, 7, people)
    ]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, people),
            "sex": rng.choice(["F", "M"], people),
            "bought": sets,
            "disease": rng.choice(["flu", "gout", "cold"], people),
        }
    )


def rarest(rows: Iterable[tuple[tuple, Iterable[str]]], m: int) -> tuple[int, float]:
    """Return the fewest people of a group who show a combination of at most m labels, and the fewest of a group."""
    groups: dict[tuple, list[frozenset[str]]] = defaultdict(list)
    for shown, labels in rows:
        groups[shown].append(frozenset(labels))
    fewest = float("inf")
    for sets in groups.values():
        held = Counter(
            together for labels in sets for size in range(1, m + 1) for together in combinations(sorted(labels), size)
        )
        fewest = min([fewest, *held.values()])
    return min(len(sets) for sets in groups.values()), fewest


@pytest.mark.parametrize(
    ("method", "m"),
    [(ic.OccurrenceRecoding(), 2), (ic.SubtreeGeneralization(), 2), (ic.ItemSuppression(), 2),
     (ic.ItemSuppression(), 1), (ic.OccurrenceRecoding(), 3), (ic.SubtreeGeneralization(), 3)],
)  # fmt: skip
def test_every_group_hides_people_who_are_known_by_m_items(method: ic.OccurrenceRecoding, m: int) -> None:
    table = ic.read(people_with_sets(), quasi=["age", "sex"], sensitive=["disease"], items=["bought"])
    release = ic.publish(table, [ic.KAnonymity(30), ic.KmAnonymity(4, m=m)], items=method)
    rows = [((age, sex), labels) for age, sex, _, labels in release.to_polars().iter_rows()]
    k, fewest = rarest(rows, m)
    assert k >= 30
    assert fewest == release.guarantees[-1].achieved >= 4


def test_without_quasi_identifiers_everybody_is_one_group() -> None:
    table = ic.read(people_with_sets().select("bought"), items=["bought"])
    release = ic.publish(table, ic.KmAnonymity(5, m=2))
    assert release.rows == 600
    assert rarest([((), labels) for (labels,) in release.to_polars().iter_rows()], 2)[1] >= 5


def test_what_is_shown_holds_for_what_people_have() -> None:
    """An item is shown as itself or by a label that names it; nothing is shown that nobody has."""
    frame = people_with_sets(200).with_columns(person=pl.Series(range(200)))
    table = ic.read(frame, person="person", pseudonyms=["person"], items=["bought"], keep=["age", "sex", "disease"])
    release = ic.publish(table, ic.KmAnonymity(3, m=2))
    had = Counter(tuple(sorted(row)) for row in frame["bought"].to_list())
    assert release.rows == sum(had.values())
    named = {name for labels in release.to_polars()["bought"].to_list() for label in labels for name in named_in(label)}
    assert named <= {name for row in frame["bought"].to_list() for name in row}


def named_in(label: str) -> set[str]:
    return set(label.strip("{}").split(", "))


def test_files_are_judged_by_themselves(tmp_path: Path) -> None:
    frame = people_with_sets()
    source = tmp_path / "people.csv"
    frame.with_columns(pl.col("bought").list.join("|")).write_csv(source)
    table = ic.read(
        source, quasi=["age", "sex"], sensitive=["disease"], items=["bought"], item_separator="|",
        hierarchies={"age": ic.Intervals(widths=(10, 20))},
    )  # fmt: skip
    models = [ic.KAnonymity(20), ic.LKCPrivacy(2, 3, 0.8)]
    release = ic.publish(table, models)
    for form in ("csv", "parquet", "arrow"):
        release.save(tmp_path / form, format=form)  # type: ignore[arg-type]
        told = incrowd("check", tmp_path / form)
        assert told.code == 0, told.err
        assert "LKC-privacy with L = 2, K = 3, C = 0.8" in " ".join(told.out.split())
        assert "does not hold" not in told.out
    again = ic.Recipe.load(tmp_path / "parquet" / "recipe.toml").run()
    assert [str(found.model) for found in again.guarantees] == [str(model) for model in models]


def test_a_changed_file_does_not_pass(tmp_path: Path) -> None:
    table = ic.read(people_with_sets(), quasi=["age", "sex"], items=["bought"], drop=["disease"])
    ic.publish(table, [ic.KAnonymity(20), ic.KmAnonymity(3, m=2)]).save(tmp_path / "out")
    data = tmp_path / "out" / "data.csv"
    with data.open(newline="") as file:
        rows = list(csv.reader(file))
    rows[1][2] = "something else;and more"
    with data.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    found = {model.statement: model.satisfied for model in ic.check(tmp_path / "out").models}
    assert found == {"20-anonymity": True, "3^2-anonymity": False}


def test_the_order_of_rows_does_not_tell_who_is_sampled() -> None:
    frame = pl.DataFrame({"pid": range(60), "age": 1, "bought": [["a", "b"], ["a"], []] * 20})
    found = []
    for rows in (frame, frame.reverse(), frame.sample(fraction=1, shuffle=True, seed=1)):
        table = ic.read(rows, person="pid", quasi=["age"], items=["bought"])
        kept = ic.read(rows.with_columns(who="pid"), person="pid", quasi=["age"], items=["bought"], keep=["who"])
        assert ic.publish(table, [ic.KAnonymity(2), ic.KmAnonymity(2, m=2)], sample=0.5, seed=2).rows > 0
        release = ic.publish(kept, [ic.KAnonymity(2), ic.KmAnonymity(2, m=2)], sample=0.5, seed=2)
        found.append(sorted(release.to_polars()["who"].to_list()))
    assert found[0] == found[1] == found[2]


def test_the_order_of_rows_and_items_changes_nothing() -> None:
    frame = people_with_sets(300)
    turned = frame.reverse().with_columns(pl.col("bought").list.reverse())
    made = [
        ic.publish(
            ic.read(rows, quasi=["age", "sex"], sensitive=["disease"], items=["bought"]),
            [ic.KAnonymity(20), ic.KmAnonymity(3, m=2)],
            seed=7,
        ).to_polars()
        for rows in (frame, turned)
    ]
    assert made[0].sort(pl.all()).equals(made[1].sort(pl.all()))


def test_a_release_tells_how_many_bought_two_things() -> None:
    frame = people_with_sets(2000)
    table = ic.read(frame, quasi=["age"], items=["bought"], others="drop")
    release = ic.publish(table, [ic.KAnonymity(500), ic.KmAnonymity(2, m=2)])
    for asked in (["item 0"], ["item 0", "item 1"], ["item 2", "item 5"]):
        true = sum(set(asked) <= set(row) for row in frame["bought"].to_list())
        assert release.count({"bought": asked}) == pytest.approx(true, rel=0.2)
    young = frame.filter(pl.col("age") < 50)["bought"].to_list()
    estimate = release.count({"bought": "item 0", "age": (20, 49)})
    assert estimate == pytest.approx(sum("item 0" in row for row in young), rel=0.2)
    with pytest.raises(ic.errors.QueryError, match="has no value"):
        release.count({"bought": "nothing that is sold"})


def test_an_audit_tries_what_a_few_known_items_tell() -> None:
    table = ic.read(people_with_sets(400), quasi=["age", "sex"], sensitive=["disease"], items=["bought"])
    release = ic.publish(table, [ic.KAnonymity(20), ic.KmAnonymity(4, m=2)])
    rows = [((age, sex), frozenset(labels)) for age, sex, _, labels in release.to_polars().iter_rows()]
    chances = []
    for group, own in rows:
        crowd = [labels for other, labels in rows if other == group]
        known = [together for size in (0, 1, 2) for together in combinations(sorted(own), size)]
        chances.append(1 / min(sum(set(together) <= labels for labels in crowd) for together in known))
    (risk,) = [risk for risk in release.audit(remedies=False, learn=False).attacks if risk.attack == "known-items"]
    assert risk.details["found with 2 known"] == pytest.approx(sum(chances) / len(chances))
    assert risk.details["fewest people who show 2"] >= 4
    assert risk.details["alone with 2 known"] == 0


@pytest.mark.parametrize("kind", ["to_pandas", "to_arrow", "lazy"])
def test_lists_of_any_frame(kind: str) -> None:
    frame = people_with_sets(200)
    given = getattr(frame, kind)()
    made = [
        ic.publish(ic.read(rows, items=["bought"], others="drop"), ic.KmAnonymity(3), seed=1).to_polars()
        for rows in (frame, given)
    ]
    assert made[0].equals(made[1])


def test_mistakes() -> None:
    frame = people_with_sets(60)
    table = ic.read(frame, quasi=["age", "sex"], sensitive=["disease"], items=["bought"])
    with pytest.raises(ic.errors.RecipeError, match="nothing is required of them"):
        ic.publish(table, ic.KAnonymity(2))
    plain = ic.read(frame.drop("bought"), quasi=["age", "sex"], sensitive=["disease"])
    with pytest.raises(ic.errors.SchemaError, match="no column is of items"):
        ic.publish(plain, [ic.KAnonymity(2), ic.KmAnonymity(2)])
    with pytest.raises(ic.errors.SchemaError, match="one column of items"):
        ic.read(frame, items=["bought", "disease"], others="drop")
    with pytest.raises(ic.errors.SourceError, match="not plain"):
        ic.read(frame, quasi=["age"], others="drop")
    with pytest.raises(ic.errors.SchemaError, match="item_separator"):
        ic.publish(ic.read(frame, items=["bought"], item_separator=";", others="drop"), ic.KmAnonymity(2))
    with pytest.raises(ic.errors.SchemaError, match="holds Int64"):
        ic.publish(ic.read(frame.drop("bought"), items=["age"], others="drop"), ic.KmAnonymity(2))


def test_items_that_hold_the_separator_are_not_written_as_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"bought": [["a;b", "c"]] * 5})
    release = ic.publish(ic.read(frame, items=["bought"]), ic.KmAnonymity(3))
    with pytest.raises(ic.errors.OutputError, match="item_separator"):
        release.save(tmp_path / "text", format="csv")
    assert pl.read_parquet(release.save(tmp_path / "lists", format="parquet"))["bought"].to_list() == [["a;b", "c"]] * 5
