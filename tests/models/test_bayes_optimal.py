from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, SchemaError
from incrowd.hierarchies.flat import Exact, Flat
from incrowd.models.bayes_optimal import (
    breaches,
    class_prior,
    estimate_joint,
    posterior,
    prior,
)
from tests.models import bayes_optimal_oracle
from tests.models.bayes_optimal_oracle import audit_bayes_optimal
from tests.models.crowds import CHECKED

COLD, FLU, HIV = 0, 1, 2
KNOWN = np.array([[0.1, 0.01, 0.14], [0.083, 0.083, 0.083]])
"""f of Don and Sue (Senellart, the example of Bayes-optimal privacy)."""


def test_worked_example() -> None:
    """Senellart: Don in the class {Don, Sue}, which shows Cold and HIV."""
    before = prior(KNOWN)
    assert before[0] == pytest.approx([0.4, 0.04, 0.56])
    assert before[1] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    together = np.zeros(2, dtype=np.int64)
    assert class_prior(before, together, 1)[0] == pytest.approx([0.73, 0.37, 0.89], abs=0.005)
    after = posterior(before, together, np.array([[1.0, 0.0, 1.0]]))
    assert after[0, FLU] == 0
    assert after[0, [COLD, HIV]] == pytest.approx([0.46, 0.54], abs=0.009)  # 0.4634 and 0.5366; the slide cuts off
    assert breaches(before, after, 0.06).tolist() == [True, True]
    assert breaches(before, after, 0.07).tolist() == [False, True]  # Sue cannot have the flu either: 0.33 to 0


def test_a_change_of_exactly_tau_is_a_breach() -> None:
    assert breaches(np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]]), 0.3).tolist() == [True]
    assert breaches(np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]]), 0.31).tolist() == [False]


def test_a_class_that_shows_what_was_expected_tells_nothing() -> None:
    before = prior(np.array([[0.2, 0.8], [0.6, 0.4]]))
    after = posterior(before, np.zeros(2, dtype=np.int64), before.sum(axis=0, keepdims=True))
    assert after == pytest.approx(before)


def test_who_is_alone_shows_everything() -> None:
    after = posterior(np.array([[0.5, 0.5]]), np.array([0]), np.array([[0.0, 1.0]]))
    assert after.tolist() == [[0, 1]]


def test_knowledge_that_the_release_refutes_gives_way_to_it() -> None:
    after = posterior(np.array([[1.0, 0.0, 0.0]]), np.array([0]), np.array([[0.0, 3.0, 1.0]]))
    assert after.tolist() == [[0, 0.75, 0.25]]


def counted(rows: list[tuple[Any, ...]]) -> Tally:
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "zip": pl.String, "ill": pl.String}, orient="row")
    distinct = frame.group_by(frame.columns, maintain_order=True).len()
    counts = distinct["len"].cast(pl.Int64).to_numpy()
    tally, _ = code_table(distinct.drop("len"), counts, {"age": Flat(), "zip": Flat(), "ill": Exact()})
    return tally


def recoded(tally: Tally, groups: list[int], columns: tuple[str, ...] = ("age", "zip")) -> Recoding:
    """Put each of the tally's tuples into a group; what a group shows is of no matter, but differs."""
    number = max(groups) + 1
    lows = np.repeat(np.arange(number, dtype=np.int32)[:, None], len(columns), axis=1)
    return Recoding(
        np.arange(len(tally)), tally.counts, np.array(groups, dtype=np.int64), columns, lows, lows + np.int32(1)
    )


SLIDE = [(22, "75001", "Cold"), (29, "75002", "Flu"), (22, "75003", "Cold"), (28, "75010", "HIV")]
"""Bob, Bill, Don and Sue; the tally is sorted by age, diagnosis, then zip: Bob, Don, Sue, Bill."""


def test_audit_of_the_worked_example() -> None:
    tally = counted(SLIDE)
    assert tally.columns == ("age", "ill", "zip")
    place = {zip_code: row for row, zip_code in enumerate(["75001", "75003", "75010", "75002"])}
    knowledge = np.zeros((4, tally.trees["ill"].size))
    knowledge[:, 1:] = 0.083
    knowledge[place["75003"], 1:] = [0.1, 0.01, 0.14]  # codes are in the order Cold, Flu, HIV
    recoding = recoded(tally, [0, 1, 1, 0])  # {Bob, Bill} and {Don, Sue}
    found = audit_bayes_optimal(tally, recoding, "ill", 0.1, knowledge)
    assert found.largest == pytest.approx(1 / 3)  # nobody but Bob and Bill can have the flu, nor they HIV
    assert found.breached == pytest.approx(3 / 4)  # all but Don, who changes by 0.063
    assert audit_bayes_optimal(tally, recoding, "ill", 0.06, knowledge).breached == 1
    assert audit_bayes_optimal(tally, recoding, "ill", 0.4, knowledge).breached == 0


def test_an_adversary_who_knows_the_table_learns_nothing_new() -> None:
    tally = counted(SLIDE)
    found = audit_bayes_optimal(tally, recoded(tally, [0, 1, 1, 0]), "ill", 0.01)
    assert (found.breached, found.largest) == (0, 0)


