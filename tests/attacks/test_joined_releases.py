"""Several releases about the same people: rows are joined by what links them, and labels of other schemes are read."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.auditing.audit import Audit
from incrowd.core.risk import Risk
from tests.cli.command import incrowd

pytestmark = pytest.mark.usefixtures("few_queries")

QUASI = ["age", "city"]
BY_AGE, BY_CITY = ic.Mondrian(weights={"city": 0}), ic.Mondrian(weights={"age": 0})
"""One release tells ages well, the other one cities."""
CITIES = ["Alta", "Bergen", "Lund", "Malmo", "Narvik", "Oslo"]


def people(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, rows)
    ill = np.where(rng.random(rows) < 0.5, age // 15, rng.integers(0, 6, rows))
    return pl.DataFrame(
        {
            "patient": [f"p{place}" for place in rng.permutation(rows)],
            "age": age,
            "city": rng.choice(CITIES, rows),
            "ill": [f"illness {code}" for code in ill],
        }
    )


def publish(frame: pl.DataFrame, method: Any, key: Any, **roles: Any) -> ic.Release:
    table = ic.read(frame, **{"quasi": QUASI, "sensitive": ["ill"], "pseudonyms": ["patient"], **roles})
    return ic.publish(table, [ic.KAnonymity(5)], method=method, seed=0, pseudonym_key=key)


def risk(audit: Audit, name: str) -> Risk:
    return next(found for found in audit.attacks if found.attack == name)


def holds(label: str, value: object) -> bool:
    if label in ("*", str(value)):
        return True
    if label.startswith("{"):
        return str(value) in label[1:-1].split(", ")
    bounds = re.fullmatch(r"(?:\[(\d+), (\d+)\)|<(\d+)|>=(\d+))", label)
    if bounds is None:
        return False
    low, high = bounds[1] or bounds[4] or "0", bounds[2] or bounds[3] or "1000"
    return int(low) <= int(str(value)) < int(high)


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def naive_join(one: Path, two: Path, frame: pl.DataFrame, owner: dict[str, str]) -> tuple[float, float]:
    """Join two files on the pseudonym, in plain Python. Return how often a row that fits by both labels is the person's
    own, and how often the most frequent value of those that fit is. `owner` tells whose a pseudonym is.
    """
    other = {row["patient"]: row for row in read_rows(two)}
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in read_rows(one):
        beside = other.get(row["patient"], dict.fromkeys(QUASI, "*"))
        groups[(*(row[name] for name in QUASI), *(beside[name] for name in QUASI))].append(row)
    links = guesses = 0.0
    for person in frame.to_dicts():
        values = [person[name] for name in QUASI] * 2
        fitting = {labels: rows for labels, rows in groups.items() if all(map(holds, labels, values))}
        rows = [row for rows in fitting.values() for row in rows]
        links += any(owner[row["patient"]] == person["patient"] for row in rows) / max(len(rows), 1)
        counts = Counter(row["ill"] for row in rows)
        best = [value for value, number in counts.items() if number == max(counts.values())]
        guesses += (person["ill"] in best) / max(len(best), 1)
    return links / frame.height, guesses / frame.height


def test_stable_pseudonyms_join_releases(tmp_path: Path) -> None:
    key, frame = ic.PseudonymKey.new(), people()
    one, two = publish(frame, BY_AGE, key), publish(frame, BY_CITY, key)
    one.save(tmp_path / "one", format="csv")
    two.save(tmp_path / "two", format="csv")
    pseudonyms = key.pseudonyms(frame["patient"])
    owner = dict(zip(pseudonyms.to_list(), frame["patient"].to_list(), strict=True))
    links, guesses = naive_join(tmp_path / "one" / "data.csv", tmp_path / "two" / "data.csv", frame, owner)
    alone = one.audit(remedies=False, learn=False)
    assert links > 1.5 * risk(alone, "linkage").value
    opened = [ic.open_release(tmp_path / name, original=frame) for name in ("one", "two")]
    for found in (
        one.audit(remedies=False, earlier=[two], learn=False),
        opened[0].audit(remedies=False, earlier=[opened[1]], learn=False),
    ):
        linkage, composed = risk(found, "linkage"), risk(found, "composition")
        assert linkage.value >= links - 0.005
        assert linkage.says.endswith("Joined with other releases by: patient.")
        assert composed.value >= guesses - 0.005
        assert composed.value > composed.baseline


def test_other_keys_join_nothing(tmp_path: Path) -> None:
    frame = people()
    one = publish(frame, ic.Mondrian(), ic.PseudonymKey.new())
    two = publish(frame, ic.KMember(), ic.PseudonymKey.new())
    found = one.audit(remedies=False, earlier=[two], learn=False)
    assert risk(found, "linkage").value == risk(one.audit(remedies=False, learn=False), "linkage").value
    assert "joined" not in risk(found, "composition").says


def test_kept_columns_join_releases() -> None:
    frame = people().rename({"patient": "file"})
    roles = {"pseudonyms": [], "keep": ["file"]}
    original = frame.drop("file")  # nobody else has the number of the file, and yet it links
    one, two = publish(frame, BY_AGE, None, **roles), publish(frame, BY_CITY, None, **roles)
    joined = one.audit(remedies=False, original=original, earlier=[two], learn=False)
    alone = one.audit(remedies=False, original=original, learn=False)
    assert risk(joined, "linkage").value > 1.5 * risk(alone, "linkage").value
    assert risk(joined, "linkage").says.endswith("Joined with other releases by: file.")


def test_releases_with_new_categories_and_other_schemes_are_composed(tmp_path: Path) -> None:
    """A later release has towns and ages that the first table lacks, and other groups of towns."""
    first = people().drop("patient")
    more = pl.DataFrame({"age": [85, 90, 95] * 10, "city": ["Visby"] * 30, "ill": ["new illness", "illness 1"] * 15})
    second = pl.concat([first, more.select(first.columns)])
    towns = ic.Categories.from_tree(
        {"north": ["Alta", "Narvik"], "south": ["Bergen", "Lund", "Malmo", "Oslo", "Visby"]}
    )
    roles: dict[str, Any] = {"pseudonyms": [], "sensitive": ["ill"]}
    one = publish(first, ic.Mondrian(), None, **roles)
    two = publish(second, ic.Mondrian(labels="hierarchy"), None, hierarchies={"city": towns}, **roles)
    first.write_csv(tmp_path / "first.csv")
    one.save(tmp_path / "one", format="csv")
    two.save(tmp_path / "two", format="csv")
    done = incrowd(
        "attack", str(tmp_path / "one"), "--original", str(tmp_path / "first.csv"), "--earlier", str(tmp_path / "two"),
        "--with", "composition", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    memory = risk(one.audit(remedies=False, earlier=[two], learn=False), "composition")
    assert memory.value > 0
    assert str(round(memory.value, 6))[:6] in done.out


@pytest.mark.parametrize("rows", [1, 5])
def test_few_rows(rows: int) -> None:
    key, frame = ic.PseudonymKey.new(), people(6)[:rows]
    table = ic.read(frame, quasi=QUASI, sensitive=["ill"], pseudonyms=["patient"])
    one, two = (ic.publish(table, [ic.KAnonymity(1)], seed=seed, pseudonym_key=key) for seed in (0, 1))
    assert risk(one.audit(remedies=False, earlier=[two], learn=False), "linkage").value > 0
