"""Bayes-optimal privacy of groups: the worked example, the definition person by person, and releases."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, LabelledRegions, Regions, histogram
from incrowd.core.recoding import Recoding
from incrowd.core.tally import Tally, code_table
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.hierarchies.flat import Exact, Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.models import bayes_optimal_privacy
from incrowd.models.bayes_optimal import estimate_joint
from incrowd.models.bayes_optimal_privacy import BayesOptimalPrivacy
from incrowd.models.knowledge import Rule
from incrowd.publishing.recipe import Recipe
from incrowd.testing import Case
from incrowd.testing.claims import is_a_value
from incrowd.testing.strategies import cases
from tests.models.bayes_optimal_oracle import audit_bayes_optimal
from tests.models.crowds import CHECKED

Row = tuple[int, int, str]
Box = tuple[tuple[int, int], tuple[int, int]]


def counted(rows: list[Row]) -> Tally:
    frame = pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.Int64, "ill": pl.String}, orient="row")
    distinct = frame.group_by(frame.columns, maintain_order=True).len()
    trees: dict[str, Hierarchy] = {"x": Flat(), "y": Flat(), "ill": Exact()}
    return code_table(distinct.drop("len"), distinct["len"].cast(pl.Int64).to_numpy(), trees)[0]


def shown(rows: list[Row], groups: list[int], boxes: list[Box], *, columns: tuple[str, str] = ("x", "y")) -> Groups:
    """Put rows into groups that show boxes of values, both ends included."""
    tally = counted(rows)
    values = {name: tally.trees[name].values.to_list() for name in ("x", "y", "ill")}
    sizes = np.bincount(groups, minlength=len(boxes))
    ill = np.array([values["ill"].index(row[2]) for row in rows], dtype=np.int32)
    entries = histogram(np.array(groups), ill, np.ones(len(rows), dtype=np.int64), len(boxes))
    lows, highs = np.zeros((2, len(boxes), 2), dtype=np.int32)
    for number, box in enumerate(boxes):
        for place, name in enumerate(columns):
            low, high = box["xy".index(name)]
            held = [code for code, value in enumerate(values[name]) if code and low <= value <= high]
            lows[number, place], highs[number, place] = (held[0], held[-1] + 1) if held else (1, 1)
    regions = Regions(columns, lows, highs)
    return Groups(sizes, {"ill": entries}, {"ill": tally.value_counts("ill")}, table=tally, regions=lambda: regions)


def naive(rows: list[Row], groups: list[int], boxes: list[Box], smoothing: float) -> list[float]:
    """The definition, person by person: whoever lies in a group's box may be one of it."""
    values = sorted({row[2] for row in rows})
    largest = []
    for number, box in enumerate(boxes):
        inside = [row for row in rows if all(low <= at <= high for at, (low, high) in zip(row[:2], box, strict=True))]

        def before(row: Row) -> dict[str, float]:
            like = [other[2] for other in rows if other[:2] == row[:2]]
            everybody = [other[2] for other in rows]
            weights = {s: like.count(s) + smoothing * everybody.count(s) / len(rows) for s in values}
            return {s: weight / sum(weights.values()) for s, weight in weights.items()}

        has = [row[2] for row, group in zip(rows, groups, strict=True) if group == number]
        change = 0.0
        for row in inside:
            after = {}
            for s in values:
                expected = sum(before(other)[s] for other in inside)
                after[s] = has.count(s) * before(row)[s] / expected if expected else 0.0
            total = sum(after.values())
            if total:
                after = {s: belief / total for s, belief in after.items()}
            else:
                after = {s: has.count(s) / max(len(has), 1) for s in values}
            change = max(change, *(abs(after[s] - before(row)[s]) for s in values))
        largest.append(change)
    return largest


people = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.sampled_from("abc")), min_size=1, max_size=14)


@CHECKED
@given(
    rows=people,
    cuts=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    wider=st.integers(0, 2),
    smoothing=st.sampled_from([0.0, 0.5, 1.0, 30.0]),
    tau=st.sampled_from([0.05, 0.2, 0.5]),
    block=st.sampled_from([1, 12, 1 << 22]),
    columns=st.sampled_from([("x", "y"), ("y", "x")]),
)
def test_agrees_with_its_definition(
    rows: list[Row], cuts: tuple[int, int], wider: int, smoothing: float, tau: float, block: int, columns: Any
) -> None:
    """Four groups, cut in both columns, with labels that may reach into one another."""
    groups = [2 * (row[0] > cuts[0]) + (row[1] > cuts[1]) for row in rows]
    boxes: list[Box] = [
        (
            (1, cuts[0] + wider) if at < 2 else (cuts[0] + 1 - wider, 4),
            (1, cuts[1]) if at % 2 == 0 else (cuts[1] + 1, 3),
        )
        for at in range(4)
    ]
    filled = sorted(set(groups))
    groups, boxes = [filled.index(group) for group in groups], [boxes[group] for group in filled]
    model = BayesOptimalPrivacy(tau, smoothing=smoothing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bayes_optimal_privacy, "_BLOCK", block)
        found = shown(rows, groups, boxes, columns=columns)
        expected = naive(rows, groups, boxes, smoothing)
        assert model.largest_changes(found) == pytest.approx(expected, abs=1e-12)
        assert model.satisfied(found).tolist() == [change < tau - 1e-12 for change in model.largest_changes(found)]
        assert model.achieved(found) == pytest.approx(max(expected), abs=1e-12)


