"""What is published are the table's own values: all of their digits, in every form and every kind of file."""

from __future__ import annotations

from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incrowd as ic
from incrowd.errors import SourceError
from incrowd.hierarchies.values import as_text

ROWS = 60
LONG = [f"0.123456789012345678{number:02}" for number in range(ROWS)]
COLUMNS = {
    "decimals": pl.Series(map(Decimal, LONG), dtype=pl.Decimal(38, 20)),
    "texts of decimals": pl.Series(LONG),
    "Int64": pl.Series([2**60 + number for number in range(ROWS)]),
    "UInt64": pl.Series([2**64 - 1 - number for number in range(ROWS)], dtype=pl.UInt64),
    "Int128": pl.Series([2**100 + number for number in range(ROWS)], dtype=pl.Int128),
    "UInt128": pl.Series([2**100 + number for number in range(ROWS)], dtype=pl.UInt128),
    "durations": pl.Series([timedelta(seconds=number, microseconds=1) for number in range(ROWS)]),
    "times": pl.Series([time(number % 24, number) for number in range(ROWS)]),
}
FORMS: dict[str, dict[str, Any]] = {
    "anatomy": {"require": ic.LDiversity(2), "method": ic.Anatomy()},
    "slicing": {"require": ic.SlicedDiversity(2), "method": ic.Slicing()},
    "labels": {"require": ic.KAnonymity(2)},
}


def table(values: pl.Series) -> pl.DataFrame:
    place = pl.int_range(ROWS, eager=True)
    return pl.DataFrame({"x": values, "q": place % 6, "s": (place % 3).cast(pl.String)})


def files_tell_the_same(release: ic.Release, frame: pl.DataFrame, kind: str, form: str, place: Path) -> None:
    # Both kinds of files for each kind of column and each form, though not for each pair.
    format = ("csv", "parquet")[(list(COLUMNS).index(kind) + list(FORMS).index(form)) % 2]
    release.save(place / format, format=format)
    again = ic.open_release(place / format, original=frame)
    assert [guarantee.achieved for guarantee in again.guarantees] == [
        guarantee.achieved for guarantee in release.guarantees
    ]


# Each kind of column as labels, and as it is in one of the forms that pair values as they are.
TRIED = [(kind, "labels") for kind in COLUMNS]
TRIED += [(kind, ("anatomy", "slicing")[place % 2]) for place, kind in enumerate(COLUMNS)]


@pytest.mark.parametrize(("kind", "form"), TRIED)
def test_every_digit_of_a_quasi_identifier_counts(kind: str, form: str, tmp_path: Path) -> None:
    frame = table(COLUMNS[kind])
    release = ic.publish(ic.read(frame, quasi=["x"], sensitive=["s"], drop=["q"]), **FORMS[form], seed=1)
    if form == "labels":  # no two of them hide together unless they are shown as one range
        assert release.form.tally.trees["x"].size == ROWS + 1
    else:
        assert sorted(as_text(release.to_polars()["x"])) == sorted(as_text(frame["x"]))
    files_tell_the_same(release, frame, kind, form, tmp_path)


@pytest.mark.parametrize(("kind", "form"), TRIED)
def test_every_digit_of_a_sensitive_value_counts(kind: str, form: str, tmp_path: Path) -> None:
    frame = table(COLUMNS[kind])
    release = ic.publish(ic.read(frame, quasi=["q"], sensitive=["x"], drop=["s"]), **FORMS[form], seed=1)
    published = release.tables.get("sensitive", release.to_polars())["x"]
    assert published.sort().equals(frame["x"].sort(), null_equal=True)
    files_tell_the_same(release, frame, kind, form, tmp_path)


def test_labels_of_decimals_are_short(tmp_path: Path) -> None:
    money = pl.Series([Decimal(number) / 4 for number in range(ROWS)], dtype=pl.Decimal(10, 2))
    found = ic.publish(ic.read(table(money), quasi=["x"], sensitive=["s"], drop=["q"]), ic.KAnonymity(1)).to_polars()
    assert {"0", "0.25", "5", "5.5", "10"} <= set(found["x"])


def test_a_decimal_just_below_a_bound_stays_below_it() -> None:
    near = pl.Series([Decimal("9.99999999999999999999"), Decimal(10)] * 30, dtype=pl.Decimal(38, 20))
    frame = table(near)
    tree = ic.Intervals(widths=(5, 10))
    asked = ic.read(frame, quasi=["x"], sensitive=["s"], drop=["q"], hierarchies={"x": tree})
    found = ic.publish(asked, ic.KAnonymity(2), method=ic.LevelSweep()).form.tally.trees["x"]
    assert found.names[1].to_list() == [None, "[5, 10)", "[10, 15)"]


def test_decimals_of_more_digits_than_can_be_read_are_refused(tmp_path: Path) -> None:
    digits = pa.array([Decimal("1" * 60), Decimal("2" * 60)], pa.decimal256(70, 2))
    pq.write_table(pa.table({"x": digits}), tmp_path / "wide.parquet")
    with pytest.raises(SourceError, match="Decimal of 70 digits"):
        ic.read(tmp_path / "wide.parquet", quasi=["x"])
    with pytest.raises(SourceError, match="cannot be read"):
        ic.read(pa.table({"x": digits}), quasi=["x"])


@pytest.mark.parametrize(
    "values",
    [pl.Series([b"a"] * ROWS), pl.Series([[1]] * ROWS), pl.Series([{"a": 1}] * ROWS), pl.Series([object()] * ROWS)],
)
def test_what_is_no_plain_value_is_refused(values: pl.Series) -> None:
    with pytest.raises(SourceError, match="not plain: 'x'"):
        ic.read(table(values), quasi=["x"], others="drop")