def test_withheld_people_are_not_counted() -> None:
    tally = counted(SLIDE)
    knowledge = np.ones((4, tally.trees["ill"].size))
    found = audit_bayes_optimal(tally, recoded(tally, [0, WITHHELD, WITHHELD, WITHHELD]), "ill", 0.5, knowledge)
    assert found.breached == 1
    nobody = Recoding(
        np.arange(4), tally.counts, np.full(4, WITHHELD), ("age", "zip"), *(np.empty((0, 2), np.int32),) * 2
    )
    assert audit_bayes_optimal(tally, nobody, "ill", 0.5, knowledge).breached == 0


def test_groups_that_show_the_same_are_one_class() -> None:
    tally = counted(SLIDE)
    apart = recoded(tally, [0, 1, 2, 3])
    alike = Recoding(apart.tuples, apart.counts, apart.groups, apart.columns, apart.lows * 0, apart.highs * 0 + 9)
    together = recoded(tally, [0, 0, 0, 0])
    knowledge = estimate_joint(tally, ("age", "zip"), "ill", smoothing=1)
    assert audit_bayes_optimal(tally, alike, "ill", 0.1, knowledge) == audit_bayes_optimal(
        tally, together, "ill", 0.1, knowledge
    )


def test_estimate() -> None:
    tally = counted([(1, "a", "x"), (1, "a", "x"), (1, "a", None), (2, "b", "y")])
    joint = estimate_joint(tally, ("age", "zip"), "ill")
    assert joint.tolist() == [[0.25, 0.5, 0], [0, 0, 0.25]]
    smooth = estimate_joint(tally, ("age", "zip"), "ill", smoothing=1)
    assert smooth == pytest.approx(np.array([[2, 3, 1], [1, 1, 2]]) / 10)
    without_missing = estimate_joint(counted([(1, "a", "x")]), ("age", "zip"), "ill", smoothing=1)
    assert without_missing.tolist() == [[0, 1]]  # missing does not occur, so it is not expected either


def naive(rows: list[tuple[Any, ...]], groups: list[int], joint: dict[Any, dict[Any, float]], tau: float) -> Any:
    """The definition, person by person."""
    values = sorted({row[2] for row in rows}, key=str)
    breached, largest, published = 0, 0.0, 0
    for row, group in zip(rows, groups, strict=True):
        if group == WITHHELD:
            continue
        published += 1
        shown = [other for other, its in zip(rows, groups, strict=True) if its == group]
        before = {s: joint[row[:2]][s] / sum(joint[row[:2]].values()) for s in values}
        after = {}
        for s in values:
            pooled = sum(joint[other[:2]][s] / sum(joint[other[:2]].values()) for other in shown)
            after[s] = sum(other[2] == s for other in shown) * before[s] / pooled
        total = sum(after.values())
        change = max(abs(before[s] - after[s] / total) for s in values)
        breached += change >= tau - 1e-12
        largest = max(largest, change)
    return breached / max(published, 1), largest


@CHECKED
@given(
    rows=st.lists(st.tuples(st.integers(1, 3), st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=12),
    labels=st.lists(st.integers(-1, 2), min_size=18, max_size=18),
    tau=st.sampled_from([0.1, 0.25, 0.5]),
    block=st.sampled_from([1, 8, 1 << 22]),
)
def test_agrees_with_its_definition(rows: list[Any], labels: list[int], tau: float, block: int) -> None:
    tally = counted(rows)
    code_of = {
        (age, place, ill): row
        for row, (age, ill, place) in enumerate(
            zip(*(tally.trees[name].values.gather(tally.column(name)).to_list() for name in tally.columns), strict=True)
        )
    }
    groups = [labels[place] for place in range(len(tally))]
    smoothing = 0.5
    quasi = sorted({row[:2] for row in rows})
    values = sorted({row[2] for row in rows})
    joint = {q: {s: rows.count((*q, s)) + smoothing for s in values} for q in quasi}
    if max(groups) < 0:
        groups[0] = 0
    knowledge = estimate_joint(tally, ("age", "zip"), "ill", smoothing=smoothing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bayes_optimal_oracle, "_BLOCK", block)
        found = audit_bayes_optimal(tally, recoded(tally, groups), "ill", tau, knowledge)
    breached, largest = naive(rows, [groups[code_of[row]] for row in rows], joint, tau)
    assert found.breached == pytest.approx(breached)
    assert found.largest == pytest.approx(largest, abs=1e-12)


def test_parameters_are_checked() -> None:
    tally = counted(SLIDE)
    recoding = recoded(tally, [0, 1, 1, 0])
    with pytest.raises(RecipeError, match="tau"):
        audit_bayes_optimal(tally, recoding, "ill", 0)
    with pytest.raises(RecipeError, match="smoothing"):
        estimate_joint(tally, ("age",), "ill", smoothing=-1)
    with pytest.raises(SchemaError, match="'ilness'"):
        audit_bayes_optimal(tally, recoding, "ilness", 0.5)
    with pytest.raises(SchemaError, match="shape"):
        audit_bayes_optimal(tally, recoding, "ill", 0.5, np.ones((3, 2)))
