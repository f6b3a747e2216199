"""Linked tables, and flat ones that are split: a naive adversary joins the published files and counts people."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from tests.publishing.linked_files import require_hidden
from tests.publishing.test_items import rarest

pytestmark = pytest.mark.usefixtures("few_queries")

PEOPLE, VISITS, BOUGHT = 160, 600, 480


@pytest.fixture
def tables() -> dict[str, pl.DataFrame]:
    return made_up_tables()


def made_up_tables() -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(5)
    names = [f"P{number:03}" for number in range(PEOPLE)]
    people = pl.DataFrame(
        {
            "pid": names,
            "age": rng.integers(20, 80, PEOPLE),
            "sex": rng.choice(["F", "M"], PEOPLE),
            "blood": rng.choice(["A", "B", "0"], PEOPLE),
        }
    )
    visits = pl.DataFrame(
        {
            "pid": rng.choice(names, VISITS),
            "disease": rng.choice(list("abcdefghij"), VISITS),
            "ward": rng.choice(["x", "y"], VISITS),
        }
    )
    bought = pl.DataFrame({"pid": rng.choice(names, BOUGHT), "item": [f"i{n % 20}" for n in rng.zipf(1.6, BOUGHT)]})
    return {"people": people, "visits": visits, "bought": bought}


def linked(tables: dict[str, pl.DataFrame]) -> ic.Table:
    return ic.read_tables(
        ic.read(tables["people"], person="pid", quasi=["age", "sex"], sensitive=["blood"]),
        visits=ic.read(tables["visits"], person="pid", sensitive=["disease"], keep=["ward"]),
        bought=ic.read(tables["bought"], person="pid", items=["item"]),
    )


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_naive_adversary_who_joins_the_files(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    models = [ic.KAnonymity(8), ic.ProbabilisticLDiversity(1.4), ic.KmAnonymity(3, m=2)]
    ic.publish(linked(tables), models).save(tmp_path / "out")
    people, visits, bought = (lines(tmp_path / "out" / f"{name}.csv") for name in ("data", "visits", "bought"))
    assert len(people) == PEOPLE
    assert len(visits) == VISITS
    require_hidden(people, visits, bought, keys=tables["people"]["pid"], k=8, share=1 / 1.4, shown_by=3)
    found = {model.statement: model.satisfied for model in ic.check(tmp_path / "out").models}
    assert found == {str(model): True for model in models}


def test_what_no_guarantee_speaks_of_is_told_of_every_table(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    release = ic.publish(linked(tables), [ic.KAnonymity(5), ic.KmAnonymity(2)])
    assert any("outside of every guarantee: ward of visits." in warning for warning in release.warnings)
    release.save(tmp_path / "out")
    assert ic.check(tmp_path / "out").outside == ("pid", "ward of visits")


def test_what_people_have_is_what_they_had(tables: dict[str, pl.DataFrame]) -> None:
    release = ic.publish(linked(tables), [ic.KAnonymity(5), ic.KmAnonymity(2, m=1)])
    had = tables["people"].join(tables["visits"], on="pid", how="left").group_by("pid", "blood").agg("disease", "ward")
    has = release.to_polars().join(release.tables["visits"], on="pid", how="left").group_by("pid", "blood")
    as_set = [
        sorted((blood, *sorted(map(str, zip(diseases, wards, strict=True)))) for _, blood, diseases, wards in rows)
        for rows in (had.iter_rows(), has.agg("disease", "ward").iter_rows())
    ]
    assert as_set[0] == as_set[1]


def test_a_key_that_is_spelt_in_two_ways_is_one_person() -> None:
    people = pl.DataFrame({"pid": ["1", "2", "3 "], "age": [30, 30, 30]})
    visits = pl.DataFrame({"pid": ["1 ", "1", "2", "3"], "disease": ["flu", "cold", "flu", "gout"]})
    release = ic.publish(
        ic.read_tables(
            ic.read(people, person="pid", quasi=["age"]),
            visits=ic.read(visits, person="pid", sensitive=["disease"]),
        ),
        ic.KAnonymity(3),
    )
    found = release.tables["visits"]
    assert found.height == 4
    assert set(found["pid"]) == set(release.to_polars()["pid"])
    assert sorted(found["pid"].value_counts()["count"].to_list()) == [1, 1, 2]


def test_keys_are_stable_only_if_asked(tables: dict[str, pl.DataFrame]) -> None:
    keys = [set(ic.publish(linked(tables), [ic.KAnonymity(5), ic.KmAnonymity(2)]).to_polars()["pid"]) for _ in "ab"]
    assert not keys[0] & keys[1]
    key = ic.PseudonymKey.new()
    keys = [
        set(ic.publish(linked(tables), [ic.KAnonymity(5), ic.KmAnonymity(2)], pseudonym_key=key).to_polars()["pid"])
        for _ in "ab"
    ]
    assert keys[0] == keys[1]


def test_recipes_name_linked_tables(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    for name, table in tables.items():
        table.write_csv(tmp_path / f"{name}.csv")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """
