"""A hospital year: four quarters, people who stay, come, go and change; three recipes and a private release in each.

A naive adversary, who has the saved files of all recorded releases and the true tables but for the sensitive values,
decides what tells too much. The ledger refuses exactly that.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import BudgetSpent, UnsafeTogether
from incrowd.ledger import Ledger
from tests.ledger.naive_adversary import Shown, beliefs
from tests.ledger.quarters import quarters

pytestmark = pytest.mark.usefixtures("few_questions")

WARD = {"person": "pid", "quasi": ["age", "zip"], "sensitive": ["illness"]}
STUDY = {"person": "pid", "pseudonyms": ["pid"], "quasi": ["age"], "sensitive": ["illness"], "drop": ["zip"]}
PRIVATE = {
    "quasi": ["age"],
    "others": "drop",
    "hierarchies": {"age": ic.Intervals(widths=(10, 50), lower=0, upper=100)},
}


@dataclass(eq=False)
class Seen:
    """A release as the adversary reads it: everybody's group and value, and whether its rows can be followed."""

    group_of: dict[int, Hashable]
    value_of: dict[int, str]
    fakes: dict[Hashable, list[str]]
    followed: bool


def fits(label: str, value: int) -> bool:
    """Read a label of numbers."""
    if match := re.fullmatch(r"\[(\d+), (\d+)\)", label):
        return int(match[1]) <= value < int(match[2])
    if label.startswith(">="):
        return value >= int(label[2:])
    if label.startswith("<"):
        return value < int(label[1:])
    return label == "*" or label == str(value)


def read_labels(place: Path, table: pl.DataFrame, columns: list[str], *, followed: bool) -> Seen:
    rows = pl.read_csv(place / "data.csv", infer_schema=False)
    groups = rows.select(columns).unique().rows()
    group_of, value_of = {}, {}
    for person in table.to_dicts():
        (own,) = (group for group in groups if all(map(fits, group, (person[name] for name in columns))))
        group_of[person["pid"]], value_of[person["pid"]] = own, person["illness"]
    shown = Counter(zip(map(tuple, rows.select(columns).rows()), rows["illness"], strict=True))
    assert shown == Counter((group_of[pid], value_of[pid]) for pid in group_of)  # the files show just that
    return Seen(group_of, value_of, {}, followed)


def read_buckets(place: Path, table: pl.DataFrame) -> Seen:
    rows = pl.read_csv(place / "data.csv").to_dicts()
    bucket_of = {(row["age"], row["zip"]): row["bucket"] for row in rows}
    known = {row["pid"]: row for row in table.to_dicts() if (row["age"], row["zip"]) in bucket_of}
    group_of = {pid: bucket_of[row["age"], row["zip"]] for pid, row in known.items()}
    value_of = {pid: row["illness"] for pid, row in known.items()}
    shown: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for row in pl.read_csv(place / "sensitive.csv").to_dicts():
        shown[row["bucket"]][row["illness"]] += row["count"]
    for pid, bucket in group_of.items():
        shown[bucket][value_of[pid]] -= 1
    fakes = {bucket: list(rest.elements()) for bucket, rest in shown.items() if rest.total()}
    return Seen(group_of, value_of, fakes, False)


def joined(releases: list[Seen]) -> Shown:
    """Return releases whose rows can be followed as one, of people with one of their values each."""
    people = {pid for seen in releases for pid in seen.group_of}
    vector = {pid: tuple(seen.group_of.get(pid) for seen in releases) for pid in people}
    values = {(pid, seen.value_of[pid]) for seen in releases for pid in seen.group_of}
    fakes = {(group,): values for group, values in releases[0].fakes.items()}
    return Shown({(pid, value): (value, vector[pid]) for pid, value in values}, fakes)


@cache
def told(releases: tuple[Seen, ...]) -> dict[tuple[int, str], dict[str, float]]:
    """Return what is believed of everybody: rows that can be followed are joined, all others compared by counts."""
    followed = [seen for seen in releases if seen.followed]
    kinds = [[seen] if not seen.followed else followed for seen in releases]  # in the order of their first releases
    shown = [joined(kind) for at, kind in enumerate(kinds) if all(kind is not one for one in kinds[:at])]
    return {unit: shares for (unit, _), shares in beliefs(shown).items()}


