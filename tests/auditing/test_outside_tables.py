"""Outside tables as they are: no value is moved or left out, and who is in a register is looked up."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.audit import Audit
from incrowd.core.risk import Risk
from incrowd.hierarchies.coding import exact_codes
from tests.auditing.audit_cases import write

pytestmark = pytest.mark.usefixtures("few_queries")

QUASI = ["age", "town"]


def risk(audit: Audit, name: str) -> Risk:
    return next(found for found in audit.attacks if found.attack == name)


def people(rows: int = 300, *, seed: int = 2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": 2 * rng.integers(10, 40, rows),  # even ages only
            "town": rng.choice(["Aa", "Bee", "Cee"], rows),
            "ill": rng.choice(["flu", "gout", "HIV"], rows),
        }
    )


def holds(label: str, value: object) -> bool:
    """Tell whether a label of the file stands for a value, in plain Python."""
    if label in ("*", str(value)):
        return True
    if label.startswith("{"):
        return str(value) in label[1:-1].split(", ")
    bounds = re.fullmatch(r"(?:\[(\d+), (\d+)\)|<(\d+)|>=(\d+))", label)
    if bounds is None:
        return False
    low, high = bounds[1] or bounds[4] or "0", bounds[2] or bounds[3] or "1000"
    return int(low) <= int(str(value)) < int(high)


def naive_register(path: Path, register: pl.DataFrame, *, table: pl.DataFrame | None = None) -> float:
    """Give each row a name of those who fit; right where the row's person can be in the register."""
    with path.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    named = register.select(QUASI).rows()
    groups: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = tuple(row[name] for name in QUASI)
        groups[key] = groups.get(key, 0) + 1
    success = 0.0
    for labels, size in groups.items():
        fitting = [person for person in named if all(map(holds, labels, person))]
        there = float(size)
        if table is not None:
            inside = [person for person in table.select(QUASI).rows() if all(map(holds, labels, person))]
            there = min(size, sum(min(inside.count(one), fitting.count(one)) for one in set(inside)))
        success += there / len(fitting) if fitting else 0.0
    return success / len(rows)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved") / "out"
    table = ic.read(people(), quasi=QUASI, sensitive=["ill"])
    ic.publish(table, [ic.KAnonymity(5)], seed=0).save(place, format="csv")
    return place


def linked(release: ic.Release, register: pl.DataFrame) -> Risk:
    """Try one attack alone."""
    (found,) = ic.audit(release, attacks=[ic.ExternalLinkage()], external=register, remedies=False, learn=False).attacks
    return found


def strangers(number: int = 400) -> pl.DataFrame:
    """Return people of odd ages and of towns that the table has not, beyond its youngest and oldest, too."""
    rng = np.random.default_rng(9)
    return pl.DataFrame(
        {"age": 2 * rng.integers(2, 60, number) + 1, "town": rng.choice(["Aa", "Bee", "Cee", "Dee"], number)}
    )


def test_values_that_the_table_lacks_stay_what_they_are(saved: Path) -> None:
    register = pl.concat([people().drop("ill"), strangers()])
    for opened in (ic.open_release(saved, original=people()), ic.open_release(saved, external=register)):
        known = opened.table_before is not None
        found = linked(opened, register)
        naive = naive_register(saved / "data.csv", register, table=people() if known else None)
        assert found.value == pytest.approx(naive)
        assert ("assumes" in found.says) is not known


def test_whether_people_are_in_the_register_is_looked_up(saved: Path) -> None:
    """Ten in a hundred are in it, with others of the same kind: no more can get their own name."""
    opened, frame = ic.open_release(saved, original=people()), people()
    register = frame.drop("ill")[::10]
    found = risk(opened.audit(remedies=False, external=register, learn=False), "external-linkage")
    assert found.details["rows whose person is in it, at most"] == pytest.approx(0.1)
    assert found.value <= 0.1
    assert found.value == pytest.approx(naive_register(saved / "data.csv", register, table=frame))
    without = linked(ic.open_release(saved, external=register), register)
    assert without.value > 2 * found.value
    assert "assumes that everybody who is published is in the external table" in without.says
    nobody = strangers().filter(pl.col("town") == "Dee")
    assert linked(opened, nobody).value == 0


