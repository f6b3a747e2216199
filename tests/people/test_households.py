"""k over households, held against plain counting: from saved files, in which a sensitive number tells who is who."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import SchemaError, Unsatisfiable
from tests.people.tables import METHODS

pytestmark = pytest.mark.usefixtures("few_queries")


def families(seed: int, *, households: int = 60, rows_each: int = 1, most: int = 6) -> pl.DataFrame:
    """Return people in households who live in one place; `secret` is a number of each row."""
    chance = random.Random(seed)
    rows: list[dict[str, object]] = []
    person = 0
    for household in range(households):
        place, age = chance.choice(["Oslo", "Rome", "Bern"]), chance.randint(20, 60)
        for _ in range(chance.randint(1, most)):
            person += 1
            for _ in range(chance.randint(1, rows_each)):
                rows.append(
                    {"pid": person, "hid": f"h{household}", "age": age, "city": place, "ill": chance.choice("abc")}
                )
    chance.shuffle(rows)
    return pl.DataFrame(rows).with_row_index("secret")


def households_behind(published: pl.DataFrame, before: pl.DataFrame) -> list[int]:
    """Return how many households have somebody in each group of a published table, counted row by row."""
    lives = dict(zip(before["secret"], before["hid"], strict=True))
    found = defaultdict(set)
    for row in published.iter_rows(named=True):
        found[row["age"], row["city"]].add(lives[int(row["secret"])])
    return [len(one) for one in found.values()]


@pytest.mark.parametrize("made", METHODS)
@pytest.mark.parametrize("rows_each", [1, 3])
def test_every_group_has_people_of_k_households(made: Callable[[], Any], rows_each: int, tmp_path: Path) -> None:
    before = families(1, rows_each=rows_each)
    table = ic.read(before, person="pid", household="hid", quasi=["age", "city"], sensitive=["secret"], drop=["ill"])
    release = ic.publish(table, ic.KAnonymity(3), method=made(), seed=1)
    ours = next(one for one in release.guarantees if one.model == ic.HouseholdAnonymity(3))
    release.save(tmp_path / "out", format="csv")
    published = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    behind = households_behind(published, before)
    assert min(behind) == ours.achieved >= 3
    assert "hid" not in published.columns
    if made is METHODS[0]:  # what files tell of households is the same, whoever made them
        again = ic.open_release(tmp_path / "out")
        assert not [one for one in again.guarantees if one.model == ic.HouseholdAnonymity(3)]
        assert any("3-anonymity of households" in text and "alone" in text for text in again.warnings)


def test_people_alone_are_not_households() -> None:
    """Without households, the same people hide among their own family."""
    before = families(2, most=9)
    columns = {"quasi": ["age", "city"], "sensitive": ["secret"], "drop": ["ill"]}
    release = ic.publish(ic.read(before, person="pid", identifiers=["hid"], **columns), ic.KAnonymity(3), seed=1)
    assert min(households_behind(release.to_polars(), before)) == 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([(), "pid"]), st.integers(0, len(METHODS) - 1))
def test_on_tables_by_chance(seed: int, k: int, person: Any, method: int) -> None:
    before = families(seed, households=random.Random(seed).randint(1, 25))
    columns = {"quasi": ["age", "city"], "sensitive": ["secret"], "drop": ["ill"] if person else ["ill", "pid"]}
    table = ic.read(before, person=person, household="hid", **columns)
    try:
        release = ic.publish(table, ic.KAnonymity(k), method=METHODS[method](), seed=seed)
    except Unsatisfiable:
        if not isinstance(METHODS[method](), ic.FullDomain | ic.LocalRecoding):
            assert before["hid"].n_unique() < k
        return
    behind = households_behind(release.to_polars(), before)
    assert min(behind, default=k) >= k
    reached = next(one.achieved for one in release.guarantees if one.model == ic.HouseholdAnonymity(k))
    assert reached == min(behind, default=math.inf)


def test_one_family_hides_nobody() -> None:
    one = pl.DataFrame({"hid": ["h"] * 9, "age": [30] * 9})
    with pytest.raises(Unsatisfiable):
        ic.publish(ic.read(one, household="hid", quasi=["age"]), ic.KAnonymity(2))
    assert ic.publish(ic.read(one, household="hid", quasi=["age"]), ic.KAnonymity(1)).rows == 9


def test_models_of_values_do_not_look_at_households() -> None:
    before = families(3)
    columns = {"quasi": ["age", "city"], "sensitive": ["ill"], "drop": ["secret"]}
    table = ic.read(before, person="pid", household="hid", **columns)
    release = ic.publish(table, [ic.KAnonymity(3), ic.LDiversity(2), ic.TCloseness(0.4), ic.FullKAnonymity(1)], seed=1)
    told = {str(one.model): one.achieved for one in release.guarantees}
    found = ic.check(release.to_polars(), quasi=["age", "city"], sensitive=["ill"])
    assert told["distinct 2-diversity"] == found.sensitive["ill"].distinct_l
    assert list(found.sensitive) == ["ill"]
    audit = release.audit(remedies=False, learn=False)
    assert {risk.column for risk in audit.attacks} <= {None, "ill"}


def test_a_recipe_tells_households(tmp_path: Path) -> None:
    before = families(4)
    members = before.with_columns(member=pl.int_range(pl.len()).over("hid")).drop("pid")
    table = ic.read(
        members, person=["hid", "member"], household="hid", quasi=["age", "city"], sensitive=["secret"], drop=["ill"]
    )
    release = ic.publish(table, ic.AlphaKAnonymity(0.9, 3), seed=5)
    members.write_csv(tmp_path / "members.csv")
    ic.publish(
        ic.read(
            tmp_path / "members.csv",
            person=["hid", "member"],
            household="hid",
            quasi=["age", "city"],
            sensitive=["secret"],
            drop=["ill"],
        ),
        ic.AlphaKAnonymity(0.9, 3),
        seed=5,
    ).save_recipe(tmp_path / "again.toml")
    recipe = ic.Recipe.load(tmp_path / "again.toml")
    assert recipe.roles["hid"] == "person-household"
    assert recipe.table().schema.household == ("hid",)
    again = recipe.run()
    assert sorted(map(str, again.guarantees)) == sorted(map(str, release.guarantees))


def test_rows_that_are_looked_up_again(tmp_path: Path) -> None:
    before = families(5, rows_each=3)
    table = ic.read(before, person="pid", household="hid", quasi=["age", "city"], sensitive=["secret"], keep=["ill"])
    release = ic.publish(table, ic.KAnonymity(4), seed=2)
    release.save(tmp_path / "out", format="csv")
    published = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    assert min(households_behind(published, before)) >= 4
    truth = {str(row["secret"]): row["ill"] for row in before.iter_rows(named=True)}
    assert all(truth[row["secret"]] == row["ill"] for row in published.iter_rows(named=True))


def test_linked_tables_and_sets_count_households() -> None:
    before = families(6, most=8)
    people = before.select("pid", "hid", "age", "city").unique()
    events = before.select("pid", "ill", "secret")
    linked = ic.read_tables(
        ic.read(people, person="pid", household="hid", quasi=["age", "city"]),
        visits=ic.read(events, person="pid", sensitive=["ill"], keep=["secret"]),
    )
    release = ic.publish(linked, ic.KAnonymity(4), seed=1)
    labels = release.to_polars().join(release.tables["visits"], on="pid")
    assert min(households_behind(labels, before)) >= 4
    sets = people.with_columns(bought=pl.lit("bread;milk"), secret=pl.int_range(pl.len()))
    table = ic.read(sets, household="hid", quasi=["age", "city"], sensitive=["secret"], items=["bought"], drop=["pid"])
    release = ic.publish(table, [ic.KAnonymity(4), ic.KmAnonymity(2, m=1)], seed=1)
    assert min(households_behind(release.to_polars(), sets)) >= 4


def test_a_flat_table_is_split_with_its_households() -> None:
    before = families(8, rows_each=3)
    table = ic.read(before, person="pid", household="hid", quasi=["age", "city"], sensitive=["ill"], keep=["secret"])
    release = ic.publish(ic.split_rows(table, "visits"), ic.KAnonymity(4), seed=1)
    labels = release.to_polars().join(release.tables["visits"], on="pid")
    assert min(households_behind(labels, before)) >= 4
    moved = before.with_columns(hid=pl.col("secret").cast(pl.String))
    with pytest.raises(SchemaError, match="one household"):
        ic.split_rows(ic.read(moved, person="pid", household="hid", quasi=["age", "city"], others="keep"), "visits")


def naive_households(table: pl.DataFrame) -> int:
    """Return, of the worst household, how many have members in all groups that it has members in."""
    groups = defaultdict(set)
    for row in table.iter_rows(named=True):
        groups[row["hid"]].add((row["age"], row["city"]))
    return min(sum(own <= other for other in groups.values()) for own in groups.values())


def test_check_counts_households_that_a_table_shows() -> None:
    for seed in range(20):
        table = families(seed, households=12).with_columns(pl.col("age") // 40)
        found = ic.check(
            table, quasi=["age", "city"], person="pid", household="hid", require=[ic.HouseholdAnonymity(2)]
        )
        assert found.households == naive_households(table)
        assert found.models[0].satisfied == (naive_households(table) >= 2)
        assert found.models[0].achieved == naive_households(table)


def test_check_of_a_table_without_households_refuses() -> None:
    with pytest.raises(SchemaError, match="lives together"):
        ic.check(families(1), quasi=["age"], require=[ic.HouseholdAnonymity(2)])


def naive_attack(release: ic.Release, before: pl.DataFrame) -> tuple[float, float]:
    """Return how often one of a household is found, and one person: every label is looked up by hand."""
    rows = release.to_polars().to_dicts()
    chance_of = []
    for person in before.iter_rows(named=True):
        fits = sum(_holds(row["age"], person["age"]) and _holds(row["city"], person["city"]) for row in rows)
        chance_of.append((person["hid"], 1 / fits if fits else 0.0))
    unfound: dict[str, float] = defaultdict(lambda: 1.0)
    for household, found in chance_of:
        unfound[household] *= 1 - found
    return (
        sum(1 - unfound[household] for household, _ in chance_of) / len(chance_of),
        sum(found for _, found in chance_of) / len(chance_of),
    )


def _holds(label: str, value: object) -> bool:
    if label == "*":
        return True
    if label.startswith("["):
        low, high = label.strip("[)]").split(", ")
        return float(low) <= float(str(value)) < float(high)
    if label.startswith(("<", "≥", ">")):
        number = float(label.lstrip("<≥> ="))
        return float(str(value)) < number if label.startswith("<") else float(str(value)) >= number
    return str(value) in label.strip("{}").split(", ")


def test_one_member_gives_away_the_others(tmp_path: Path) -> None:
    before = families(7, households=80)
    columns = {"quasi": ["age", "city"], "sensitive": ["ill"], "drop": ["secret"]}
    table = ic.read(before, person="pid", household="hid", **columns)
    release = ic.publish(table, ic.KAnonymity(3), seed=1)
    risk = next(one for one in release.audit(remedies=False, learn=False).attacks if one.attack == "household")
    together, alone = naive_attack(release, before)
    assert risk.value == pytest.approx(together)
    assert risk.baseline == pytest.approx(alone)
    assert risk.value > 1.5 * risk.baseline
    release.save(tmp_path / "out", format="csv")
    before.write_csv(tmp_path / "before.csv")
    opened = ic.open_release(tmp_path / "out", original=tmp_path / "before.csv")
    again = next(one for one in opened.audit(remedies=False, learn=False).attacks if one.attack == "household")
    assert again.value == pytest.approx(together)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pseudonyms": ["hid"]}, "tie its members"),
        ({"person": "hid"}, "about households"),
        ({"quasi": ["age", "hid"]}, "named twice"),
        ({"person": (), "identifiers": ["pid"], "keep": ["secret"], "drop": []}, "person="),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, Any], said: str) -> None:
    given = {"person": "pid", "quasi": ["age", "city"], "sensitive": ["ill"], "drop": ["secret"], **changed}
    with pytest.raises(SchemaError, match=said):
        ic.publish(ic.read(families(1), household="hid", others="drop", **given), ic.KAnonymity(2))


def test_what_cannot_be_promised_is_refused() -> None:
    before = families(1).drop("secret")
    table = ic.read(before, person="pid", household="hid", quasi=["age", "city"], sensitive=["ill"])
    for method in (ic.Anatomy(), ic.Slicing(), ic.FlatHistogram(1, most_rows=1)):
        with pytest.raises(SchemaError, match="household"):
            ic.publish(table, ic.KAnonymity(2) if not method.private else (), method=method)
    with pytest.raises(SchemaError, match="lives together"):
        ic.publish(ic.read(before, person="pid", quasi=["age"], others="drop"), ic.HouseholdAnonymity(2))
    lacking = before.with_columns(hid=pl.when(pl.col("pid") > 5).then("hid"))
    with pytest.raises(SchemaError, match="no value there"):
        ic.publish(
            ic.read(lacking, person="pid", household="hid", quasi=["age", "city"], sensitive=["ill"]), ic.KAnonymity(2)
        )
    moved = pl.concat([before, before.head(1).with_columns(hid=pl.lit("elsewhere"))])
    with pytest.raises(SchemaError, match="several households"):
        ic.publish(
            ic.read(moved, person="pid", household="hid", quasi=["age", "city"], sensitive=["ill"]), ic.KAnonymity(2)
        )


def test_columns_beside_the_labels_change_nothing_for_the_neighbour(tmp_path: Path) -> None:
    before = families(7, households=40)
    roles: dict[str, Any] = {"person": "pid", "household": "hid", "quasi": ["age", "city"], "sensitive": ["ill"]}
    kept = ic.publish(ic.read(before, keep=["secret"], **roles), ic.KAnonymity(3), seed=1)
    alone = ic.publish(ic.read(before, drop=["secret"], **roles), ic.KAnonymity(3), seed=1)
    kept.save(tmp_path / "out", format="csv")
    again = ic.open_release(tmp_path / "out", original=before)
    found = [
        next(one for one in release.audit(remedies=False, learn=False).attacks if one.attack == "household")
        for release in (alone, kept, again)
    ]
    assert found[0].value == found[1].value == pytest.approx(found[2].value)
