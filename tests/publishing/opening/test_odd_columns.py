"""Columns at the ends of what can be written: a release of them is saved, read back, counted and learnt from."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError, SchemaError
from incrowd.forms.label_meanings import step_of

ROWS = 48
PARIS = [
    datetime(1990, 6, 1, hour % 24, tzinfo=UTC).astimezone(ZoneInfo("Europe/Paris")) + timedelta(days=hour)
    for hour in range(ROWS)
]
NO_END = [date(9999, 12, 31) if row % 5 == 0 else date(2000, 1, 1) + timedelta(days=40 * row) for row in range(ROWS)]


def repeated(*values: Any) -> list[Any]:
    return [values[row * 7 % len(values)] for row in range(ROWS)]


ODD = {
    "no end": pl.Series(NO_END),
    "first and last day": pl.Series(repeated(date(1, 1, 1), date(1900, 1, 1), date(9999, 12, 31))),
    "largest whole": pl.Series(repeated(2**63 - 1, -(2**63), 0, 5)),
    "unsigned": pl.Series(repeated(2**64 - 1, 2**63, 0, 5), dtype=pl.UInt64),
    "wide": pl.Series(repeated(2**100, -(2**100), 0, 5), dtype=pl.Int128),
    "largest float": pl.Series(repeated(1e308, -1e308, 1e300, 0.0)),
    "infinite": pl.Series(repeated(float("inf"), float("-inf"), 1.0, 2.5)),
    "tiny": pl.Series([row * 1e-17 for row in range(ROWS)]),
    "smallest": pl.Series(repeated(5e-324, 1.0, 2.0)),
    "whole and halves": pl.Series(repeated(1.0, 1.5, 2.0)),
    "of a zone": pl.Series(PARIS),
    "names and numbers": pl.Series(repeated("1.0", "2.50", "none", "1e3", "2020-01-01 10:00")),
    "like labels": pl.Series(repeated("*", "[1, 2)", "{a, b}", "a", "b", ">=3", '"', "x\ny", "é")),
}


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("odd", ODD)
def test_files_tell_the_same(odd: str, role: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"age": [20 + row % 40 for row in range(ROWS)], "odd": ODD[odd], "ill": repeated("flu", "hay")}
    )
    roles = {"quasi": ["age"], "sensitive": ["ill"]}
    roles[role].append("odd")
    release = ic.publish(ic.read(frame, **roles), ic.KAnonymity(4), seed=1)
    values = frame["odd"].unique(maintain_order=True).to_list()
    expected = [answer(release, value) for value in values]
    if role == "sensitive":  # published as they are, so counted exactly
        assert expected == [frame["odd"].eq(value).sum() for value in values]
    features, *_ = release.training_set("ill", seed=2)
    # Labels are the same text in every kind of file: only of values that are published as they are, both are tried.
    for format in ("csv", "parquet") if role == "sensitive" else ("csv",):
        release.save(tmp_path / format, format=format)  # type: ignore[arg-type]
        again = ic.open_release(tmp_path / format)
        assert [answer(again, value) for value in values] == expected
        assert features.equals(again.training_set("ill", seed=2)[0])


def answer(release: ic.Release, value: Any) -> float | str:
    try:
        return release.count({"odd": value})
    except QueryError as error:
        return str(error)


def test_all_days_hold_everybody() -> None:
    release = ic.publish(ic.read(pl.DataFrame({"until": NO_END}), quasi=["until"]), ic.KAnonymity(5), seed=1)
    assert release.count({"until": (date(1, 1, 1), date(9999, 12, 31))}) == pytest.approx(ROWS)


def test_the_last_month_of_the_calendar_is_a_month() -> None:
    table = ic.read(pl.DataFrame({"until": NO_END}), quasi=["until"], hierarchies={"until": ic.Dates()})
    release = ic.publish(table, ic.KAnonymity(3), method=ic.FullDomain(), seed=1)
    (last,) = [label for label in release.to_polars()["until"].unique().to_list() if label.startswith("99")]
    meaning = release.label_meanings["columns"]["until"]["labels"][last]  # type: ignore[index]
    assert meaning == [{"from": f"{last[:4]}-01-01" if len(last) < 7 else f"{last}-01", "to": "9999-12-31"}]
    assert release.count({"until": (date(9000, 1, 1), None)}) == frame_count(date(9000, 1, 1))


def frame_count(after: date) -> int:
    return sum(day >= after for day in NO_END)


def test_a_time_is_the_same_in_every_zone() -> None:
    release = ic.publish(ic.read(pl.DataFrame({"at": PARIS}), quasi=["at"]), ic.KAnonymity(4), seed=1)
    low, high = PARIS[10], PARIS[20]
    there = release.count({"at": (low, high)})
    assert there == release.count({"at": (low.astimezone(UTC), high.astimezone(UTC))})
    assert there != release.count({"at": (low.replace(tzinfo=UTC), high.replace(tzinfo=UTC))})


def test_tiny_numbers_are_told_in_tiny_steps() -> None:
    assert step_of([1.5e-11]) == pytest.approx(1e-12)
    assert step_of([0.30000000000000004, 2.0]) == pytest.approx(0.1)
    frame = pl.DataFrame({"odd": ODD["tiny"]})
    release = ic.publish(ic.read(frame, quasi=["odd"]), ic.KAnonymity(4), seed=1)
    assert release.count({"odd": (0.0, 20e-17)}) == pytest.approx(21, abs=3)
    assert release.training_set("odd", encode=False, seed=1)[1].n_unique() > 4


def test_a_name_is_asked_for_as_it_is_written() -> None:
    frame = pl.DataFrame({"age": [30] * ROWS, "odd": ODD["names and numbers"]})
    release = ic.publish(ic.read(frame, quasi=["odd"], sensitive=["age"]), ic.KAnonymity(4), seed=1)
    number = int((frame["odd"] == "1.0").sum())
    assert [release.count({"odd": value}) for value in ("1.0", 1, 1.0, "1")] == [number] * 4
    assert release.count({"odd": "2020-01-01 10:00"}) == (frame["odd"] == "2020-01-01 10:00").sum()


NAMES = ["*", "^a.*$", "a", "a is missing", "a = u", "len", "labels", "x\ny", 'q"', "{b}"]


@pytest.mark.parametrize("method", [ic.Mondrian(), ic.Slicing()], ids=lambda method: method.name)
def test_columns_of_any_name(method: Any, tmp_path: Path) -> None:
    """A name is never a pattern of names, nor does it break a line."""
    # Every name in every role where values are kept; in every second role where they are cut apart.
    for place in range(0, len(NAMES), 1 if method.name == "mondrian" else 2):
        first, second, ill, kept = (NAMES[(place + step) % len(NAMES)] for step in range(4))
        frame = pl.DataFrame(
            {
                first: repeated(20, 30, 41, None, 52),
                second: repeated("u", "v", None),
                ill: repeated("flu", "hay", "gout"),
                kept: repeated(1.5, 2.0, None),
            }
        )
        roles: dict[str, Any] = {"quasi": [first, second], "sensitive": [ill]}
        roles |= {"keep": [kept]} if method.name == "mondrian" else {"drop": [kept]}
        model = ic.KAnonymity(3) if method.name == "mondrian" else ic.SlicedDiversity(2)
        release = ic.publish(ic.read(frame, **roles), model, method=method, seed=1)
        release.save(tmp_path / str(place), format="csv")
        again = ic.open_release(tmp_path / str(place))
        assert again.warnings == release.warnings
        assert not any("\n" in text for text in release.warnings)
        for target in (first, second, ill):
            features, classes, _ = release.training_set(target, seed=1)
            assert release.features(frame, target=target).columns == features.columns
            raw, _, _ = release.training_set(target, seed=1, encode=False)
            assert raw.columns == [name for name in (first, second, ill) if name != target]
            assert len(classes) == raw.height == features.height


def test_a_feature_that_is_called_as_another_keeps_its_numbers() -> None:
    frame = pl.DataFrame({"a": repeated(1, None, 3), "a is missing": repeated(7, 8, 9), "ill": repeated("flu", "hay")})
    table = ic.read(frame, quasi=["a", "a is missing"], sensitive=["ill"])
    features, _, _ = ic.publish(table, ic.KAnonymity(1), seed=1).training_set("ill", seed=1)
    assert features.columns == ["a", "a is missing", "a is missing'"]
    assert features["a is missing'"].min() >= 7  # type: ignore[operator]


def test_a_zero_byte_in_a_name_is_refused() -> None:
    frame = pl.DataFrame({"age": [1, 2], "\0household": [1, 2]})
    with pytest.raises(SchemaError, match="zero byte"):
        ic.read(frame, quasi=["age"], others="drop")


@pytest.mark.parametrize("names", [["^a.*$", "*", "^b$", "^c$", "^z.*$"], ["*", "^a$", "^b", "c$", "^z.*$"]])
def test_every_role_takes_any_name(names: list[str], tmp_path: Path) -> None:
    who, quasi, ill, bought, other = names
    frame = pl.DataFrame(
        {
            who: [f"p{row // 2}" for row in range(ROWS)],
            quasi: [20 + row // 8 for row in range(ROWS)],
            ill: repeated("flu", "hay"),
            other: [1.5 * row for row in range(ROWS)],
        }
    )
    table = ic.split_rows(ic.read(frame, person=who, quasi=[quasi], sensitive=[ill], keep=[other]), "visits")
    release = ic.publish(table, ic.KAnonymity(3), seed=1)
    release.save(tmp_path / "linked", format="csv")
    assert ic.open_release(tmp_path / "linked").rows == ROWS // 2
    each = frame.with_columns(
        pl.int_range(ROWS).alias(who),
        (pl.int_range(ROWS) // 3).alias(other),
        pl.Series(bought, repeated("a;b", "b;c", "a")),
        pl.lit(2.0).alias("^w$"),
    )
    roles: dict[str, Any] = {"person": who, "quasi": [quasi], "sensitive": [ill], "others": "drop"}
    for more in ({"items": [bought], "household": other}, {"weight": "^w$", "keep": [other], "pseudonyms": [who]}):
        models = [ic.KAnonymity(3), *([ic.KmAnonymity(2, m=1)] if "items" in more else [])]
        release = ic.publish(ic.read(each, **roles, **more), models, seed=1)
        place = tmp_path / ("items" if "items" in more else "weight")
        release.save(place, format="csv")
        again = ic.open_release(place, original=each)
        for made in (release, again):
            made.audit(remedies=False, learn=False, external=each[[quasi, other]], earlier=[again])
        assert all(model.satisfied is not False for model in ic.check(place).models)
    ic.check(each, quasi=[quasi], sensitive=[ill], items=bought, household=other, person=who)