SLIDE: list[Row] = [(22, 75001, "Cold"), (29, 75002, "Flu"), (22, 75003, "Cold"), (28, 75010, "HIV")]
"""Bob, Bill, Don and Sue."""
DON = {"x": 22, "y": 75003}
KNOWN = [
    *(Rule(when=DON, then=ill, confidence=share) for ill, share in (("Cold", 0.4), ("Flu", 0.04), ("HIV", 0.56))),
    *(
        Rule(when={"y": [75001, 75002, 75010]}, then=ill, confidence=share)
        for ill, share in (("Cold", 1 / 3), ("Flu", 1 / 3), ("HIV", 1 / 3))
    ),
]
"""f of Don is 0.1, 0.01 and 0.14, and 0.083 of everybody else: the shares of these."""


def test_worked_example() -> None:
    """Senellart: in the class {Don, Sue}, Don's beliefs change little, but Sue's flu goes from 1/3 to 0."""
    boxes: list[Box] = [((22, 29), (75001, 75002)), ((22, 29), (75003, 75010))]
    groups = shown(SLIDE, [0, 0, 1, 1], boxes)
    model = BayesOptimalPrivacy(0.4, rules=tuple(KNOWN))
    assert model.largest_changes(groups) == pytest.approx([1 / 3, 1 / 3])
    assert model.satisfied(groups).all()
    assert not BayesOptimalPrivacy(1 / 3, rules=tuple(KNOWN)).satisfied(groups).any()  # exactly tau is a breach
    alone = shown(SLIDE, [0, 0, 1, 2], [*boxes, ((28, 28), (75010, 75010))])
    assert model.largest_changes(alone)[2] == pytest.approx(2 / 3)
    about_don = shown(SLIDE[2:], [0, 0], [((22, 28), (75003, 75010))])
    # Without the flu in the table, a rule about it is about a value that nobody has; Sue is told to be certain.
    told = BayesOptimalPrivacy(0.9, rules=(*KNOWN[:3], Rule(when={"x": 28}, then="HIV", confidence=1)))
    # Cold is as often as expected of Don alone, HIV half as often as not: 1 to 0.56 / 1.56, where it was 0.4 to 0.56.
    assert told.achieved(about_don) == pytest.approx(1 / (1 + 0.56 / 1.56) - 0.4)


def test_agrees_with_the_audit_where_groups_share_nobody() -> None:
    rows: list[Row] = [(x, y, ill) for x in (1, 2, 3) for y in (1, 2) for ill in "aab"[: x + y - 1]]
    tally = counted(rows)
    groups = [int(row[0] > 1) for row in rows]
    found = shown(rows, groups, [((1, 1), (1, 2)), ((2, 3), (1, 2))])
    codes = tally.codes[:, tally.columns.index("x")]
    bounds = np.array([[1, 1], [2, 1]], dtype=np.int32), np.array([[2, 3], [4, 3]], dtype=np.int32)
    recoding = Recoding(np.arange(len(tally)), tally.counts, (codes > 1).astype(np.int64), ("x", "y"), *bounds)
    joint = estimate_joint(tally, ("x", "y"), "ill")
    joint = joint * tally.rows + 2.0 * tally.value_counts("ill") / tally.rows
    audit = audit_bayes_optimal(tally, recoding, "ill", 0.1, joint)
    assert audit.largest > 0.01
    assert BayesOptimalPrivacy(0.1, smoothing=2).achieved(found) == pytest.approx(audit.largest)


def test_an_adversary_who_knows_the_table_learns_nothing_new() -> None:
    boxes: list[Box] = [((22, 29), (75001, 75002)), ((22, 29), (75003, 75010))]
    groups = shown(SLIDE, [0, 0, 1, 1], boxes)
    assert BayesOptimalPrivacy(0.01, smoothing=0).achieved(groups) == pytest.approx(0, abs=1e-15)


def test_an_adversary_who_knows_nothing_compares_shares() -> None:
    rows: list[Row] = [(1, 1, "a"), (1, 2, "b"), (2, 1, "b"), (2, 2, "b")]
    groups = shown(rows, [0, 0, 1, 1], [((1, 1), (1, 2)), ((2, 2), (1, 2))])
    assert BayesOptimalPrivacy(0.3, smoothing=1e9).largest_changes(groups) == pytest.approx([0.25, 0.25], abs=1e-6)


