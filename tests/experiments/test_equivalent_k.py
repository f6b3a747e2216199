"""Max.k and Avg.k: against trying every k, and against confidences worked out row by row."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable
from incrowd.experiments.equivalent_k import MaxK, avg_k, max_k, unsatisfied_share
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.intervals import Intervals


def frames_of(most_rows: int) -> st.SearchStrategy[pl.DataFrame]:
    return st.lists(
        st.tuples(st.integers(18, 60), st.sampled_from("FM"), st.sampled_from(["flu", "hiv", "ok"])),
        min_size=6,
        max_size=most_rows,
    ).map(lambda rows: pl.DataFrame(rows, schema=["age", "sex", "ill"], orient="row"))


def opened(frame: pl.DataFrame) -> ic.Table:
    return ic.read(frame, quasi=["age", "sex"], sensitive=["ill"], hierarchies={"age": Intervals(widths=(5, 10))})


def counted(table: ic.Table) -> Tally:
    return table.engine.count(table.schema).tally


def naive_share(frame: pl.DataFrame, release: Generalized) -> float:
    """Work out expected and observed confidence of every published row from the definition."""
    people = frame.to_dicts()
    trees = release.tally.trees
    broken = 0
    for group, (code,), rows in zip(release.groups, release.sensitive, release.counts, strict=True):
        value = trees["ill"].values[int(code)]
        probability = sum(row["ill"] == value for row in people) / len(people)
        for place, name in enumerate(release.shown.columns):
            low, high = int(release.shown.lows[group, place]), int(release.shown.highs[group, place])
            labels = set(trees[name].values[low:high].to_list())
            probability *= sum(row[name] in labels for row in people) / len(people)
        expected = 1 - (1 - probability) ** len(people)
        members = release.groups == group
        observed = rows / release.counts[members].sum()
        broken += int(rows) * (observed > expected)
    return broken / release.rows


@settings(max_examples=18)
@given(frame=frames_of(40), k=st.integers(1, 6))
def test_rows_that_break_the_criterion(frame: pl.DataFrame, k: int) -> None:
    table = opened(frame)
    release = ic.publish(table, ic.KAnonymity(k)).generalized
    share = unsatisfied_share(counted(table), release, [ic.ExpectedConfidence()])
    assert share == pytest.approx(naive_share(frame, release))


@settings(max_examples=5)
@given(frame=frames_of(24), labels=st.sampled_from(["region", "hierarchy"]))
def test_max_k_is_the_smallest_of_all(frame: pl.DataFrame, labels: str) -> None:
    table = opened(frame)
    tally, method = counted(table), ic.Mondrian(labels=labels)
    meeting = [
        k
        for k in range(1, tally.rows + 1)
        if naive_share(frame, ic.publish(table, ic.KAnonymity(k), method=method).generalized) == 0
    ]
    if not meeting:
        with pytest.raises(Unsatisfiable, match="no k is enough"):
            max_k(tally, table.schema, [ic.ExpectedConfidence()], method=method)
        return
    assert max_k(tally, table.schema, [ic.ExpectedConfidence()], method=method, patience=None) == meeting[0]
    # With little patience it is one of them, and the k below it is not.
    found = max_k(tally, table.schema, [ic.ExpectedConfidence()], method=method, patience=1)
    assert found in meeting
    assert found - 1 not in meeting


def test_models_that_judge_whole_groups() -> None:
    frame = pl.DataFrame({"age": [20, 20, 40, 40, 40], "sex": ["F"] * 5, "ill": ["flu", "hiv", "ok", "ok", "ok"]})
    table = opened(frame)
    tally = counted(table)
    release = ic.publish(table, ic.KAnonymity(2)).generalized
    assert unsatisfied_share(tally, release, [ic.LDiversity(2)]) == 0.6
    # A row that breaks two models is one row.
    assert unsatisfied_share(tally, release, [ic.LDiversity(2), ic.KAnonymity(3)]) == 1.0
    assert unsatisfied_share(tally, release, [ic.KAnonymity(2)]) == 0.0
    assert max_k(tally, table.schema, [ic.LDiversity(2)]) == 3
    with pytest.raises(Unsatisfiable, match=r"all 5 rows in one group do not satisfy .*: no k is enough"):
        max_k(tally, table.schema, [ic.LDiversity(4)])


def test_one_row_and_one_value() -> None:
    alone = opened(pl.DataFrame({"age": [20], "sex": ["F"], "ill": ["flu"]}))
    assert max_k(counted(alone), alone.schema, [ic.ExpectedConfidence()]) == 1
    same = opened(pl.DataFrame({"age": [20, 50] * 20, "sex": ["F", "M"] * 20, "ill": ["flu"] * 40}))
    found = max_k(counted(same), same.schema, [ic.ExpectedConfidence()], patience=None)
    assert found > 20  # nobody is ever sure to meet half of the people


def test_avg_k_is_the_mean_group_size() -> None:
    table = opened(pl.DataFrame({"age": [20] * 4 + [50] * 7, "sex": ["F"] * 11, "ill": ["flu"] * 11}))
    release = ic.publish(table, ic.KAnonymity(2), method=ic.LocalRecoding()).generalized
    assert sorted(release.group_sizes.tolist()) == [4, 7]
    assert avg_k(release) == 6  # 5.5, to the even


def test_as_a_metric() -> None:
    table = opened(
        pl.DataFrame({"age": [20, 20, 40, 40, 40], "sex": ["F"] * 5, "ill": ["flu", "hiv", "ok", "ok", "ok"]})
    )
    release = ic.publish(table, ic.KAnonymity(2)).generalized
    assert MaxK(require=(ic.LDiversity(2),)).measure(counted(table), release) == 3.0
    assert MaxK().measure(counted(table), release) >= 1.0


def test_it_agrees_with_publishing_on_the_census() -> None:
    table = ic.read(ic.datasets.census(3000), quasi=["age", "sex", "race"], sensitive=["salary"], others="drop")
    k = max_k(counted(table), table.schema, [ic.ExpectedConfidence()])
    above = ic.publish(table, ic.KAnonymity(k)).generalized
    below = ic.publish(table, ic.KAnonymity(k - 1)).generalized
    assert unsatisfied_share(counted(table), above, [ic.ExpectedConfidence()]) == 0
    assert unsatisfied_share(counted(table), below, [ic.ExpectedConfidence()]) > 0
    assert np.diff(above.group_sizes).size
