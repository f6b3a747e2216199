"""A release: all rows accounted for, in the caller's own kind, and nothing told by their order."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.engine import PublishedRows
from incrowd.engines import local
from incrowd.errors import ConformanceError, SourceError
from incrowd.methods.full_domain import FullDomain

CHECKED = settings(deadline=None, derandomize=True, database=None, max_examples=18)
METHODS = [
    ic.Mondrian(),
    ic.Mondrian(cuts="relaxed"),
    ic.Mondrian(labels="hierarchy"),
    ic.Mondrian(labels="tight"),
    FullDomain(max_withheld=0.4),  # withholds rows
]

rows = st.lists(
    st.tuples(
        st.none() | st.integers(18, 30) | st.just(math.nan),
        st.sampled_from(["F", "M", None]),
        st.sampled_from(["flu", "hiv", None]),
    ),
    min_size=3,
    max_size=40,
)


def people(found: list[tuple]) -> pl.DataFrame:
    schema = {"age": pl.Float64, "sex": pl.String, "ill": pl.String}
    table = pl.DataFrame(found, schema=schema, orient="row", strict=False)
    return table.with_columns(number=pl.arange(table.height, eager=True))


def publish(table: Any, *, method: ic.Method | None = None, **roles: Any) -> ic.Release:
    opened = ic.read(table, **{"quasi": ["age", "sex"], "sensitive": ["ill"], "others": "drop", **roles})
    return ic.publish(opened, ic.KAnonymity(3), method=method)


@CHECKED
@given(rows, st.sampled_from(METHODS), st.integers(1, 9))
def test_rows_in_are_rows_published_and_rows_withheld(
    found: list[tuple], method: ic.Method, rows_per_batch: int
) -> None:
    release = publish(people(found), method=method)
    data = release.to_polars()
    assert release.rows_in == len(found)
    assert release.rows_in == release.rows + release.withheld
    assert data.height == release.rows == release.summary["rows"]["published"]
    sizes = data.group_by("age", "sex").len()["len"]
    assert sizes.min() == release.guarantees[0].achieved
    assert sorted(sizes) == sorted(release.form.group_sizes.tolist())
    if release.withheld == 0:
        assert Counter(data["ill"]) == Counter(row[2] for row in found)
    with pytest.MonkeyPatch.context() as patch:  # many batches publish what one batch does
        patch.setattr(local, "ROWS_PER_BATCH", rows_per_batch)
        batches = list(release.batches())
    assert all(batch.height <= rows_per_batch for batch in batches)
    assert pl.concat(batches).equals(data)


@CHECKED
@given(rows, st.sampled_from(METHODS), st.integers(1, 20))
def test_kept_columns_stay_with_their_rows(found: list[tuple], method: ic.Method, rows_per_scan: int) -> None:
    table = people(found)
    release = publish(table, method=method, keep=["number"])
    data = release.to_polars()
    assert data["number"].n_unique() == data.height == release.rows
    trees, shown = release.form.tally.trees, release.form.shown
    for row in data.iter_rows(named=True):
        original = table.row(row["number"], named=True)
        assert row["ill"] == original["ill"]
        for name in ("age", "sex"):
            values = trees[name].values.to_list()
            value = None if original[name] != original[name] else original[name]
            labels, place = shown.labels[name].to_list(), shown.columns.index(name)
            held = [
                values[shown.lows[group, place] : shown.highs[group, place]]
                for group, label in enumerate(labels)
                if label == row[name]
            ]
            assert any(value in run for run in held)
    assert data.group_by("age", "sex").len()["len"].min() >= 3
    with pytest.MonkeyPatch.context() as patch:  # many scans publish what one scan does
        patch.setattr(local, "ROWS_PER_SCAN", rows_per_scan)
        batches = list(release.batches())
    assert pl.concat(batches).sort(data.columns).equals(data.sort(data.columns))


@CHECKED
@given(rows, st.randoms(use_true_random=False), st.sampled_from(METHODS), st.booleans())
def test_the_order_of_rows_leaves_no_trace(found: list[tuple], random: Any, method: ic.Method, keeping: bool) -> None:
    table = people(found)
    roles = {"keep": ["number"]} if keeping else {}
    order = list(range(len(found)))
    random.shuffle(order)
    expected = publish(table, method=method, **roles).to_polars()
    assert publish(table[order], method=method, **roles).to_polars().equals(expected)


def test_published_rows_are_sorted_by_what_they_show() -> None:
    # Two people of each age: every group holds several ages, and its rows must not follow them.
    table = people([(age, "F", ill) for age in range(40, 20, -1) for ill in ("hiv", "flu")])
    data = publish(table, keep=["number"]).to_polars()
    groups = data.partition_by("age", maintain_order=True)
    assert 3 < len(groups) < 14
    shown = [group["age"][0] for group in groups]
    assert shown == sorted(shown, key=lambda label: ("<[>".index(label[0]), label))
    for group in groups:
        assert group.equals(group.sort("ill", "number"))


def frames() -> dict[str, Any]:
    table = people([(age, "F", "flu") for age in (20, 20, 20, 30, 30, 30)])
    plain = table.to_pandas()
    plain.index = pd.Index([7, 7, 3, 3, 1, 0])  # never a row number, never unique
    return {"polars": table, "polars-lazy": table.lazy(), "pandas": plain, "pyarrow": table.to_arrow()}


@pytest.mark.parametrize(
    ("kind", "cls"),
    [("polars", pl.DataFrame), ("polars-lazy", pl.LazyFrame), ("pandas", pd.DataFrame), ("pyarrow", pa.Table)],
)
@pytest.mark.parametrize("keep", [[], ["number"]])
def test_the_data_are_of_the_caller_s_own_kind(kind: str, cls: type, keep: list[str]) -> None:
    release = publish(frames()[kind], keep=keep)
    assert isinstance(release.data, cls)
    expected = publish(frames()["polars"], keep=keep).data
    given_back = {"polars-lazy": lambda: release.data.collect(), "polars": lambda: release.data}
    back = given_back.get(kind, lambda: pl.DataFrame(release.data))()
    assert back.equals(expected)
    if kind == "pandas":
        assert release.data.index.tolist() == list(range(6))


def test_the_caller_s_frame_is_never_changed() -> None:
    for kind, frame in frames().items():
        before = frame.copy() if kind == "pandas" else frame
        publish(frame, keep=["number"]).data  # noqa: B018
        same = (
            before.equals(frame)
            if kind in ("pandas", "polars", "pyarrow")
            else before.collect().equals(frame.collect())
        )
        assert same


def test_files_and_databases_give_polars(tmp_path: Path) -> None:
    people([(20, "F", "flu")] * 4).write_csv(tmp_path / "people.csv")
    assert isinstance(publish(tmp_path / "people.csv").data, pl.DataFrame)


def test_sensitive_columns_keep_their_type() -> None:
    table = people([(20, "F", "flu")] * 4).with_columns(ill=pl.Series([True, False, None, True]))
    assert publish(table).data["ill"].dtype == pl.Boolean


@CHECKED
@given(rows, st.sampled_from(METHODS))
def test_the_summary_is_json_without_nan_and_without_values(found: list[tuple], method: ic.Method) -> None:
    table = people(found).with_columns(ill=pl.col("ill").replace({"flu": "SECRET"}))
    release = publish(table, method=method, keep=["number"])
    text = json.dumps(release.summary, allow_nan=False)
    assert "SECRET" not in text + repr(release)
    assert json.loads(text)["groups"]["number"] == len(release.form.shown)


@pytest.mark.parametrize("values", [[math.inf, -math.inf, 1.0], [math.inf] * 3, [math.nan] * 3, [1e308, -1e308, 0.0]])
def test_numbers_without_measure_leave_no_nan_in_the_summary(values: list[float]) -> None:
    table = pl.DataFrame({"age": values * 2, "sex": ["F", "M"] * 3, "ill": ["flu"] * 6})
    release = publish(table)
    assert 0 <= json.loads(json.dumps(release.summary, allow_nan=False))["loss"]["gcp"] <= 1


def test_numpy_parameters_are_written_as_numbers(tmp_path: Path) -> None:
    opened = ic.read(people([(20, "F", "flu"), (20, "F", "hiv")]), quasi=["age"], sensitive=["ill"], others="drop")
    release = ic.publish(opened, ic.EntropyLDiversity(np.int64(2)))
    release.save(tmp_path / "out")
    assert release.summary["guarantees"][0]["parameters"] == {"l": 2, "column": None, "missing": "ignored"}


def test_warnings_say_what_no_guarantee_covers() -> None:
    release = publish(people([(20, "F", "flu")] * 4), method=ic.Mondrian(labels="tight"), keep=["number"])
    assert [text.split(":")[0] for text in release.warnings] == [
        "Labels are tight ranges",
        "Sensitive columns that no model speaks of",
        "Columns published as they are, outside of every guarantee",
        "Column 'number' kept as it is",
    ]


def changed_file(tmp_path: Path, before: list[tuple], after: list[tuple]) -> ic.Release:
    """A release of a file that becomes another one before its rows are read the second time."""
    people(before).write_csv(tmp_path / "people.csv")
    release = publish(tmp_path / "people.csv", keep=["number"])
    people(after).write_csv(tmp_path / "people.csv")
    return release


COUNTED = [(20, "F", "flu")] * 4 + [(30, "M", "hiv")] * 4


@pytest.mark.parametrize(
    "after",
    [
        COUNTED[:-1],  # one fewer
        [*COUNTED, COUNTED[0]],  # one more in the first group
        [*COUNTED, COUNTED[-1]],  # one more in the last group
        [COUNTED[0]] * 3 + [COUNTED[-1]] * 5,  # as many, but one has changed sides
        [*COUNTED[:-1], (99, "X", "new")],  # as many, but one is new
        [],
    ],
    ids=["fewer", "more in the first", "more in the last", "moved", "new", "none"],
)
@pytest.mark.parametrize("rows_per_scan", [8_000_000, 3])
def test_a_source_that_changes_meanwhile_is_not_published(
    tmp_path: Path, after: list[tuple], rows_per_scan: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = changed_file(tmp_path, COUNTED, after)
    monkeypatch.setattr(local, "ROWS_PER_SCAN", rows_per_scan)
    with pytest.raises((SourceError, ConformanceError)):
        release.save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_source_that_is_gone_meanwhile_is_told(tmp_path: Path) -> None:
    release = changed_file(tmp_path, COUNTED, COUNTED)
    (tmp_path / "people.csv").unlink()
    with pytest.raises(SourceError, match=r"people\.csv: the file is gone since it was opened"):
        release.to_polars()


def test_rows_that_do_not_add_up_are_a_fault() -> None:
    release = publish(people(COUNTED))

    class TooFew(PublishedRows):
        def batches(self) -> Iterator[pl.DataFrame]:
            yield release.generalized.lines().head(1)

    object.__setattr__(release, "published", TooFew())
    with pytest.raises(ConformanceError, match="1 rows came out where 8 were checked"):
        release.to_polars()


@pytest.mark.parametrize(
    ("sizes", "distribution"),
    [([], {}), ([1, 1, 2], {"1": 2, "2": 1}), ([3, 4, 5, 8, 9, 1000], {"3-4": 2, "5-8": 2, "9-16": 1, "513-1024": 1})],
)
def test_sizes_are_counted_by_powers_of_two(sizes: list[int], distribution: dict[str, int]) -> None:
    from incrowd.common.plain import size_distribution

    assert size_distribution(np.array(sizes, dtype=np.int64)) == distribution