def test_outsiders_with_names_that_the_table_lacks_are_told_from_members(saved: Path) -> None:
    opened = ic.open_release(saved, original=people())
    elsewhere = strangers().with_columns(town=pl.lit("Eff"))
    found = risk(opened.audit(remedies=False, external=elsewhere, learn=False), "membership")
    assert found.people > 0
    assert found.value == 1
    assert found.details["outsiders who fit"] == 0


def test_outsiders_of_a_sliced_table_may_have_any_value() -> None:
    release = ic.publish(
        ic.read(people(), quasi=QUASI, sensitive=["ill"]), ic.ProbabilisticLDiversity(2), method=ic.Anatomy(), seed=0
    )
    found = risk(release.audit(remedies=False, external=strangers(), learn=False), "membership")
    assert found.details["outsiders who fit"] == 0


def test_words_in_a_column_of_numbers_are_left_out_and_told(saved: Path) -> None:
    register = pl.DataFrame({"age": ["30", "old"] * 10, "town": ["Aa"] * 20})
    opened = ic.open_release(saved, original=people())
    found = opened.audit(remedies=False, external=register, learn=False)
    assert "10 people of the external table have values that its columns cannot hold: left out." in found.warnings
    numbers = linked(opened, register.filter(pl.col("age") == "30"))
    assert risk(found, "external-linkage").value == numbers.value > 0


@pytest.mark.parametrize(
    ("label", "share"), [("[0, 200)", 0.0), ("[18, 200)", 0.5), ("[18, 90]", 1.0), ("18-90", 1.0), ("*", 0.0)]
)
def test_ends_of_ranges_are_those_of_the_text(label: str, share: float, tmp_path: Path) -> None:
    ages = [18, *([50] * 98), 90]
    pl.DataFrame({"age": [label] * 100, "ill": ["flu", "gout"] * 50}).write_csv(tmp_path / "published.csv")
    pl.DataFrame({"age": ages, "ill": ["flu", "gout"] * 50}).write_csv(tmp_path / "original.csv")
    description = write(tmp_path / "description.toml", '[columns]\nage = "quasi"\nill = "sensitive"\n')
    found = ic.open_release(
        tmp_path / "published.csv", description=description, original=tmp_path / "original.csv"
    ).audit(remedies=False, learn=False)
    assert risk(found, "extreme-values").value == pytest.approx(share)


def test_codes_are_those_of_equal_values_only() -> None:
    table = ic.read(people(), quasi=QUASI, sensitive=["ill"])
    tree = table.engine.count(table.schema, None).tally.trees["age"]
    first = tree.values.to_list().index(20)
    asked = pl.Series(["20", "21", "20.0", None, "", "x", "1000", "-3"])
    assert exact_codes(tree, asked).tolist() == [first, -1, first, 0, 0, -1, -1, -1]
    assert exact_codes(tree, pl.Series([20, 21, None])).tolist() == [first, -1, 0]
    assert exact_codes(tree, pl.Series([20.0, 20.5])).tolist() == [first, -1]
    assert exact_codes(tree, pl.Series([], dtype=pl.Int64)).tolist() == []
    assert exact_codes(tree, pl.Series([None, None])).tolist() == [0, 0]


def test_the_original_may_come_when_the_release_is_open_already(tmp_path: Path) -> None:
    """Numbers without a hierarchy stand for what the table has: it is all the same when that is given."""
    people = ic.datasets.census(400, seed=5)
    people.write_csv(tmp_path / "people.csv")
    table = ic.read(tmp_path / "people.csv", quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    ic.publish(table, ic.KAnonymity(5), seed=1).save(tmp_path / "out")
    for original in (tmp_path / "people.csv", people):
        now = ic.open_release(tmp_path / "out", original=original).audit(learn=False, remedies=False)
        later = ic.audit(ic.open_release(tmp_path / "out"), original=original, learn=False, remedies=False)
        assert later.to_dict() == now.to_dict()
        assert later.settings["original"] == "known"
