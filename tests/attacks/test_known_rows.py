"""What is kept of rows where people have several: as many are found as plain Python finds in the files."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.known_rows import KnownRows
from incrowd.core.risk import Risk
from tests.attacks.test_known_date import holds

pytestmark = pytest.mark.usefixtures("few_queries")

Row = Mapping[str, Any]


def visits(people: int = 60, *, most: int = 4, wards: int = 5, seed: int = 2) -> pl.DataFrame:
    """Return visits of people, with a ward and a price that are kept; some wards are missing."""
    dice = np.random.default_rng(seed)
    rows = [
        {
            "patient": f"P{person:03}",
            "age": int(20 + person // 3),
            "ill": str(dice.choice(["flu", "cold", "gout"])),
            "ward": None if dice.random() < 0.1 else f"W{dice.integers(wards)}",
            "price": float(dice.integers(1, 4)) / 2,
        }
        for person in range(people)
        for _ in range(dice.integers(1, most + 1))
    ]
    return pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=seed)


def publish(frame: pl.DataFrame, *, linked: bool, **options: Any) -> ic.Release:
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"], "person": "patient", "others": "keep"}
    table = ic.read(frame, **roles, pseudonyms=["patient"] if linked else [])
    return ic.publish(table, ic.KAnonymity(4), **options)


def spelled(row: Row, kept: Sequence[str]) -> tuple[str, ...]:
    return tuple("" if row[name] is None else str(row[name]).removesuffix(".0") for name in kept)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def naive(
    published: list[dict[str, str]], before: list[Row], kept: Sequence[str], *, linked: bool
) -> tuple[float, float, float, int]:
    """Return how often a person is found by all rows, by one row and by labels alone, and how many are alone."""
    of_person: dict[str, list[Row]] = defaultdict(list)
    for known in before:
        of_person[known["patient"]].append(known)
    every = one = without = 0.0
    alone = 0
    for rows in of_person.values():
        fitting = [row for row in published if holds(row["age"], rows[0]["age"])]
        own = Counter(spelled(row, kept) for row in rows)
        if linked:
            histories: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
            for row in fitting:
                histories[row["patient"]][spelled(row, kept)] += 1
            number = sum(history == own for history in histories.values())
            chance = 1 / number
            singles = {value: 1 / sum(value in history for history in histories.values()) for value in own}
            without += 1 / len(histories)
        else:
            shown = Counter(spelled(row, kept) for row in fitting)
            singles = {value: own[value] / shown[value] for value in own}
            chance = max(singles.values())
            without += len(rows) / len(fitting)
        every += chance
        alone += chance == 1
        one += sum(singles[value] * times for value, times in own.items()) / len(rows)
    people = len(of_person)
    return every / people, one / people, without / people, alone


def tried(release: ic.Release, **options: Any) -> Risk:
    (risk,) = ic.audit(release, remedies=False, attacks=[KnownRows()], learn=False, **options).attacks
    return risk


@pytest.mark.parametrize("linked", [True, False], ids=["linked", "apart"])
@pytest.mark.parametrize("kept", [["ward"], ["price", "ward"]], ids=["one column", "two columns"])
def test_as_many_are_found_as_plain_python_finds_in_the_files(linked: bool, kept: list[str], tmp_path: Path) -> None:
    frame = visits().select("patient", "age", "ill", *kept)
    release = publish(frame, linked=linked)
    release.save(tmp_path / "out", format="csv")
    frame.write_csv(tmp_path / "original.csv")
    every, one, without, alone = naive(read_csv(tmp_path / "out" / "data.csv"), frame.to_dicts(), kept, linked=linked)
    assert every > one > without
    opened = ic.open_release(tmp_path / "out", original=tmp_path / "original.csv")
    for risk in (tried(release), tried(opened), tried(opened, original=frame)):
        assert risk.value == pytest.approx(every)
        assert risk.baseline == pytest.approx(without)
        assert risk.details["one row known"] == pytest.approx(one)
        assert risk.details["alone"] == pytest.approx(alone / 60)
        assert risk.exposed == alone
        assert ", ".join(sorted(kept)) in risk.says
    assert "known-rows" in [risk.attack for risk in release.audit(remedies=False, learn=False).attacks]


def test_kept_columns_of_linked_tables_are_known_too(tmp_path: Path) -> None:
    frame = visits()
    members = frame.select("patient", "age").unique().sort("patient")
    events = frame.select("patient", "ill", "ward", "price")

    def tables() -> ic.LinkedTables:
        return ic.read_tables(
            ic.read(members, person="patient", quasi=["age"]),
            visits=ic.read(events, person="patient", sensitive=["ill"], others="keep"),
        )

    release = ic.publish(tables(), ic.KAnonymity(4))
    release.save(tmp_path / "out", format="csv")
    labels = {row["patient"]: row["age"] for row in read_csv(tmp_path / "out" / "data.csv")}
    rows = [{**row, "age": labels[row["patient"]]} for row in read_csv(tmp_path / "out" / "visits.csv")]
    every, one, _, alone = naive(rows, frame.to_dicts(), ["price", "ward"], linked=True)
    for found in (release, ic.open_release(tmp_path / "out", original=tables())):
        risk = tried(found)
        assert risk.value == pytest.approx(every)
        assert risk.details["one row known"] == pytest.approx(one)
        assert risk.exposed == alone
        assert "price, ward of visits" in risk.says


def test_it_is_tried_only_where_people_have_several_rows() -> None:
    frame = visits(most=1)
    release = publish(frame, linked=True)
    found = ic.audit(release, remedies=False, attacks=[KnownRows()], learn=False)
    assert [skipped.what for skipped in found.skipped if skipped.what == "known-rows"] == ["known-rows"]
    nothing_kept = publish(visits().drop("ward", "price"), linked=True)
    assert not ic.audit(nothing_kept, remedies=False, attacks=[KnownRows()], learn=False).attacks


def test_values_that_all_share_find_nobody() -> None:
    frame = visits().with_columns(ward=pl.lit("W"), price=pl.lit(1))
    risk = tried(publish(frame, linked=False))
    assert risk.value == pytest.approx(risk.baseline)


def test_the_order_of_rows_makes_no_difference() -> None:
    one, two = (tried(publish(each, linked=True, seed=1)) for each in (visits(), visits().reverse()))
    assert one == two
