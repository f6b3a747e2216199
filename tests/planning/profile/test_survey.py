"""Reading a table for its profile: in memory or as a stream, with the same result."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import EmptyTable
from incrowd.planning.profile import survey as survey_module
from incrowd.planning.profile.survey import Survey, survey
from incrowd.sources import open_source


def surveyed(source: object) -> Survey:
    return survey(open_source(source))


def test_what_is_counted() -> None:
    found = surveyed(pl.DataFrame({"age": [30, 30, None, 50], "sex": ["F", "M", "F", "F"]}))
    age, sex = found.columns["age"], found.columns["sex"]
    assert (found.rows, age.missing, age.distinct, age.distinct_exact, age.look) == (4, 1, 2, True, "integer")
    assert (age.low, age.high) == (30, 50)
    assert (sex.look, sex.values.to_list(), sex.largest_share) == ("text", ["F", "M"], 0.75)
    assert age.largest_share == 0.5


@pytest.mark.parametrize(
    ("values", "look"),
    [
        (["1", "22", "-3"], "integer"),
        (["1.5", "2"], "number"),
        (["007", "12"], "text"),
        (["2020-01-31", "1999-12-01"], "date"),
        (["2020-01-31 10:00:00", "1999-12-01 11:30:00"], "date"),
        (["1", "x"], "text"),
        ([True, False], "truth"),
        ([1.5, float("nan")], "number"),
    ],
)
def test_what_values_look_like(values: list[object], look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"x": values})
    assert surveyed(frame).columns["x"].look == look
    # As if there were many more values than can be looked at one by one.
    monkeypatch.setattr(survey_module, "MOST_VALUES", 1)
    many = surveyed(frame).columns["x"]
    if many.distinct > 1:
        assert not many.complete
    assert many.look == look


def test_one_odd_value_among_many_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "MOST_VALUES", 10)
    monkeypatch.setattr(survey_module, "SAMPLED_ROWS", 20)
    numbers = [str(i) for i in range(1000)]
    assert surveyed(pl.DataFrame({"x": numbers})).columns["x"].look == "integer"
    odd = surveyed(pl.DataFrame({"x": [*numbers, "many"]})).columns["x"]
    assert (odd.look, odd.complete) == ("text", False)
    assert len(odd.values) <= 10


def test_a_stream_gives_what_memory_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    ic.datasets.messy_patients(500).write_csv(path)
    whole = surveyed(path)
    assert not whole.coded.is_sample
    monkeypatch.setattr(survey_module, "EXACT_ROWS", 200)
    streamed = surveyed(path)
    assert streamed.coded.is_sample
    assert streamed.rows == 500
    assert 100 < streamed.coded.rows < 300
    for name, facts in whole.columns.items():
        again = streamed.columns[name]
        assert (again.missing, again.look, again.distinct) == (facts.missing, facts.look, facts.distinct), name
        assert again.values.equals(facts.values)


def test_many_distinct_values_of_a_large_table_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "EXACT_ROWS", 1_000)
    monkeypatch.setattr(survey_module, "MOST_VALUES", 100)
    facts = surveyed(pl.DataFrame({"x": [f"code {i}" for i in range(20_000)]})).columns["x"]
    assert not facts.distinct_exact
    assert facts.distinct == pytest.approx(20_000, rel=0.1)
    assert facts.counts is None


def test_a_very_wide_table_is_coded_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "MOST_CELLS", 4_000)
    found = surveyed(pl.DataFrame({f"x{i}": range(1_000) for i in range(8)}))
    assert found.coded.is_sample
    assert 350 < found.coded.rows < 650


def test_a_table_too_large_for_memory_is_streamed_and_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "MOST_BYTES", 10)
    found = surveyed(ic.datasets.census(300))
    assert not found.coded.is_sample
    assert found.columns["sex"].distinct == 2


def test_names_that_are_used_inside_do_not_clash() -> None:
    found = surveyed(
        pl.DataFrame({"c1": [1, 2], "row": ["a", "b"], "column": [1, 1], "value": ["x", "y"], "len": [1, 2]})
    )
    assert {name: facts.distinct for name, facts in found.columns.items()} == {
        "c1": 2,
        "row": 2,
        "column": 1,
        "value": 2,
        "len": 2,
    }


def test_a_table_without_rows_is_an_error() -> None:
    with pytest.raises(EmptyTable):
        surveyed(pl.DataFrame({"age": []}, schema={"age": pl.Int64}))
