"""All attacks on odd releases: numbers stay numbers, one seed is one outcome, and order leaves no trace."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.background_knowledge import BackgroundKnowledge
from incrowd.attacks.composition import Composition
from incrowd.attacks.definetti import DeFinetti
from incrowd.attacks.downcoding import Downcoding
from incrowd.attacks.external_linkage import ExternalLinkage
from incrowd.attacks.extreme_values import ExtremeValues
from incrowd.attacks.homogeneity import Homogeneity
from incrowd.attacks.joint_knowledge import JointKnowledge
from incrowd.attacks.ladder import ladder, random_unusual_person
from incrowd.attacks.linkage import Linkage
from incrowd.attacks.membership import Membership
from incrowd.attacks.minimality import Minimality
from incrowd.attacks.similarity import Similarity
from incrowd.attacks.singling_out import SinglingOut
from incrowd.attacks.skewness import Skewness
from incrowd.attacks.unique_in_population import UniqueInPopulation
from incrowd.core.form import Form
from incrowd.core.risk import Risk, wilson
from incrowd.core.tally import Population, Tally
from incrowd.core.target import Target
from incrowd.errors import AttackError
from tests.attacks.attacking import DECLARED, count, declared, grouped, one_group, people, public_truth, raw, read

pytestmark = pytest.mark.usefixtures("few_questions")

ATTACKS: list[Any] = [
    Linkage(),
    ExternalLinkage(),
    ExternalLinkage(tolerance=0.1, levels=1),
    Homogeneity(),
    BackgroundKnowledge(),
    BackgroundKnowledge(statements=40),
    JointKnowledge(),
    Skewness(),
    Similarity(),
    Composition(),
    Minimality(max_groups=20, ways=20),
    DeFinetti(),
    ExtremeValues(),
    Membership(),
    SinglingOut(conditions=30),
    Downcoding(),
    UniqueInPopulation(fraction=0.1),
]
MODELS = (ic.KAnonymity(2), ic.LDiversity(2))


def register(truth: Tally, form: Form) -> Population:
    names = tuple(sorted(form.schema.quasi))
    tally = truth.project(names)[0]
    return Population(tally.columns, tally.codes, tally.counts)


def run_all(form: Form, truth: Tally | None, *, seed: int = 0) -> list[Risk]:
    """Run every attack that can be tried, on every sensitive column."""
    external = None if truth is None else register(truth, form)
    target = Target(form, truth, external=external, earlier=(form,), require=MODELS)
    found = []
    for attacker in ATTACKS:
        columns = target.view.sensitive if any(field.name == "column" for field in fields(attacker)) else (None,)
        for column in columns:
            attempt = type(attacker)(
                **{field.name: getattr(attacker, field.name) for field in fields(attacker) if field.name != "column"},
                **({} if column is None else {"column": column}),
            )
            if attempt.lacks(target) is None:
                found.append(attempt.run(target, rng=np.random.default_rng(seed)))
    return found


def check(risks: list[Risk], *, least: int) -> None:
    assert len(risks) >= least
    for risk in risks:
        numbers = [risk.value, risk.low, risk.high, risk.baseline, *([] if risk.worst is None else [risk.worst])]
        assert np.isfinite([*numbers, *risk.details.values()]).all(), risk
        assert 0 <= risk.low <= risk.value <= risk.high <= 1, risk
        assert 0 <= risk.baseline <= 1, risk
        assert all(0 <= number <= 1 + 1e-9 for number in numbers), risk
        assert risk.people >= 0
        assert risk.says.endswith(".")
        assert risk.to_dict()["got through"] is risk.got_through


SOME = {"x": [1, 1, 2, 3, 5, 8], "y": ["a", "b", "a", "b", "a", "b"], "s": ["p", "q", "q", "p", "r", "p"]}


def sliced(table: ic.Table, groups: list[int]) -> Form:
    from tests.forms.test_views import _recoding

    tally = count(table)
    showing = ic.ShowSlices(columns=(("x",),))
    return showing.show(tally, table.schema, _recoding(table, groups), rows_in=tally.rows, rng=np.random.default_rng(0))


def test_a_release_without_rows() -> None:
    table = read(SOME, ["x", "y"], ["s"])
    nobody = [-1] * len(count(table))
    check(run_all(grouped(table, nobody), count(table)), least=13)
    check(run_all(sliced(table, nobody), count(table)), least=8)
    for risk in [*run_all(grouped(table, nobody), count(table)), *run_all(sliced(table, nobody), count(table))]:
        assert not risk.got_through
    check(run_all(grouped(table, nobody), None), least=4)


def test_one_row() -> None:
    table = read({"x": [1], "y": ["a"], "s": ["p"]}, ["x", "y"], ["s"])
    for form in (raw(table), one_group(table), sliced(table, [0])):
        check(run_all(form, count(table)), least=8)
        check(run_all(form, None), least=4)


def test_one_group_and_people_as_they_are() -> None:
    table = read(SOME, ["x", "y"], ["s"])
    for form in (raw(table), one_group(table), sliced(table, [0] * len(count(table)))):
        check(run_all(form, count(table)), least=8)
        check(run_all(form, None), least=4)


def test_without_a_sensitive_column() -> None:
    table = read({name: SOME[name] for name in "xy"}, ["x", "y"])
    for form in (raw(table), one_group(table)):
        risks = run_all(form, count(table))
        check(risks, least=5)
        assert {risk.attack for risk in risks} == {
            "linkage", "external-linkage", "extreme-values", "membership", "singling-out", "downcoding",
            "unique-in-population",
        }  # fmt: skip


def test_with_two_sensitive_columns() -> None:
    table = read({**SOME, "r": [1, 2, 3, 1, 2, 3]}, ["x", "y"], ["s", "r"])
    for form in (raw(table), one_group(table), sliced(table, [0] * len(count(table)))):
        risks = run_all(form, count(table))
        check(risks, least=12)
        assert {risk.column for risk in risks} == {None, "s", "r"}


def test_missing_values_everywhere() -> None:
    frame = pl.DataFrame({"x": [None] * 6, "y": [None] * 6, "s": [None] * 6}, schema=dict.fromkeys("xys", pl.String))
    table = ic.read(frame, quasi=["x", "y"], sensitive=["s"])
    for form in (raw(table), one_group(table), sliced(table, [0] * len(count(table)))):
        check(run_all(form, count(table)), least=8)
    some = read({**SOME, "x": [None, 1, None, 2, 3, None]}, ["x", "y"], ["s"])
    for form in (raw(some), one_group(some), sliced(some, [0] * len(count(some)))):
        check(run_all(form, count(some)), least=8)


def test_a_constant_column() -> None:
    table = read({**SOME, "y": ["a"] * 6, "s": ["p"] * 6}, ["x", "y"], ["s"])
    for form in (raw(table), one_group(table)):
        risks = run_all(form, count(table))
        check(risks, least=10)
        inferring = [risk for risk in risks if risk.threat == "inference" and risk.people and risk.column]
        assert inferring
        assert all((risk.value, risk.baseline) == (1, 1) for risk in inferring)


def test_people_who_match_nothing_are_guessed_by_what_is_usual() -> None:
    table = read({"x": [1, 2, 3, 4], "s": ["p", "p", "p", "q"]}, ["x"], ["s"])
    form = grouped(table, [0, -1, -1, -1])
    check(run_all(form, count(table)), least=10)
    risk = Skewness().run(Target(form, count(table)), rng=np.random.default_rng(0))
    assert risk.value == pytest.approx((1 + 2 * 0.75 + 0.25) / 4)


def test_noisy_counts_without_rows() -> None:
    hierarchies = {name: DECLARED[name] for name in ("age", "sex")}
    table = read({"age": [30, 31], "sex": ["F", "M"]}, ["age"], ["sex"], hierarchies=hierarchies)
    form = next(
        form
        for form in (ic.publish(table, method=ic.DiffGen("0.5", steps=1), seed=seed).form for seed in range(200))
        if not form.rows
    )
    risks = run_all(form, public_truth(table, form))
    check(risks, least=7)
    assert not any(risk.got_through for risk in risks)


def test_who_is_who_must_be_known() -> None:
    table = read(SOME, ["x", "y"], ["s"])
    with pytest.raises(AttackError, match="who is who is not known"):
        Target(raw(table)).people  # noqa: B018


# --- chance and order ---


def releases(table: ic.Table) -> list[Form]:
    ways: list[tuple[Any, list[Any]]] = [
        (ic.Mondrian(), [ic.KAnonymity(3), ic.LDiversity(2)]),
        (ic.LocalRecoding(max_distortion=1.0), [ic.KAnonymity(3)]),
        (ic.Slicing(), [ic.SlicedDiversity(2)]),
    ]
    if len(table.schema.sensitive) == 1:
        ways.append((ic.Anatomy(), [ic.ProbabilisticLDiversity(2)]))
    return [ic.publish(table, models, method=method, seed=0).form for method, models in ways]


@pytest.mark.parametrize("secrets", [["sick"], ["sick", "rich"]])
def test_neither_rows_nor_columns_in_another_order_change_anything(secrets: list[str]) -> None:
    frame = people(200, dependence=0.5).with_columns(rich=pl.col("age") % 5)
    turned = frame.sample(fraction=1, shuffle=True, seed=1).select(frame.columns[::-1])
    one = ic.read(frame, quasi=["age", "city", "sex"], sensitive=secrets, others="drop")
    two = ic.read(turned, quasi=["sex", "city", "age"], sensitive=secrets[::-1], others="drop")
    for form, other in zip(releases(one), releases(two), strict=True):
        here, there = run_all(form, count(one)), run_all(other, count(two))
        check(here, least=10)
        assert here == there


# --- intervals, and one person's ladder ---


def test_wilson_intervals_hold_the_rate() -> None:
    for number in (1, 3, 50, 10_000):
        for rate in (0.0, 0.2, 0.5, 1.0):
            low, high = wilson(rate, number)
            assert 0 <= low <= rate <= high <= 1
    assert wilson(0.3, 100)[1] - wilson(0.3, 100)[0] > wilson(0.3, 1000)[1] - wilson(0.3, 1000)[0]


def test_an_advantage_is_what_guessing_leaves_open() -> None:
    def risk(value: float, low: float, baseline: float) -> Risk:
        return Risk("a", "inference", value, low, 1.0, baseline, 10, "Says.")

    assert risk(0.75, 0.7, 0.5).advantage == 0.5
    assert risk(0.4, 0.3, 0.5).advantage == 0
    assert risk(1.0, 1.0, 1.0).advantage == 0
    assert risk(0.75, 0.52, 0.5).got_through
    assert not risk(0.75, 0.505, 0.5).got_through


@pytest.mark.parametrize("place", range(4))
def test_a_ladder_ends_with_the_rows_that_fit(place: int) -> None:
    table = declared(people(400))
    form = releases(table)[place]
    target = Target(form, count(table))
    person = random_unusual_person(target, np.random.default_rng(0))
    rungs = ladder(target, person)
    assert (rungs[0].learnt, rungs[0].before, rungs[0].after) == ("nothing", 400, form.rows)
    assert {rung.learnt for rung in rungs[1:]} == {"age", "city", "sex"}
    for before, after in pairwise(rungs):
        assert before.before >= after.before
        assert before.after >= after.after
    kind = np.flatnonzero((target.people.tuples == person).all(axis=1))[0]
    assert rungs[-1].before == target.people.tuple_counts[kind]
    fitting = target.view.match(person[None], None)
    assert rungs[-1].after == target.view.crowds(None).sizes[fitting.crowds].sum()
    names = ["sex", "age", "city"]
    assert [rung.learnt for rung in ladder(target, person, names)[1:]] == names


def test_a_ladder_needs_the_table_before() -> None:
    table = declared(people(50))
    with pytest.raises(AttackError, match="a ladder needs the table before"):
        ladder(Target(one_group(table)), np.zeros(3, dtype=np.int32))
