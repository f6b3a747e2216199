"""One true date of a person: how many histories are left, held against plain Python over the rows."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.known_date import KnownDate, candidates
from incrowd.auditing.run import aim
from incrowd.dates.column import DateColumn
from tests.cli.command import incrowd
from tests.dates.visits import Row, published, read, unit_name, visits

pytestmark = pytest.mark.usefixtures("few_queries")


@cache
def holds(label: str, age: int) -> bool:
    if found := re.fullmatch(r"\[(\d+), (\d+)\)", label):
        return int(found[1]) <= age < int(found[2])
    return {"<": lambda: age < int(label[1:]), ">": lambda: age >= int(label[2:])}.get(
        label[0], lambda: label == "*" or age == int(label)
    )()


@cache
def width(label: str) -> int:
    return sum(holds(label, age) for age in range(15, 90))


@cache
def could_be(true: date, shown: Any, treatment: Any) -> bool:
    """Whether a published date could be of an event of a day, as the treatment is known."""
    if isinstance(treatment, ic.TruncateDates):
        return str(shown) == unit_name(true, treatment.to)
    if isinstance(treatment, ic.DatesSinceFirst):
        return True
    return str(shown) in may_show(true, treatment.most_days, treatment.to or "day")


@cache
def may_show(true: date, most_days: int, unit: str) -> set[str]:
    """What a day may be shown as that is shifted by so many days."""
    return {unit_name(true + timedelta(days=by), unit) for by in range(-most_days, most_days + 1)}


def left(known: Row, rows: list[Row], treatment: Any, *, linked: bool) -> tuple[int, int, int]:
    """Count histories with and without the date, and pairs of a history and a date of it."""
    histories: dict[Any, list[Row]] = defaultdict(list)
    for number, row in enumerate(rows):
        if holds(row["age"], known["age"]):
            histories[row["patient"] if linked else number].append(row)
    fitting = {
        name: {
            row["visit"]
            for row in own
            if row["visit"] is not None and could_be(known["visit"], row["visit"], treatment)
        }
        for name, own in histories.items()
    }
    return sum(map(bool, fitting.values())), len(histories), sum(map(len, fitting.values()))


def first_of_each(dates: DateColumn, person_of: Any, codes: Any, rng: Any, most: int) -> Any:
    """Take the first event with a date of each person, in the order of the table."""
    rows = np.flatnonzero(dates.values.is_not_null().to_numpy())
    return np.sort(rows[np.unique(person_of[rows], return_index=True)[1]])


TREATMENTS = [
    ic.ShiftDates(20),
    ic.ShiftDates(300),
    ic.ShiftDates(20, to="month"),
    ic.ShiftDates(9, to="week"),
    ic.TruncateDates("month"),
    ic.TruncateDates("day"),
    ic.TruncateDates("quarter"),
    ic.DatesSinceFirst(),
    ic.DatesSinceFirst("months"),
]


@pytest.mark.parametrize("treatment", TREATMENTS, ids=repr)
@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("k", [3])
def test_candidates_are_those_of_plain_python(
    treatment: Any, linked: bool, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incrowd.auditing.dated_rows._one_event_each", first_of_each)
    frame = visits(seed=k)
    release = ic.publish(read(frame, {"visit": treatment}, linked=linked), ic.KAnonymity(k))
    target, _ = aim(release)
    (dated,) = target.dated
    found = candidates(target, dated)
    rows = release.to_polars().to_dicts()
    known = frame.filter(pl.col("visit").is_not_null()).unique("patient", keep="first", maintain_order=True).to_dicts()
    expected = [left(row, rows, treatment, linked=linked) for row in known]
    numbers = (found.total(each) for each in (found.with_date, found.without_date, found.pairs))
    assert [*zip(*numbers, strict=True)] == expected

    risk = KnownDate().run(target, rng=np.random.default_rng(0))
    with_date, without, pairs = zip(*expected, strict=True)
    assert risk.value == pytest.approx(np.mean([1 / number for number in with_date]))
    assert risk.baseline == pytest.approx(np.mean([1 / number for number in without]))
    assert risk.details["singled out"] == pytest.approx(np.mean([number == 1 for number in with_date]))
    assert risk.details["singled out without the date"] == 0
    assert risk.worst == pytest.approx(1 / min(with_date))
    assert risk.low <= risk.value <= risk.high
    assert risk.people == len(known)
    if linked and treatment.keeps_intervals:
        assert risk.details["all dates known"] == pytest.approx(np.mean([number == 1 for number in pairs]))
        assert risk.details["all dates guessed"] == pytest.approx(np.mean([1 / number for number in pairs]))
    else:
        assert "all dates known" not in risk.details


def test_who_is_not_published_is_not_found() -> None:
    frame = visits(60)
    table = read(frame, {"visit": ic.TruncateDates("day")}, linked=True)
    half = KnownDate().run(
        aim(ic.publish(table, ic.KAnonymity(3), sample=0.5, seed=1))[0], rng=np.random.default_rng(0)
    )
    whole = KnownDate().run(aim(ic.publish(table, ic.KAnonymity(3)))[0], rng=np.random.default_rng(0))
    assert whole.value > 0.9
    assert 0.2 < half.value < 0.8


def test_times_of_day_give_events_away() -> None:
    frame = visits(most=2, missing=0)
    frame = frame.with_columns(visit=pl.col("visit").cast(pl.Datetime("us")) + pl.duration(minutes=pl.col("mark") * 7))
    found = {
        to: ic.audit(
            published(frame, {"visit": ic.ShiftDates(300, to=to)}, linked=True),
            attacks=[KnownDate()],
            learn=False,
            remedies=False,
        )
        for to in (None, "day")
    }
    assert found[None].attacks[0].details["singled out"] == 1
    assert found["day"].attacks[0].details["singled out"] < 0.3


def test_the_column_that_tells_most_counts_unless_one_is_named() -> None:
    release = published(visits(), {"visit": ic.TruncateDates("decade"), "paid": ic.TruncateDates("day")}, linked=True)
    every, visit, none = (
        ic.audit(release, remedies=False, attacks=[attack], learn=False)
        for attack in (KnownDate(), KnownDate("visit"), KnownDate("age"))
    )
    assert [every.attacks[0].column, visit.attacks[0].column] == ["paid", "visit"]
    assert every.attacks[0].value > visit.attacks[0].value
    assert "'age' is no column of dates" in none.skipped[0].why


def test_audits_try_it_where_dates_are_published_and_nowhere_else() -> None:
    with_dates = published(visits(), {"visit": ic.ShiftDates(5)}).audit(remedies=False, learn=False)
    assert "known-date" in [risk.attack for risk in with_dates.attacks]
    without = published(visits(), {}).audit(remedies=False, learn=False)
    assert "known-date" in [skipped.what for skipped in without.skipped]
    same = [risk for risk in with_dates.attacks if risk.attack == "linkage"]
    assert same == [risk for risk in without.attacks if risk.attack == "linkage"]


# Every treatment with every kind of date, and both with every format: all that two of them could do to each other.
@pytest.mark.parametrize(
    ("treatment", "kind", "format"),
    [
        (ic.ShiftDates(20), "date", "csv"),
        (ic.ShiftDates(20), "text", "parquet"),
        (ic.ShiftDates(20), "zoned", "csv"),
        (ic.TruncateDates("month"), "date", "parquet"),
        (ic.TruncateDates("month"), "text", "csv"),
        (ic.TruncateDates("month"), "zoned", "parquet"),
    ],
)
def test_a_release_in_files_is_attacked_alike(tmp_path: Path, treatment: Any, kind: str, format: Any) -> None:
    frame = visits()
    if kind == "text":
        frame = frame.with_columns(visit=pl.col("visit").cast(pl.String) + "T08:30:00Z")
    if kind == "zoned":
        moment = pl.col("visit").cast(pl.Datetime("us")) + pl.duration(minutes=pl.col("mark") // 4)
        frame = frame.with_columns(
            visit=moment.dt.replace_time_zone("America/New_York", ambiguous="earliest", non_existent="null")
        )
    frame.write_parquet(tmp_path / "visits.parquet")
    release = published(str(tmp_path / "visits.parquet"), {"visit": treatment}, linked=True)
    release.save(tmp_path / "out", format=format)
    here = ic.audit(release, remedies=False, attacks=[KnownDate()], learn=False).attacks
    original = str(tmp_path / "visits.parquet")
    opened = ic.open_release(tmp_path / "out", original=original)
    assert ic.audit(opened, remedies=False, attacks=[KnownDate()], learn=False).attacks == here
    if kind != "date":  # how the table is given has nothing to do with what its dates look like
        return
    opened = ic.open_release(tmp_path / "out", original=read(original, {"visit": treatment}, linked=True))
    assert ic.audit(opened, remedies=False, attacks=[KnownDate()], learn=False).attacks == here
    assert ic.audit(opened, remedies=False, original=original, attacks=[KnownDate()], learn=False).attacks == here
    alone = ic.audit(ic.open_release(tmp_path / "out"), attacks=[KnownDate()], learn=False)
    assert alone.skipped[0].what == "known-date"


def test_the_command_line_finds_the_same(tmp_path: Path) -> None:
    """That another process finds the same as well is what `tests/dates/test_treatments.py` shows."""
    original = str(tmp_path / "visits.csv")
    visits().write_csv(original)
    release = published(original, {"visit": ic.ShiftDates(20)}, linked=True)
    release.save(tmp_path / "out")
    done = incrowd("attack", str(tmp_path / "out"), "--with", "known-date", "--json", "--original", original)
    (here,) = ic.audit(release, remedies=False, attacks=[KnownDate()], learn=False).attacks
    assert here.says in done.out, done.err


def test_the_order_of_rows_makes_no_difference() -> None:
    frame, key = visits(), ic.PseudonymKey.new()
    one, two = (
        published(each, {"visit": ic.ShiftDates(20)}, linked=True, pseudonym_key=key, seed=1)
        for each in (frame, frame.reverse())
    )
    assert (
        ic.audit(one, remedies=False, attacks=[KnownDate()]).attacks
        == ic.audit(two, remedies=False, attacks=[KnownDate()]).attacks
    )


# --- where labels overlap: the tightest fit, from the files ---


def outsider(path: Path, people: list[Row], treatment: Any, *, linked: bool) -> tuple[float, float]:
    """Pick a history of a file for each person, with the date and without: any that fits, or among those whose range
    of ages is the shortest, whichever is right more often. Marks tell whose a row is, and are used for nothing else.
    """
    with path.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    owner = {str(row["mark"]): row["patient"] for row in people}
    success = {(rule, dated): 0.0 for rule in ("any", "tightest") for dated in (True, False)}
    known = {row["patient"]: row for row in reversed(people) if row["visit"] is not None}
    for name, person in known.items():
        fitting = [row for row in rows if holds(row["age"], person["age"])]
        for dated in (True, False):
            left = [
                row
                for row in fitting
                if not dated or (row["visit"] and could_be(person["visit"], row["visit"], treatment))
            ]
            widths = [width(row["age"]) for row in left]
            tight = [row for row, width in zip(left, widths, strict=True) if width == min(widths)]
            for rule, chosen in (("any", left), ("tightest", tight)):
                histories: dict[Any, bool] = {}
                for number, row in enumerate(chosen):
                    own = owner[row["mark"]] == name
                    histories[row["patient"] if linked else number] = own and (
                        linked or row["mark"] == str(person["mark"])
                    )
                success[rule, dated] += sum(histories.values()) / max(len(histories), 1)
    best = {dated: max(success[rule, dated] for rule in ("any", "tightest")) for dated in (True, False)}
    assert success["tightest", True] > 1.1 * success["any", True]  # or it would not matter here
    return best[True] / len(known), best[False] / len(known)


@pytest.mark.parametrize("linked", [True, False])
def test_the_tightest_fit_counts_where_labels_overlap(
    linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the rows show a wide range of ages, the other half a narrow one inside it."""
    monkeypatch.setattr("incrowd.auditing.dated_rows._one_event_each", first_of_each)
    dice = np.random.default_rng(3)
    treatment = ic.TruncateDates("quarter")
    frame = visits(200, most=2, missing=0.05, seed=4).with_columns(
        age=pl.col("patient").str.slice(1).cast(pl.Int64) % 40 + 20
    )
    wide = {f"P{number:03}": bool(dice.random() < 0.5) for number in range(200)}
    rows = frame.with_columns(
        age=pl.Series(
            "[20, 60)" if wide[name] else f"[{age // 4 * 4}, {age // 4 * 4 + 4})"
            for name, age in frame.select("patient", "age").rows()
        ),
        visit=pl.col("visit").dt.strftime("%Y") + "-Q" + pl.col("visit").dt.quarter().cast(pl.String),
        patient=pl.col("patient").replace({name: f"X{dice.integers(10**9)}" for name in wide}),
    ).drop("paid", *([] if linked else ["patient"]))
    rows.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "published.csv")
    frame.write_csv(tmp_path / "original.csv")
    (tmp_path / "description.toml").write_text(
        '[columns]\nage = "quasi"\nill = "sensitive"\nmark = "drop"\n'
        f'patient = "{"person-pseudonym" if linked else "person"}"\n'
        '[columns.visit]\nrole = "date"\ndate = { kind = "truncate", to = "quarter" }\n',
        encoding="utf-8",
    )
    opened = ic.open_release(
        tmp_path / "published.csv", description=tmp_path / "description.toml", original=tmp_path / "original.csv"
    )
    (risk,) = ic.audit(opened, remedies=False, attacks=[KnownDate()], learn=False).attacks
    naive, before = outsider(tmp_path / "published.csv", frame.to_dicts(), treatment, linked=linked)
    assert "only the tightest labels that fit" in risk.says
    assert naive - 0.005 <= risk.value <= 1.3 * naive
    assert before - 0.005 <= risk.baseline <= 1.3 * before