incrowd = 1
[source]
path = "people.csv"
[[models]]
name = "k-anonymity"
k = 6
[[models]]
name = "km-anonymity"
k = 3
m = 2
[items]
name = "subtree-generalization"
[columns]
pid = "person"
age = "quasi"
sex = "quasi"
blood = "sensitive"
[tables.visits]
path = "visits.csv"
others = "drop"
columns = { pid = "person", disease = "sensitive" }
[tables.bought]
path = "bought.csv"
columns = { pid = "person", item = "items" }
"""
    )
    release = ic.Recipe.load(recipe).run()
    release.save(tmp_path / "out")
    again = ic.Recipe.load(tmp_path / "out" / "recipe.toml").run()
    for made in (release, again):
        assert made.tables["visits"].columns == ["pid", "disease"]
        assert [str(found.model) for found in made.guarantees] == ["6-anonymity", "3^2-anonymity"]


def test_a_flat_table_is_split_by_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(200), 4)
    flat = pl.DataFrame(
        {
            "nr": person + 5000,
            "age": np.repeat(rng.integers(20, 80, 200), 4),
            "blood": np.repeat(rng.choice(["A", "B"], 200), 4),
            "disease": rng.choice(list("abcdef"), 800),
            "day": rng.integers(1, 28, 800),
        }
    )
    source = tmp_path / "visits.csv"
    flat.write_csv(source)
    table = ic.read(source, person="nr", quasi=["age"], sensitive=["blood", "disease"], keep=["day"])
    release = ic.publish(ic.split_rows(table, "visits"), [ic.KAnonymity(5), ic.ProbabilisticLDiversity(1.2)])
    assert release.to_polars().columns == ["nr", "age", "blood"]
    assert release.tables["visits"].columns == ["nr", "disease", "day"]
    assert (release.rows, release.tables["visits"].height) == (200, 800)
    release.save(tmp_path / "out")
    assert [model.satisfied for model in ic.check(tmp_path / "out").models] == [True, True]
    again = ic.Recipe.load(tmp_path / "out" / "recipe.toml").run()
    assert again.to_polars().columns == ["nr", "age", "blood"]


def test_no_file_names_a_value_that_only_withheld_people_have(tmp_path: Path) -> None:
    people = pl.DataFrame({"pid": range(21), "age": [30] * 10 + [60] * 10 + [99]})
    visits = pl.DataFrame({"pid": range(21), "disease": ["flu", "cold"] * 10 + ["XSECRETX"]})
    bought = pl.DataFrame({"pid": range(21), "item": ["a", "b"] * 10 + ["XRAREX"]})
    listed = {name: replace(ic.Categories.from_tree(values), taken_from="data") for name, values in (
        ("disease", ["flu", "cold", "XSECRETX"]), ("item", ["a", "b", "XRAREX"]),
    )}  # fmt: skip
    tables = ic.read_tables(
        ic.read(people, person="pid", quasi=["age"]),
        visits=ic.read(visits, person="pid", sensitive=["disease"], hierarchies={"disease": listed["disease"]}),
        bought=ic.read(bought, person="pid", items=["item"], hierarchies={"item": listed["item"]}),
    )
    release = ic.publish(tables, [ic.KAnonymity(5), ic.KmAnonymity(2)], method=ic.FullDomain(max_withheld=0.2))
    assert release.withheld == 1
    release.save(tmp_path / "out")
    for file in (tmp_path / "out").iterdir():
        assert "XSECRETX" not in file.read_text()
        assert "XRAREX" not in file.read_text()


def test_mistakes(tables: dict[str, pl.DataFrame]) -> None:
    people = ic.read(tables["people"], person="pid", quasi=["age", "sex"], sensitive=["blood"])
    visits = ic.read(tables["visits"], person="pid", sensitive=["disease"], others="drop")
    with pytest.raises(ic.errors.SchemaError, match="no table of events"):
        ic.read_tables(people)
    with pytest.raises(ic.errors.SchemaError, match="does not say who is who"):
        ic.read_tables(ic.read(tables["people"], quasi=["age"], others="drop"), visits=visits)
    with pytest.raises(ic.errors.SchemaError, match="not called 'data'"):
        ic.read_tables(people, data=visits)
    twice = ic.read(pl.concat([tables["people"], tables["people"]]), person="pid", quasi=["age", "sex"], others="drop")
    with pytest.raises(ic.errors.SchemaError, match="one row in the table of people"):
        ic.publish(ic.read_tables(twice, visits=visits), ic.KAnonymity(2))
    few = ic.read(tables["people"].head(50), person="pid", quasi=["age", "sex"], sensitive=["blood"])
    with pytest.raises(ic.errors.SchemaError, match="not in the table of people"):
        ic.publish(ic.read_tables(few, visits=visits), ic.KAnonymity(2))
    changing = ic.read(tables["visits"], person="pid", quasi=["ward"], sensitive=["disease"])
    with pytest.raises(ic.errors.SchemaError, match="changes from row to row"):
        ic.split_rows(changing)


def test_items_of_events_are_attacked_in_memory_and_from_files(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    release = ic.publish(linked(tables), [ic.KAnonymity(5), ic.KmAnonymity(3, m=2)])
    release.save(tmp_path / "out")
    people, bought = release.to_polars(), release.tables["bought"]
    shown = dict(bought.group_by("pid").agg("item").iter_rows())
    sets = [shown.get(pid, []) for pid in people["pid"]]
    fewest = rarest(zip(people.select("age", "sex").rows(), sets, strict=True), 2)[1]
    for one in (release, ic.open_release(tmp_path / "out")):
        risk = next(found for found in one.audit(remedies=False, learn=False).attacks if found.attack == "known-items")
        assert min(risk.details[f"fewest people who show {m}"] for m in (1, 2)) == fewest >= 3


def test_dates_of_events_are_refused_treated_and_told_in_recipes(
    tables: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    days = pl.Series(np.random.default_rng(2).integers(0, 900, VISITS)).cast(pl.Duration("ms")) * 86_400_000
    visits = tables["visits"].with_columns(day=(pl.lit(date(2020, 1, 1)) + days).cast(pl.Date))
    tables["people"].write_csv(tmp_path / "people.csv")
    for name, values in (("visits", visits), ("late", visits.with_columns(day=pl.lit(date(9999, 12, 30))))):
        values.write_csv(tmp_path / f"{name}.csv")
    flat = visits.join(tables["people"], on="pid")
    flat.write_csv(tmp_path / "flat.csv")
    given = {"person": "pid", "sensitive": ["disease"], "dates": {"day": ic.ShiftDates(20)}, "others": "drop"}
    people = ic.read(tmp_path / "people.csv", person="pid", quasi=["age", "sex"], others="drop")
    late = ic.read(tmp_path / "late.csv", **given)
    with pytest.raises(ic.errors.SchemaError, match="too near to the ends of the calendar"):
        ic.publish(ic.read_tables(people, visits=late), ic.KAnonymity(5))
    key = ic.PseudonymKey(bytes(32))
    linked = ic.read_tables(people, visits=ic.read(tmp_path / "visits.csv", **given))
    split = ic.split_rows(ic.read(tmp_path / "flat.csv", quasi=["age", "sex"], **given), "visits")
    found = []
    for number, table in enumerate((linked, split)):
        release = ic.publish(table, ic.KAnonymity(5), pseudonym_key=key)
        release.save(tmp_path / f"out {number}")
        again = ic.Recipe.load(tmp_path / f"out {number}" / "recipe.toml").run()
        assert again.tables["visits"].columns == ["pid", "disease", "day"]
        found.append(release.tables["visits"])
    assert found[0].equals(found[1])
    true = Counter(zip(key.pseudonyms(visits["pid"]), visits["day"], strict=True))
    assert Counter(zip(found[0]["pid"], found[0]["day"], strict=True)) != true
    assert Counter(found[0]["pid"]) == Counter(who for who, _ in true.elements())


def test_a_linked_release_is_replaced_and_other_files_are_not(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    release = ic.publish(linked(tables), [ic.KAnonymity(5), ic.KmAnonymity(2)])
    release.save(tmp_path / "out")
    release.save(tmp_path / "out", force=True)
    (tmp_path / "out" / "notes.csv").write_text("mine")
    with pytest.raises(ic.errors.OutputError, match="holds other files besides"):
        release.save(tmp_path / "out", force=True)
    (tmp_path / "out" / "notes.csv").unlink()
    (tmp_path / "out" / "summary.json").write_text("[1")
    with pytest.raises(ic.errors.OutputError, match="holds other files besides"):
        release.save(tmp_path / "out", force=True)
