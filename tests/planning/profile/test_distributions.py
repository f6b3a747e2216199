"""Bars of columns, and what few columns single out: against plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

from incrowd.planning.profile import survey as surveying
from incrowd.planning.profile.distributions import distribution
from incrowd.planning.profile.fewest import singled_out_by
from incrowd.planning.profile.survey import survey
from incrowd.sources import open_source


def bars(values: list[Any], most: int = 40) -> dict[str, Any]:
    source = open_source(pl.DataFrame({"c": values}, strict=False))
    return distribution(survey(source).columns["c"], source, most=most)


@pytest.mark.parametrize(
    "values",
    [[1, 2, 2, 3, 100, None], [-5.5, 0.25, 7.125, 7.125], [3], [4, 4, 4], ["17", "18", "18", None], list(range(500))],
)
def test_bins_hold_the_numbers_between_their_bounds(values: list[Any]) -> None:
    found = bars(values)
    numbers = [float(value) for value in values if value is not None]
    assert found["kind"] == "numbers"
    assert len(found["bins"]) <= 41
    for one in found["bins"]:
        assert one["count"] == sum(one["from"] <= number < one["to"] for number in numbers)
    assert sum(one["count"] for one in found["bins"]) == len(numbers)
    assert found["missing"] == len(values) - len(numbers)


def test_values_come_with_the_most_frequent_first() -> None:
    values = ["a"] * 3 + ["b"] * 5 + ["c"] + ["d"] + [None]
    found = bars(values, most=3)
    counts = Counter(value for value in values if value)
    assert [(one["value"], one["count"]) for one in found["values"]] == [("b", 5), ("a", 3), ("c", 1)]
    assert found["others"] == {"values": 1, "count": sum(counts.values()) - 9}


def test_dates_are_counted_by_year() -> None:
    found = bars(["2020-01-05", "2020-12-31", "2021-07-01"])
    assert [(one["value"], one["count"]) for one in found["values"]] == [("2020", 2), ("2021", 1)]


def test_columns_with_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are read again, texts are not shown."""
    monkeypatch.setattr(surveying, "MOST_VALUES", 5)
    numbers = [number / 4 for number in range(40)]
    assert sum(one["count"] for one in bars(numbers)["bins"]) == 40
    assert bars([f"name {number}" for number in range(40)])["kind"] == "none"


def test_few_columns_that_single_out() -> None:
    rows = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [0, 0, 0, 0]}
    coded = survey(open_source(pl.DataFrame(rows))).coded
    found = singled_out_by(coded, ["a", "b", "c"])
    assert found["together"]["unique_rows"] == 4
    assert set(found["fewest"][-1]["columns"]) == {"a", "b"}
    for step in found["fewest"]:
        tuples = Counter(zip(*(rows[name] for name in step["columns"]), strict=True))
        assert step["unique_rows"] == sum(count == 1 for count in tuples.values())
        assert (step["groups"], step["k"]) == (len(tuples), min(tuples.values()))