def too_few(shares: dict[str, float], l: int, most: float) -> bool:
    return len(shares) < l or max(shares.values()) > most + 1e-4


def broken(earlier: list[Seen], new: Seen, *, k: int, l: int, most: float = 1.0) -> set[int]:
    """Return of whom too much is told with the new release."""
    found = set()
    if new.followed:
        rows = [seen for seen in (*earlier, new) if seen.followed]
        if len(rows) > 1:
            people = {pid for seen in rows for pid in seen.group_of}
            vector = {pid: tuple(seen.group_of.get(pid) for seen in rows) for pid in people}
            sizes = Counter(vector.values())
            found |= {pid for pid in people if sizes[vector[pid]] < k}
            for seen in rows:
                values = defaultdict(Counter)
                for pid in seen.group_of:
                    values[vector[pid]][seen.value_of[pid]] += 1
                for pid in seen.group_of:
                    own = values[vector[pid]]
                    if too_few({value: count / own.total() for value, count in own.items()}, l, most):
                        found.add(pid)
    if earlier:
        before, after = told(tuple(earlier)), told((*earlier, new))
        failed = {pid for (pid, _), shares in before.items() if too_few(shares, l, most)}
        failing = {pid for (pid, _), shares in after.items() if too_few(shares, l, most)}
        several = sum(not seen.followed for seen in (*earlier, new)) + any(s.followed for s in (*earlier, new)) > 1
        if several:
            found |= {pid for pid in failing if pid in new.group_of or pid not in failed}
    return found


@pytest.mark.parametrize("recipes", [("ward", "study", "invariant"), ("invariant", "study", "ward")])
def test_the_ledger_refuses_exactly_what_the_adversary_breaks(tmp_path: Path, recipes: tuple[str, ...]) -> None:
    tables = quarters(90, 4, turnover=0.1, changes=0.03, seed=len(recipes[0]))
    ledger = Ledger.create(tmp_path / "book", cap="0.7", people=True)
    key = ic.PseudonymKey.new()
    recorded: list[Seen] = []
    outcomes = []
    for number, table in enumerate(tables):
        for recipe in recipes:
            place = tmp_path / f"{number}-{recipe}"
            models = {"k": 20, "l": 2} if recipe != "invariant" else {"k": 1, "l": 2, "most": 1 / 2}
            require = [ic.KAnonymity(models["k"]), ic.LDiversity(models["l"])] if recipe != "invariant" else []
            method = None if recipe != "invariant" else ic.MInvariance(2)
            opened = ic.read(table, **(STUDY if recipe == "study" else WARD))
            options = {"seed": number, "pseudonym_key": key}
            # What would be published is published elsewhere, where the adversary looks at its files.
            alike = method if method is None else ic.MInvariance(2, known=ledger.memory()[0])
            ic.publish(opened, require, method=alike, **options).save(place, format="csv")
            if recipe == "invariant":
                seen = read_buckets(place, table)
            else:
                seen = read_labels(place, table, opened.schema.written_quasi, followed=recipe == "study")
            affected = broken(recorded, seen, **models)
            asked = {"require": require, "method": method, "ledger": ledger, **options}
            outcomes.append((recipe, not affected))
            if affected:
                with pytest.raises(UnsafeTogether) as refused:
                    ic.publish(opened, **asked)
                assert refused.value.affected == len(affected), (number, recipe)
            else:
                ic.publish(opened, **asked).save(tmp_path / "kept" / place.name)
                recorded.append(seen)
        private = ic.read(table, **PRIVATE)
        if number < 3:
            ic.publish(private, method=ic.DiffGen(epsilon="0.2"), ledger=ledger)
        else:
            with pytest.raises(BudgetSpent):
                ic.publish(private, method=ic.DiffGen(epsilon="0.2"), ledger=ledger)
    assert ledger.verify(sorted((tmp_path / "kept").iterdir())) == []
    assert len(ledger.memory()[1]) == len(recorded)
    assert {safe for _, safe in outcomes} == {True, False}
