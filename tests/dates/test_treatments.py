"""Treatments of dates through a whole release, held against plain Python on the rows that they were made of."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import Whose
from incrowd.dates.units import Unit
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.texts import AS_THEY_LOOK, TextRules
from tests.dates.visits import beside, by_person, elapsed, published, read, shift_of, unit_name, visits

UNITS = get_args(Unit)


def column(values: Any, dtype: Any = None) -> DateColumn:
    return DateColumn.read("d", pl.Series(values, dtype=dtype), AS_THEY_LOOK)


def whose(people: list[int], amounts: list[int]) -> Whose:
    return Whose(np.array(people), lambda below, purpose: np.array(amounts))


# --- columns that others look at ---


def test_a_treated_column_that_another_is_counted_from_is_published_treated(tmp_path: Path) -> None:
    frame = visits()
    treatments = {"visit": ic.TruncateDates("year"), "paid": ic.DatesSinceFirst(first_of="visit")}
    release = published(frame, treatments)
    pairs = beside(release, frame)
    for pairs_of_person in by_person(pairs).values():
        first = min((before["visit"] for _, before in pairs_of_person if before["visit"]), default=None)
        for after, before in pairs_of_person:
            assert after["visit"] == (before["visit"] and unit_name(before["visit"], "year"))
            assert after["paid"] == (first and (before["paid"] - first).days)
    release.save(tmp_path / "out", format="csv")
    written = (tmp_path / "out" / "data.csv").read_text()
    assert not any(str(before["visit"]) in written for _, before in pairs if before["visit"])


# --- shifts ---


def test_all_dates_of_a_person_move_alike_and_people_differently() -> None:
    frame = visits()
    release = published(frame, {"visit": ic.ShiftDates(30), "paid": ic.ShiftDates(30)})
    shifts = {}
    for person, pairs in by_person(beside(release, frame)).items():
        found = {shift_of(after[name], before[name]) for after, before in pairs for name in ("visit", "paid")} - {None}
        assert len(found) == 1
        shifts[person] = found.pop()
    assert all(-30 <= shift <= 30 for shift in shifts.values())
    assert len(shifts) == release.people.published  # type: ignore[union-attr]
    assert len(set(shifts.values())) > len(shifts) / 3


def test_columns_apart_have_shifts_of_their_own() -> None:
    frame = visits()
    release = published(frame, {"visit": ic.ShiftDates(30), "paid": ic.ShiftDates(30, apart=True)})
    differing = 0
    for pairs in by_person(beside(release, frame)).values():
        found = [
            {shift_of(after[name], before[name]) for after, before in pairs} - {None} for name in ("visit", "paid")
        ]
        assert all(len(each) <= 1 for each in found)
        differing += found[0] != found[1]
    assert differing > 20


def test_shifts_are_even() -> None:
    names = [str(number).encode() for number in range(30_000)]
    counts = Counter(PseudonymKey(bytes(32)).draws(names, 7, "shift").tolist())
    assert set(counts) == set(range(7))
    expected = len(names) / 7
    assert sum((counts[each] - expected) ** 2 / expected for each in range(7)) < 22.5  # χ² of 6, one in a thousand


def test_no_number_is_likelier_where_words_do_not_divide_evenly() -> None:
    # Of 8·2**61 words, the last 2·2**61 are beyond the last multiple of 3·2**61. Taken modulo, the lower two thirds
    # would be drawn 3000 times each.
    drawn = PseudonymKey(bytes(32)).draws([str(number).encode() for number in range(8000)], 3 * 2**61, "x")
    assert (abs(np.bincount(drawn >> 61, minlength=3) - 8000 / 3) < 200).all()


def test_one_key_moves_people_alike_in_every_release_and_another_does_not() -> None:
    frame, key = visits(), PseudonymKey.new()

    def shifts(key: PseudonymKey | None, people: pl.DataFrame, person: str = "patient") -> dict[str, int | None]:
        release = ic.publish(read(people, {"paid": ic.ShiftDates(500)}), ic.KAnonymity(3), pseudonym_key=key)
        pairs = by_person(beside(release, people))
        return {name: shift_of(*(row["paid"] for row in each[0])) for name, each in pairs.items()}

    first, again = shifts(key, frame), shifts(key, frame.filter(pl.col("mark") % 3 > 0))
    assert {name: first[name] for name in again} == again
    for other in (shifts(None, frame), shifts(None, frame), shifts(PseudonymKey.new(), frame)):
        assert sum(other[name] == first[name] for name in other) < 5


def test_a_number_and_its_text_name_one_person() -> None:
    key, frame = PseudonymKey.new(), visits().with_columns(patient=pl.col("patient").str.slice(1).cast(pl.Int64))
    text = frame.with_columns(pl.col("patient").cast(pl.String))
    frames = [
        ic.publish(read(each, {"paid": ic.ShiftDates(500)}), ic.KAnonymity(3), pseudonym_key=key).to_polars()
        for each in (frame, text)
    ]
    assert frames[0].sort("mark")["paid"].equals(frames[1].sort("mark")["paid"])


def test_spellings_of_one_person_move_alike() -> None:
    frame = visits()
    odd = frame.with_columns(
        pl.col("patient") + pl.when(pl.col("mark") % 2 == 0).then(pl.lit(" ")).otherwise(pl.lit(""))
    )
    release = published(odd, {"paid": ic.ShiftDates(500)})
    for pairs in by_person(beside(release, frame)).values():
        assert len({shift_of(after["paid"], before["paid"]) for after, before in pairs}) == 1


def test_several_columns_name_a_person_in_any_order() -> None:
    key = PseudonymKey.new()
    frame = visits().with_columns(clinic=pl.col("patient").str.slice(3), number=pl.col("patient").str.slice(0, 3))
    frames = [
        ic.publish(read(frame, {"paid": ic.ShiftDates(500)}, person=names), ic.KAnonymity(3), pseudonym_key=key)
        for names in (["clinic", "number"], ["number", "clinic"])
    ]
    one, two = (release.to_polars().sort("mark")["paid"] for release in frames)
    assert one.equals(two)
    for pairs in by_person(beside(frames[0], frame)).values():
        assert len({shift_of(after["paid"], before["paid"]) for after, before in pairs}) == 1


def test_pseudonyms_and_shifts_are_made_of_keys_that_tell_nothing_of_one_another() -> None:
    secret = bytes(range(32))
    made_of = b"\xffshift\x0061"
    with pytest.raises(UnicodeDecodeError):  # so that no identifier's pseudonym begins as the shifts' key does
        made_of.decode()
    shifts_key = hmac.new(secret, made_of, hashlib.sha256).digest()
    word = hmac.new(shifts_key, bytes(4) + b"P1", hashlib.sha256).digest()[:8]
    assert PseudonymKey(secret).draws([b"P1"], 61, "shift").tolist() == [int.from_bytes(word, "big") % 61]
    assert PseudonymKey(secret).draws([b"P1"], 61, "shift of visit") != PseudonymKey(secret).draws([b"P1"], 61, "shift")


def test_a_release_read_twice_has_one_shift_and_scans_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, key = visits(), PseudonymKey.new()
    treatments = {"visit": ic.ShiftDates(99), "paid": ic.DatesSinceFirst()}
    release = ic.publish(read(frame, treatments), ic.KAnonymity(3), seed=3, pseudonym_key=key)
    whole = release.to_polars()
    assert release.to_polars().equals(whole)
    monkeypatch.setattr("incrowd.engines.local.ROWS_PER_SCAN", 7)
    scanned = ic.publish(read(frame, treatments), ic.KAnonymity(3), seed=3, pseudonym_key=key)
    assert len(list(scanned.batches())) > 3
    assert scanned.to_polars().equals(whole)


@settings(deadline=None, max_examples=15)
@given(
    days=st.lists(st.dates(date(1700, 1, 1), date(2200, 1, 1)) | st.none(), min_size=1, max_size=8),
    amounts=st.lists(st.integers(0, 4000), min_size=3, max_size=3),
    kind=st.sampled_from(["date", "text", "time", "ns", "zone"]),
    data=st.data(),
)
def test_intervals_survive(days: list[date | None], amounts: list[int], kind: str, data: Any) -> None:
    people = [data.draw(st.integers(0, 2)) for _ in days]
    clocks = [timedelta(seconds=data.draw(st.integers(0, 86399))) for _ in days]
    times = [None if d is None else datetime(d.year, d.month, d.day) + c for d, c in zip(days, clocks, strict=True)]
    values = {
        "date": pl.Series(days, dtype=pl.Date),
        "text": pl.Series([None if t is None else t.isoformat() + "+02:00" for t in times], dtype=pl.String),
        "time": pl.Series(times, dtype=pl.Datetime("ms")),
        "ns": pl.Series(times, dtype=pl.Datetime("ns")),
        "zone": pl.Series(times, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC"),
    }[kind]
    moved = ic.ShiftDates(2000).treat(column(values), {}, whose(people, amounts))
    assert moved.dtype == values.dtype
    for after, before, person in zip(moved.to_list(), values.to_list(), people, strict=True):
        assert shift_of(after, before) in (None, amounts[person] - 2000)


def test_clocks_of_a_zone_show_the_same_time_on_another_day() -> None:
    local = pl.Series([datetime(2024, 3, 29, 2, 30), datetime(2024, 10, 26, 2, 30), datetime(2024, 6, 1, 12)])
    zoned = column(local.dt.replace_time_zone("Europe/Berlin"))
    moved = zoned.moved(pl.Series([2, 1, 183])).values.dt.convert_time_zone("UTC").to_list()
    assert moved == [
        datetime(2024, 3, 31, 1, 30, tzinfo=UTC),  # clocks skip 2:30, and show 3:30 where it would have been
        datetime(2024, 10, 27, 0, 30, tzinfo=UTC),  # the first of two
        datetime(2024, 12, 1, 11, tzinfo=UTC),  # noon in winter
    ]
    gone = column(pl.Series([datetime(2011, 12, 29, 10)]).dt.replace_time_zone("Pacific/Apia"))
    assert gone.moved(pl.Series([1])).values.null_count() == 0  # a day that was left out there


# --- what is cut ---


@pytest.mark.parametrize("unit", UNITS)
def test_a_date_is_cut_to_its_unit(unit: Any) -> None:
    frame = visits()
    release = published(frame, {"visit": ic.TruncateDates(unit)})
    for after, before in beside(release, frame):
        expected = None if before["visit"] is None else unit_name(before["visit"], unit)
        assert (None if after["visit"] is None else str(after["visit"])) == expected


@settings(deadline=None, max_examples=22)
@given(day=st.dates(), unit=st.sampled_from(UNITS), kind=st.sampled_from([pl.Date, pl.Datetime("us"), pl.String]))
def test_every_day_of_the_calendar_has_its_unit(day: date, unit: Any, kind: Any) -> None:
    values = pl.Series([day]).cast(kind)
    assert str(ic.TruncateDates(unit).treat(column(values), {}, None)[0]) == unit_name(day, unit)


def test_truncation_needs_nobody() -> None:
    frame = visits()
    table = ic.read(frame, quasi=["age"], keep=["mark"], dates={"visit": ic.TruncateDates("year")}, others="drop")
    rows = beside(ic.publish(table, ic.KAnonymity(3)), frame)
    assert all(
        (after["visit"] or "") == (str(before["visit"].year) if before["visit"] else "") for after, before in rows
    )


def test_a_shifted_date_may_be_cut_as_well() -> None:
    frame, key = visits(), PseudonymKey.new()
    whole, cut = (
        ic.publish(read(frame, {"visit": treatment}), ic.KAnonymity(3), pseudonym_key=key).to_polars().sort("mark")
        for treatment in (ic.ShiftDates(90), ic.ShiftDates(90, to="month"))
    )
    assert [day and unit_name(day, "month") for day in whole["visit"].to_list()] == cut["visit"].to_list()


# --- since the first event ---


@pytest.mark.parametrize("unit", ["days", "weeks", "months", "years"])
@pytest.mark.parametrize("first_of", [None, "paid"])
def test_dates_are_counted_from_the_first_event_of_all_rows(unit: Any, first_of: str | None) -> None:
    frame = visits(seed=4)
    release = published(frame, {"visit": ic.DatesSinceFirst(unit, first_of=first_of)})
    start_column = first_of or "visit"
    starts: dict[str, date] = {}
    for row in frame.to_dicts():
        if row[start_column] is not None:
            starts[row["patient"]] = min(row[start_column], starts.get(row["patient"], date.max))
    for after, before in beside(release, frame):
        known = before["visit"] is not None and before["patient"] in starts
        expected = elapsed(starts[before["patient"]], before["visit"], unit) if known else None
        assert after["visit"] == expected


def test_the_first_event_is_found_in_a_sample_and_where_people_are_withheld() -> None:
    frame = visits(60, seed=9)
    first = dict(frame.group_by("patient").agg(pl.col("paid").min()).iter_rows())
    release = ic.publish(
        read(frame, {"paid": ic.DatesSinceFirst()}),
        ic.KAnonymity(4),
        method=ic.FullDomain(max_withheld=0.3),
        sample=0.6,
    )
    pairs = beside(release, frame)
    assert 0 < len(pairs) < frame.height
    assert all(after["paid"] == (before["paid"] - first[before["patient"]]).days for after, before in pairs)
    everybody = Counter(frame["patient"].to_list())
    assert all(len(rows) == everybody[name] for name, rows in by_person(pairs).items())


def test_a_column_that_dates_are_counted_from_may_have_any_role() -> None:
    frame = visits().with_columns(born=pl.date(1990, 1, 1))
    for role in ({"quasi": ["age", "born"]}, {"keep": ["mark", "born"]}, {"drop": ["born"]}):
        table = read(frame, {"paid": ic.DatesSinceFirst(first_of="born")}, **role)
        for after, before in beside(ic.publish(table, ic.KAnonymity(3)), frame):
            assert after["paid"] == (before["paid"] - date(1990, 1, 1)).days


# --- people with one row ---


@pytest.mark.parametrize("treatment", [ic.ShiftDates(30), ic.DatesSinceFirst(), ic.ShiftDates(9, to="week")])
@pytest.mark.parametrize("sample", [1, 0.5])
def test_everybody_may_have_one_row(treatment: Any, sample: float) -> None:
    frame = visits(most=1)
    release = published(frame, {"paid": treatment}, sample=sample)
    assert release.people is None
    pairs = beside(release, frame)
    assert len(pairs) == release.rows
    if treatment == ic.ShiftDates(30):
        assert len({shift_of(after["paid"], before["paid"]) for after, before in pairs}) > 5
    if treatment == ic.DatesSinceFirst():
        assert {after["paid"] for after, _ in pairs} == {0}


def test_one_person_alone_and_nobody_with_a_date() -> None:
    frame = visits(1, seed=2).with_columns(visit=pl.lit(None, dtype=pl.Date))
    table = read(frame, {"visit": ic.ShiftDates(5), "paid": ic.DatesSinceFirst(first_of="visit")})
    made = ic.publish(table, ic.KAnonymity(1)).to_polars()
    assert made["visit"].null_count() == made["paid"].null_count() == frame.height


# --- files ---


@pytest.mark.usefixtures("few_queries")
def test_saved_releases_tell_the_same_in_another_process(tmp_path: Path) -> None:
    frame = visits()
    frame.write_csv(tmp_path / "visits.csv")
    treatments = {"visit": ic.ShiftDates(45), "paid": ic.DatesSinceFirst("weeks", first_of="visit")}
    table = read(str(tmp_path / "visits.csv"), treatments, linked=True)
    key = PseudonymKey.load_or_create(tmp_path / "key")
    formats: list[Any] = ["csv", "parquet"]
    releases = [ic.publish(table, ic.KAnonymity(3), pseudonym_key=key) for _ in formats]
    for release, format in zip(releases, formats, strict=True):
        release.save(tmp_path / format, format=format)
    code = (
        "import json, sys, incrowd as ic, polars as pl\n"
        "original, *places = sys.argv[1:]\n"
        "for place in places:\n"
        "    release, found = ic.open_release(place), ic.check(place)\n"
        "    rows = release.to_polars().cast(pl.String).to_dicts()\n"
        "    print(json.dumps([rows, release.outside, release.warnings, found.k, list(found.outside)]))\n"
        "opened = ic.open_release(place, original=original)\n"
        "(risk,) = ic.audit(opened, attacks=[ic.KnownDate()], remedies=False, learn=False).attacks\n"
        "print(risk.says)"
    )
    places = [str(tmp_path / format) for format in formats]
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "visits.csv"), *places],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    *lines, attacked = told.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        tells_of(frame, *json.loads(line))
    (here,) = ic.audit(releases[-1], attacks=[ic.KnownDate()], remedies=False, learn=False).attacks
    assert attacked == here.says


def tells_of(
    frame: pl.DataFrame, rows: list[Any], outside: list[str], warnings: list[str], k: int, checked: list[str]
) -> None:
    """Look at all that another process says of a release of visits, which were shifted and counted in weeks."""
    assert k >= 3
    assert sorted(outside) == sorted(checked) == ["mark", "paid", "patient", "visit"]
    assert any("shifted by at most 45 days" in warning for warning in warnings)
    before = {str(row["mark"]): row for row in frame.to_dicts()}
    shifts: dict[str, set[int]] = {}
    for row in rows:
        true = before[row["mark"]]
        shift = shift_of(row["visit"], None if true["visit"] is None else true["visit"].isoformat())
        if shift is not None:
            shifts.setdefault(row["patient"], set()).add(shift)
    assert all(len(found) == 1 and abs(min(found)) <= 45 for found in shifts.values())
    for row in rows:
        true = before[row["mark"]]
        same = [other["visit"] for other in before.values() if other["patient"] == true["patient"] and other["visit"]]
        assert row["paid"] == (str(elapsed(min(same), true["paid"], "weeks")) if same else None)


def test_nothing_in_the_files_holds_the_key(tmp_path: Path) -> None:
    key = PseudonymKey.load_or_create(tmp_path / "key")
    release = ic.publish(read(visits(), {"paid": ic.ShiftDates(45)}), ic.KAnonymity(3), pseudonym_key=key, seed=1)
    release.save(tmp_path / "out")
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    secret = (tmp_path / "key").read_text(encoding="ascii").strip()
    assert secret not in text
    assert key.secret.hex() not in text
    assert "seed = " not in text


def test_a_recipe_makes_the_same_release(tmp_path: Path) -> None:
    visits().write_csv(tmp_path / "visits.csv")
    recipe = """
        incrowd = 1
        [source]
        path = "visits.csv"
        [[models]]
        name = "k-anonymity"
        k = 3
        [pseudonyms]
        key = "key"
        [columns]
        patient = "person"
        age = "quasi"
        ill = "sensitive"
        mark = "keep"
        visit = { role = "date", date = { kind = "shift", most_days = 30, to = "week" } }
        paid = { role = "date", date = { kind = "since-first", first_of = "visit" } }
    """
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    made = ic.Recipe.load(tmp_path / "recipe.toml").run()
    assert made.schema.dates == {"visit": ic.ShiftDates(30, to="week"), "paid": ic.DatesSinceFirst(first_of="visit")}
    assert (tmp_path / "key").exists()
    made.save(tmp_path / "out")
    again = ic.Recipe.load(tmp_path / "out" / "recipe.toml").run()
    assert again.schema == made.schema
    assert (
        again.to_polars()
        .sort("mark")
        .select("visit", "paid")
        .equals(made.to_polars().sort("mark").select("visit", "paid"))
    )


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ({"role": "date"}, r'^column \'d\': the role "date" goes with what becomes of the dates'),
        ({"role": "keep", "date": {"kind": "truncate"}}, "goes with"),
        ({"role": "date", "date": {"kind": "shft"}}, "no treatment called 'shft'.*did you mean 'shift'"),
        ({"role": "date", "date": {"kind": "shift"}}, "treatment 'shift' needs most_days"),
        ({"role": "date", "date": {"kind": "shift", "most_days": 0}}, "most_days"),
        ({"role": "date", "date": {"kind": "shift", "most_days": 10**9}}, "most_days is at most"),
        ({"role": "date", "date": {"kind": "truncate", "to": "moon"}}, "to is"),
        ({"role": "date", "date": "shift"}, r"\[date\] is a table"),
    ],
)
def test_what_a_recipe_cannot_mean_is_refused(column: Any, problem: str) -> None:
    from incrowd.publishing.recipe_format import read_columns

    with pytest.raises(RecipeError, match=problem):
        read_columns({"d": column}, Path())


# --- what is refused ---


def test_whose_a_row_is_must_be_known() -> None:
    for treatment in (ic.ShiftDates(3), ic.DatesSinceFirst()):
        with pytest.raises(SchemaError, match=r"column 'visit': .* needs to know whose a row is\.  Hint: .*person="):
            read(visits(), {"visit": treatment}, person=())


@pytest.mark.parametrize(
    ("dates", "problem"),
    [
        ({"visit": ic.ShiftDates(3), "paid": ic.ShiftDates(4)}, "move alike.*same most_days.*apart=True"),
        ({"visit": ic.DatesSinceFirst(first_of="padi")}, "'padi'.*not in the table.*did you mean 'paid'"),
        ({"visit": "shift"}, r"str is no treatment of dates\.  Hint: write dates="),
        (["visit"], "dates is a table of columns"),
        ({"vsit": ic.TruncateDates()}, r"column 'vsit' \(dates\) is not in the table"),
        ({"age": ic.TruncateDates()}, "named twice: quasi and dates"),
        ({"age": ic.TruncateDates()}, "named twice"),
    ],
)
def test_what_cannot_be_is_refused_at_once(dates: Any, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        read(visits(), dates)


@pytest.mark.parametrize(
    "value", ["31/01/2020", "2020-02-30", "2020-1-1", "2020-01-01T25:00", "soon", "20200101", "0000-01-01"]
)
@pytest.mark.parametrize("treatment", [ic.ShiftDates(3), ic.TruncateDates(), ic.DatesSinceFirst()])
def test_what_is_no_date_is_refused_without_being_quoted(value: str, treatment: Any) -> None:
    frame = visits().with_columns(visit=pl.col("visit").cast(pl.String))
    frame = frame.with_columns(visit=pl.when(pl.col("mark") == 5).then(pl.lit(value)).otherwise("visit"))
    with pytest.raises(SchemaError, match="column 'visit'") as refused:
        published(frame, {"visit": treatment})
    assert value not in str(refused.value)


def test_a_column_of_numbers_is_no_column_of_dates() -> None:
    with pytest.raises(SchemaError, match="'mark' is to hold dates, and some of its values are none"):
        ic.publish(read(visits(), {"mark": ic.TruncateDates()}, keep=[]), ic.KAnonymity(3))


@pytest.mark.parametrize(
    ("value", "fine"),
    [
        (date(1, 1, 30), False), (date(1, 1, 31), True), (date(9999, 12, 31), False), (date(9999, 12, 1), True),
        ("0001-01-02", False), ("9999-12-31T23:59:59", False), ("9999-12-01", True),
        (datetime(9999, 12, 31), False), (datetime(1, 1, 31, 5), True),
    ],
)  # fmt: skip
def test_dates_near_the_ends_of_the_calendar_are_refused_whatever_the_shift(value: Any, fine: bool) -> None:
    frame = visits(12, missing=0).with_columns(paid=pl.lit(value))
    if fine:
        assert published(frame, {"paid": ic.ShiftDates(30)}).to_polars()["paid"].null_count() == 0
        return
    for _ in range(3):
        with pytest.raises(SchemaError, match="too near to the ends of the calendar"):
            published(frame, {"paid": ic.ShiftDates(30)})


def test_nanoseconds_do_not_overflow() -> None:
    late = visits(12).with_columns(paid=pl.lit(datetime(2262, 4, 9)).cast(pl.Datetime("ns")))
    with pytest.raises(SchemaError, match="too near to the ends"):
        published(late, {"paid": ic.ShiftDates(30)})


def test_words_for_missing_are_missing() -> None:
    frame = visits(missing=0).with_columns(paid=pl.col("paid").cast(pl.String))
    words = pl.Series(["", " ", "NaN", "unknown", " unknown ", "9999-12-31"])
    frame = frame.with_columns(
        paid=pl.when(pl.col("mark") < 6).then(words.gather(frame["mark"] % 6)).otherwise(" " + pl.col("paid") + " ")
    )
    table = read(frame, {"paid": ic.ShiftDates(30)}, missing=["unknown", "9999-12-31"])
    for after, before in beside(ic.publish(table, ic.KAnonymity(3)), frame):
        if before["mark"] < 6:
            assert after["paid"] is None
        else:
            assert abs(shift_of(after["paid"], before["paid"].strip()) or 0) <= 30


def test_exact_texts_are_read_as_they_are() -> None:
    with pytest.raises(SchemaError, match="some of its values are none"):
        DateColumn.read("d", pl.Series(["2020-01-01", "NaN"]), TextRules(exact=True))


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("2020-01-01", ""), ("2020-01-01T10:05", "10:05:00"), ("2020-01-01 10:05:00.250", "10:05:00.25"),
        ("2020-01-01T10:05:00,000Z", "10:05:00"), ("2020-01-01T10:05:07.000000+0100", "10:05:07"),
    ],
)  # fmt: skip
def test_a_time_of_day_has_one_text(text: str, clock: str) -> None:
    assert column([text]).clock.to_list() == [clock]
    if clock:
        assert column([datetime.fromisoformat(text.replace(",", ".").removesuffix("Z")[:23])]).clock.to_list() == [
            clock
        ]


def test_models_that_speak_of_everything_refuse_dates() -> None:
    with pytest.raises(SchemaError, match="'visit' would be published outside"):
        ic.publish(read(visits(), {"visit": ic.TruncateDates()}, keep=[]), ic.FullKAnonymity(3))


def test_a_release_warns_of_what_its_dates_tell() -> None:
    release = published(visits(), {"visit": ic.ShiftDates(30), "paid": ic.TruncateDates("year")})
    told = " ".join(release.warnings)
    assert "visit (shifted by at most 30 days, all of a person's alike" in told
    assert "paid (cut to the year" in told
    assert "treated in different ways" in told
    assert "different ways" not in " ".join(published(visits(), {"visit": ic.ShiftDates(30)}).warnings)


def test_the_order_of_rows_and_columns_makes_no_difference() -> None:
    frame, key = visits(), PseudonymKey.new()
    treatments = {"visit": ic.ShiftDates(30), "paid": ic.DatesSinceFirst()}

    def made(frame: pl.DataFrame, treatments: Any) -> pl.DataFrame:
        return ic.publish(read(frame, treatments, keep=[]), ic.KAnonymity(3), pseudonym_key=key, seed=5).to_polars()

    one = made(frame, treatments)
    assert made(frame.reverse(), treatments).equals(one)
    other = made(frame.select(frame.columns[::-1]), dict(reversed(treatments.items())))
    assert other.select(one.columns).equals(one)


def test_the_order_of_published_rows_is_that_of_published_dates() -> None:
    frame = visits().with_columns(age=pl.lit(30), ill=pl.lit("flu"))
    release = ic.publish(read(frame, {"paid": ic.ShiftDates(300)}, keep=[]), ic.KAnonymity(3))
    assert release.to_polars()["paid"].is_sorted()


def test_an_engine_that_treats_no_dates_refuses_them_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incrowd.engines.local.LocalEngine.treats_dates", False)
    with pytest.raises(
        SchemaError, match="the engine local publishes no dates with a treatment, and column 'visit' has"
    ):
        published(visits(), {"visit": ic.TruncateDates()})
