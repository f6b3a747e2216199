"""Files of SPSS, Stata and SAS: labels are shown, codes for missing are missing, and no row changes another."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.core.codebook import Codebook, Variable, shared
from incrowd.errors import SourceError
from incrowd.sources import open_source, read_rows

SEX = {1: "male", 2: "female", -9: "refused"}


def spss(path: Path, frame: pl.DataFrame, **said: Any) -> Path:
    pyreadstat.write_sav(frame, str(path), **said)
    return path


def column(path: Path, name: str, **options: Any) -> list[object]:
    return read_rows(open_source(path, **options))[name].to_list()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    frame = pl.DataFrame(
        {"sex": [1, 2, -9, None, 3], "age": [34, 99, 41, None, 18], "code": ["007", "", "é", "x", "y"]}
    )
    return spss(
        tmp_path / "people.sav",
        frame,
        variable_value_labels={"sex": SEX, "age": {99: "99 or older"}, "code": {"x": "ex", "y": "why"}},
        missing_ranges={"sex": [-9]},
        column_labels={"sex": "Sex of the person"},
        variable_measure={"sex": "nominal", "age": "scale", "code": "nominal"},
    )


# --- how values are shown ---


def test_labels_are_shown_and_codes_for_missing_are_missing(people: Path) -> None:
    assert column(people, "sex") == ["male", "female", None, None, "3"]


def test_a_number_with_one_label_stays_a_number(people: Path) -> None:
    assert column(people, "age") == [34, 99, 41, None, 18]


def test_texts_have_labels_too_and_empty_ones_are_missing(people: Path) -> None:
    assert column(people, "code") == ["007", None, "é", "ex", "why"]


def test_codes_and_values_where_they_are_asked_for(people: Path) -> None:
    assert column(people, "sex", value_labels="codes") == [1, 2, None, None, 3]
    assert column(people, "sex", missing_codes="values") == ["male", "female", "refused", None, "3"]
    assert column(people, "sex", value_labels="codes", missing_codes="values") == [1, 2, -9, None, 3]


def test_a_scale_keeps_its_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"mood": [1, 5, 10]})
    ends = {"mood": {1: "never", 10: "always"}}
    path = spss(tmp_path / "a.sav", frame, variable_value_labels=ends, variable_measure={"mood": "scale"})
    assert column(path, "mood") == [1, 5, 10]
    assert column(spss(tmp_path / "b.sav", frame, variable_value_labels=ends), "mood") == ["never", "5", "always"]


def test_labels_that_are_the_same_stay_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame({"job": [1, 2, 3, 4]})
    path = spss(tmp_path / "a.sav", frame, variable_value_labels={"job": {1: "other", 2: "other ", 3: "4"}})
    assert column(path, "job") == ["other (1)", "other (2)", "4", "4 (code)"]


def test_what_the_file_says_is_kept_beside_the_rows(people: Path) -> None:
    book = open_source(people).codebook
    assert book is not None
    assert book.of("sex").label == "Sex of the person"
    assert book.of("sex").labels == SEX
    assert book.of("sex").missing == ((-9, -9),)
    assert book.of("nothing") == Variable()
    assert shared([book, book]) == book
    assert shared([book, Codebook({})]) == Codebook({}, "SPSS")


def test_runs_of_codes_and_texts_for_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [1.0, 97.0, 98.5, 99.0], "t": ["a", "NK", "b", "c"]})
    path = spss(tmp_path / "a.sav", frame, missing_ranges={"n": [{"lo": 97, "hi": 99}], "t": ["NK"]})
    assert column(path, "n") == [1, None, None, None]
    assert column(path, "t") == ["a", None, "b", "c"]


# --- programs ---


def test_dates_and_numbers_of_each_program(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "born": [date(1948, 2, 29), None],
            "seen": [datetime(2020, 1, 2, 3, 4, 5, 123000), None],
            "whole": [2**40, None],
            "part": [0.1, None],
            "text": ["0012", "漢"],
        }
    )
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"))
    pyreadstat.write_xport(frame, str(tmp_path / "a.xpt"))
    for path in (
        spss(tmp_path / "a.sav", frame),
        spss(tmp_path / "a.zsav", frame),
        tmp_path / "a.dta",
        tmp_path / "a.xpt",
    ):
        read = read_rows(open_source(path))
        assert read.rows() == frame.rows(), path
        assert read.dtypes == [pl.Date, pl.Datetime("us"), pl.Int64, pl.Float64, pl.String]


def test_portable_file(tmp_path: Path) -> None:
    pyreadstat.write_por(pl.DataFrame({"AGE": [34, 41], "JOB": ["nurse", "cook"]}), str(tmp_path / "a.por"))
    assert read_rows(open_source(tmp_path / "a.por")).rows() == [(34, "nurse"), (41, "cook")]


def test_letters_for_missing_of_stata_are_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"job": pl.Series([1, 2, "a"], dtype=pl.Object)})
    labels = {"job": {1: "cook", 2: "nurse", "a": "refused"}}
    pyreadstat.write_dta(
        frame, str(tmp_path / "a.dta"), variable_value_labels=labels, missing_user_values={"job": ["a"]}
    )
    assert column(tmp_path / "a.dta", "job") == ["cook", "nurse", None]


def test_no_rows_and_columns_without_values(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Float64, "b": pl.String})
    assert read_rows(open_source(spss(tmp_path / "none.sav", frame))).shape == (0, 2)
    empty = pl.DataFrame({"a": [None, None], "b": [None, None]}, schema={"a": pl.Float64, "b": pl.String})
    assert read_rows(open_source(spss(tmp_path / "empty.sav", empty))).rows() == [(None, None)] * 2


# --- errors ---


def test_a_damaged_file_is_called_that(people: Path) -> None:
    people.write_bytes(people.read_bytes()[:200])
    with pytest.raises(SourceError, match=r"the file of SPSS cannot be read.*damaged"):
        open_source(people)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value_labels": "names"}, "value_labels= is 'text' or 'codes'"),
        ({"missing_codes": True}, "missing_codes= is 'missing' or 'values'"),
        ({"sheet": "a"}, "file of SPSS, so sheet= cannot be used"),
        ({"separator": ";"}, "so separator= cannot be used"),
    ],
)
def test_options_that_mean_nothing(people: Path, options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(people, **options)


def test_labels_are_no_option_of_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="value_labels= cannot be used"):
        open_source(tmp_path / "a.csv", value_labels="codes")


# --- generated files, held against a naive reading ---

CODES = st.one_of(st.none(), st.integers(-3, 9))
LABELS = st.dictionaries(st.integers(-3, 9), st.sampled_from(["yes", "no", "no ", "4", "é漢", "a b"]), max_size=6)


def naive(codes: list[int | None], labels: dict[int, str], missing: list[int]) -> list[object]:
    """Read cell by cell, as the documents say."""
    ordinary = {code: text.strip() for code, text in labels.items() if code not in missing}
    texts = {c: f"{t} ({c})" if list(ordinary.values()).count(t) > 1 else t for c, t in ordinary.items()}
    known = [None if code is None or code in missing else code for code in codes]
    if len(ordinary) < 2:
        return list(known)
    return [
        None if code is None else texts.get(code, f"{code} (code)" if str(code) in texts.values() else str(code))
        for code in known
    ]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(codes=st.lists(CODES, min_size=1, max_size=12), labels=LABELS, missing=st.lists(st.integers(-3, -1), max_size=2))
def test_generated_labels_are_read_as_the_documents_say(
    tmp_path: Path, codes: list[int | None], labels: dict[int, str], missing: list[int]
) -> None:
    frame = pl.DataFrame({"a": pl.Series(codes, dtype=pl.Float64), "b": ["x"] * len(codes)})
    said: dict[str, Any] = {"variable_value_labels": {"a": labels}} if labels else {}
    if missing:
        said["missing_ranges"] = {"a": sorted(set(missing))}
    found = column(spss(tmp_path / "a.sav", frame, **said), "a")
    assert found == naive(codes, labels, missing)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(codes=st.lists(CODES, min_size=2, max_size=8), labels=LABELS)
def test_a_row_more_changes_no_other_row(tmp_path: Path, codes: list[int | None], labels: dict[int, str]) -> None:
    said: dict[str, Any] = {"variable_value_labels": {"a": labels}} if labels else {}
    whole = pl.DataFrame({"a": pl.Series(codes, dtype=pl.Float64), "b": ["x"] * len(codes)})
    less = column(spss(tmp_path / "less.sav", whole[1:], **said), "a")
    assert column(spss(tmp_path / "whole.sav", whole, **said), "a")[1:] == less