def test_rules_give_the_rest_to_other_values() -> None:
    rows: list[Row] = [(1, 1, "a"), (1, 1, "a"), (1, 1, "b"), (1, 1, "c")]
    groups = shown(rows, [0, 0, 0, 0], [((1, 1), (1, 1))])
    # Told that b is at 0.7, one expects a at 0.2 and c at 0.1; the one class says what everybody's are.
    assert BayesOptimalPrivacy(0.5, smoothing=0, rules=(Rule({"x": 1}, "b", 0.7),)).achieved(groups) == pytest.approx(
        0.45
    )
    # Of a value that nobody has, belief goes to none.
    assert BayesOptimalPrivacy(0.5, rules=(Rule({"x": 1}, "z", 0.4),)).achieved(groups) == pytest.approx(0.4)
    too_much = BayesOptimalPrivacy(0.5, rules=(Rule({"x": 1}, "a", 0.7), Rule({"y": 1}, "b", 0.7)))
    with pytest.raises(SchemaError, match="more than 1"):
        too_much.achieved(groups)


def test_labels_of_sets_stand_for_their_values_only() -> None:
    rows: list[Row] = [(1, 1, "a"), (2, 1, "b"), (3, 1, "a")]
    groups = shown(rows, [0, 1, 0], [((1, 3), (1, 1)), ((2, 2), (1, 1))])
    assert groups.regions is not None
    hull = groups.regions()
    x = np.array([[False, True, False, True], [False, False, True, False]])
    y = np.array([[False, True]])
    exactly = LabelledRegions(hull.columns, hull.lows, hull.highs, np.array([[0, 0], [1, 0]]), (x, y))
    model = BayesOptimalPrivacy(0.5, smoothing=1)
    apart = Groups(groups.sizes, groups.sensitive, groups.whole, table=groups.table, regions=lambda: exactly)
    assert model.largest_changes(apart)[0] == pytest.approx(1 / 6)  # a was at 5/6 for both
    assert model.largest_changes(groups)[0] == pytest.approx(2 / 3)  # and at 1/3 for the one between them


def test_without_the_table_it_is_refused() -> None:
    groups = shown(SLIDE, [0, 0, 0, 0], [((22, 29), (75001, 75010))])
    with pytest.raises(SchemaError, match="table"):
        BayesOptimalPrivacy(0.1).satisfied(Groups(groups.sizes, groups.sensitive))


def test_no_groups() -> None:
    groups = shown(SLIDE, [0, 0, 0, 0], [((22, 29), (75001, 75010))])
    assert groups.regions is not None
    none = groups.regions().of(np.empty(0, dtype=np.int64))
    empty = histogram(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64), 0)
    nobody = Groups(np.empty(0, np.int64), {"ill": empty}, table=groups.table, regions=lambda: none)
    assert BayesOptimalPrivacy(0.1).satisfied(nobody).tolist() == []
    assert BayesOptimalPrivacy(0.1).achieved(nobody) == 0


def test_parameters_are_checked() -> None:
    is_a_value(BayesOptimalPrivacy(0.1))
    wrongs: list[dict[str, Any]] = [{"tau": 0}, {"tau": 1.5}, {"tau": 0.1, "smoothing": -1}, {"tau": 0.1, "rules": [3]}]
    for wrong in wrongs:
        with pytest.raises(RecipeError):
            BayesOptimalPrivacy(**wrong)


@CHECKED
@given(case=cases(most_rows=25, most_quasi=3, most_sensitive=1, most_kept=0))
def test_what_is_published_keeps_to_tau(case: Case) -> None:
    if not case.sensitive:
        return
    table = ic.read(case.frame, quasi=case.quasi, sensitive=case.sensitive, hierarchies=dict(case.hierarchies))
    model = BayesOptimalPrivacy(0.3)
    for method in (ic.FullDomain(max_withheld=0.5), ic.Mondrian(), ic.Mondrian(labels="hierarchy")):
        try:
            release = ic.publish(table, model, method=method)
        except Unsatisfiable:
            continue
        assert release.guarantees[0].achieved < 0.3, method
        assert release.rows + release.withheld == case.frame.height, method


@pytest.mark.parametrize("method", [ic.Mondrian(), ic.LevelSweep()])
def test_people_are_published_by_methods_that_know_no_labels_on_the_way(method: ic.Method) -> None:
    table = ic.read(ic.datasets.census(2000), quasi=["sex", "age"], sensitive=["marital"], others="drop")
    release = ic.publish(table, [ic.KAnonymity(5), BayesOptimalPrivacy(0.4, smoothing=20)], method=method)
    assert release.guarantees[1].achieved < 0.4


def test_it_survives_a_recipe() -> None:
    table = ic.read(ic.datasets.census(300), quasi=["sex", "education"], sensitive=["occupation"], others="drop")
    rule = Rule(when={"sex": "Male"}, then="Sales", confidence=0.2)
    model = BayesOptimalPrivacy(0.9, smoothing=5, rules=(rule,), column="occupation")
    release = ic.publish(table, model, method=ic.FullDomain(max_withheld=0.5))
    written = Recipe.of(release).to_dict()
    assert Recipe.from_dict(written).models == (model,)
