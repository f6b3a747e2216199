"""An audit tells of nobody: no count of fewer than five people, and no combination that somebody is alone with."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.auditing.group_summary import _joined
from incrowd.auditing.suppression import FEW, MOST_BARS, bars, told
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact
from tests.auditing.audit_cases import inhabitants, opened

pytestmark = pytest.mark.usefixtures("few_queries")

VALUES = {
    "numbers": st.one_of(st.none(), st.integers(0, 60)),
    "names": st.one_of(st.none(), st.sampled_from("abcdefghij")),
    "many names": st.one_of(st.none(), st.integers(0, 200).map(lambda number: f"n{number}")),
}


@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=18)
@given(data=st.data())
def test_no_bar_and_no_difference_of_bars_is_a_few_people(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES[kind], min_size=1, max_size=120))
    dtype = pl.Int64 if kind == "numbers" else pl.String
    tree, codes = (Automatic() if kind == "numbers" else Exact()).build("c", pl.Series(values, dtype=dtype))
    before = np.bincount(codes, minlength=tree.size)
    labels, bar_of = bars(tree, before, before > 0)
    assert len(labels) <= MOST_BARS + 2
    assert bar_of.min() >= 0
    assert bar_of.max() < len(labels)
    people = np.bincount(bar_of, weights=before, minlength=len(labels))
    assert people.sum() == len(values)
    if len(values) >= FEW:
        assert not ((people > 0) & (people < FEW)).any()
    else:
        assert (people > 0).sum() == 1


def test_a_bar_of_a_frequent_name_is_that_name_alone() -> None:
    values = pl.Series(["a"] * 10 + ["b"] * 7 + ["c"] * 6 + ["d"] * 2)
    tree, codes = Exact().build("c", values)
    before = np.bincount(codes, minlength=tree.size)
    labels, bar_of = bars(tree, before, before > 0)
    assert labels == ["a", "b", "all others"]  # c is shown with d, or d would be what is left
    assert [labels[bar_of[code]] for code in codes[[0, 10, 17, 23]]] == ["a", "b", "all others", "all others"]


def test_bars_name_no_value_that_the_release_does_not_show() -> None:
    tree, codes = Exact().build("c", pl.Series(["a"] * 10 + ["b"] * 7 + ["c"] * 6))
    before = np.bincount(codes, minlength=tree.size)
    labels, _ = bars(tree, before, np.array([True, True, False, True]))
    assert labels == ["a", "c", "all others"]
    tree, codes = Automatic().build("c", pl.Series([10 * number + 3 for number in range(60)] * 5))
    before = np.bincount(codes, minlength=tree.size)
    shown = np.arange(tree.size) % 4 == 0
    labels, bar_of = bars(tree, before, shown)
    unseen = set(tree.values.filter(~pl.Series(shown)).drop_nulls().to_list())
    assert not unseen & {int(number) for label in labels for number in re.findall(r"\d+", label)}
    assert len(labels) > 3
    assert np.bincount(bar_of, before, len(labels)).sum() == 300


@given(st.lists(st.integers(0, 12), min_size=9, max_size=9))
def test_chances_of_a_few_people_are_joined(counts: list[int]) -> None:
    bounds = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.34, 0.51, 1.0]
    found = _joined([0.0, *bounds[:-1]], bounds, [float(count) for count in counts])
    assert sum(count for _, _, count in found) == sum(counts)
    if sum(counts) >= FEW:
        assert not any(0 < count < FEW for _, _, count in found)
    assert found[0][0] == 0.0
    assert found[-1][1] == 1.0
    assert all(one[1] == two[0] for one, two in pairwise(found))


def test_counts_below_a_handful_are_not_told() -> None:
    assert [told(count) for count in (0, 1, 4, 4.9, 5, 100)] == [0, None, None, None, 5, 100]


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), rows=st.integers(12, 90), k=st.integers(1, 6))
def test_no_audit_tells_of_a_few_people(seed: int, rows: int, k: int) -> None:
    frame = inhabitants(rows, seed=seed)
    release = ic.publish(opened(frame), ic.KAnonymity(k), seed=0)
    found = json.loads(release.audit(remedies=False, learn=False).to_json())
    for column in found["usefulness"]["columns"]:
        shares = [bar["before"] for bar in column["bars"]]
        people = [share * rows for share in [*shares, 1 - sum(shares)]]
        assert not any(0.01 < count < FEW - 0.01 for count in people), column
    for entry in found["crowds"]["risk by record"]:
        assert not 0.01 < entry["share"] * rows < FEW - 0.01, entry
    for rung in found["ladder"]:
        assert all(rung[when] is None or rung[when] == 0 or rung[when] >= FEW for when in ("before", "after"))
    for groups in found["crowds"]["worst groups"].values():
        assert all(group["rows"] is None or group["rows"] >= FEW for group in groups)


def test_rungs_hide_just_those_that_the_table_has_few_of() -> None:
    frame = inhabitants(200, seed=5)
    found = ic.publish(opened(frame), ic.KAnonymity(3), seed=0).audit(remedies=False, learn=False)
    assert found.ladder[0]["learnt"] == "nothing"
    assert found.ladder[0]["before"] == 200
    assert found.ladder[-1]["before"] is None  # somebody who stands out most


@pytest.mark.parametrize("method", [ic.Mondrian(), ic.Mondrian(labels="tight"), ic.FullDomain()], ids=repr)
def test_nobody_who_is_alone_is_on_the_page(method: Any) -> None:
    frame = inhabitants(150, missing=False).with_columns(pl.lit("x").alias("sex"))
    frame = frame.with_columns(pl.format("town-{}", pl.int_range(pl.len()) // 2).alias("town"))
    table = opened(frame, hierarchies={})
    audit = ic.publish(table, ic.KAnonymity(3), method=method, seed=0).audit(remedies=False, learn=False)
    page, text = audit.to_html(), audit.to_json()
    rare = [town for town, times in Counter(frame["town"]).items() if times < FEW]
    assert len(rare) == 75
    assert not [town for town in rare if f'"{town}"' in text or f">{town}<" in page]
