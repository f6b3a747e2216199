"""Inference: what crowds give away of their people's values, and what they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.background_knowledge import BackgroundKnowledge
from incrowd.attacks.definetti import DeFinetti
from incrowd.attacks.homogeneity import Homogeneity
from incrowd.attacks.joint_knowledge import JointKnowledge, calibrated, naive_bayes
from incrowd.attacks.similarity import Similarity, kinds_of
from incrowd.attacks.skewness import Skewness
from incrowd.core.target import Target
from incrowd.errors import AttackError, RecipeError
from incrowd.models.knowledge.dependence import fitted_shares
from tests.attacks.attacking import CITIES, attack, count, declared, grouped, one_group, people, raw, read


def crowds(values: list[list[str]], **given: Any) -> tuple[Any, Any]:
    """Publish one group for each list of values, whose members are alike in all that is known of them."""
    frame = {
        "x": [number for number, group in enumerate(values) for _ in group],
        "s": [value for group in values for value in group],
    }
    table = read(frame, ["x"], ["s"], **given)
    return raw(table), count(table)


# --- homogeneity ---


def test_a_group_in_which_all_have_the_same_is_certain() -> None:
    form, truth = crowds([["flu"] * 50, ["gout", "flu"] * 25])
    risk = attack(Homogeneity(), form, truth)
    assert risk.got_through
    assert (risk.value, risk.baseline, risk.worst) == (0.5, 0, 1)


def test_nobody_in_an_l_diverse_release_is_certain() -> None:
    table = declared(people(1500, dependence=0.9))
    for method in (ic.Mondrian(), ic.LocalRecoding(max_distortion=1.0)):
        release = ic.publish(table, [ic.KAnonymity(3), ic.LDiversity(2)], method=method, seed=0)
        risk = attack(Homogeneity(), release.form, count(table))
        assert risk.value == 0
        assert not risk.got_through
    weak = ic.publish(table, [ic.KAnonymity(3)], seed=0)
    assert attack(Homogeneity(), weak.form, count(table)).got_through


def test_what_everybody_has_is_no_secret() -> None:
    form, truth = crowds([["flu"] * 5, ["flu"] * 5])
    risk = attack(Homogeneity(), form, truth)
    assert (risk.value, risk.baseline) == (1, 1)
    assert not risk.got_through
    assert risk.advantage == 0


# --- background knowledge ---


def test_one_statement_breaks_crowds_of_two_values() -> None:
    form, truth = crowds([[f"{letter}1", f"{letter}2"] * 20 for letter in "abcde"])
    risk = attack(BackgroundKnowledge(), form, truth)
    assert risk.value == 1
    assert risk.details == {"statements": 1, "certain": 1}
    assert risk.got_through
    assert risk.baseline == pytest.approx(1 / 9)
    without = attack(BackgroundKnowledge(statements=0), form, truth)
    assert without.value == 0.5
    assert without.baseline == pytest.approx(0.1)


def test_statements_help_as_much_without_a_release_that_shows_nothing() -> None:
    table = declared(people(1500))
    for statements in (1, 3):
        risk = attack(BackgroundKnowledge(statements=statements), one_group(table), count(table))
        assert risk.value == pytest.approx(risk.baseline)
        assert not risk.got_through


def test_crowds_of_all_values_need_many_statements() -> None:
    values = [f"v{number}" for number in range(10)]
    form, truth = crowds([values] * 10)
    for statements, expected in ((0, 1 / 10), (1, 1 / 9), (5, 1 / 5), (9, 1), (10, 1), (50, 1)):
        risk = attack(BackgroundKnowledge(statements=statements), form, truth)
        assert risk.value == pytest.approx(expected)
        assert risk.worst == pytest.approx(expected)
        assert not risk.got_through


def test_statements_are_the_values_most_believed_in() -> None:
    """Of 5 flu, 3 gout, 2 mumps: without flu, gout is guessed; those with flu lose gout, and are guessed right."""
    form, truth = crowds([["flu"] * 5 + ["gout"] * 3 + ["mumps"] * 2])
    risk = attack(BackgroundKnowledge(), form, truth)
    assert risk.value == pytest.approx(0.8)
    assert risk.worst == pytest.approx(5 / 7)


# --- joint knowledge ---


def test_small_diverse_groups_help_whoever_knows_what_goes_with_what() -> None:
    table = declared(people(1500, dependence=0.2))
    release = ic.publish(table, [ic.KAnonymity(3), ic.LDiversity(3)], seed=0)
    risk = attack(JointKnowledge(), release.form, count(table))
    assert risk.got_through
    assert risk.value > risk.baseline + 0.08
    assert risk.details["largest change of belief"] > 0.3


def test_one_big_group_tells_nothing_beyond_what_is_known() -> None:
    table = declared(people(1500, dependence=0.4))
    risk = attack(JointKnowledge(), one_group(table), count(table))
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline, abs=0.02)
    assert risk.details["mean change of belief"] < 0.02


def test_knowledge_that_counts_an_attribute_three_times_agrees_with_frequencies() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, 2000)
    sick = np.where(rng.random(2000) < 0.3, kind, rng.choice(5, 2000, p=[0.5, 0.2, 0.1, 0.1, 0.1]))
    table = read({"x": kind, "y": kind, "z": kind, "s": sick}, ["x", "y", "z"], ["s"])
    target = Target(one_group(table), count(table))
    shares = {name: fitted_shares(count(table), name, "s") for name in "xyz"}
    frequencies = count(table).value_counts("s") / 2000
    people_of_kinds = target.people.tuple_counts
    naive = naive_bayes(target, shares, frequencies)
    fitted = calibrated(naive, people_of_kinds, frequencies)
    assert np.abs(people_of_kinds @ naive / 2000 - frequencies).max() > 0.05
    assert np.abs(people_of_kinds @ fitted / 2000 - frequencies).max() < 0.005
    assert np.allclose(fitted.sum(axis=1), 1)
    risk = attack(JointKnowledge(), one_group(table), count(table))
    assert risk.value == pytest.approx(risk.baseline)
    assert risk.details["largest change of belief"] < 0.01


# --- skewness and similarity ---


def test_skewed_groups_raise_beliefs() -> None:
    form, truth = crowds([["flu"] * 1 + ["well"] * 99] * 9 + [["flu"] * 50 + ["well"] * 50])
    risk = attack(Skewness(), form, truth)
    shares = np.array([59 / 1000, 941 / 1000])
    assert risk.baseline == pytest.approx((shares**2).sum())
    assert risk.value == pytest.approx((9 * (0.01 + 0.99 * 99) + 50) / 1000)
    assert risk.details["largest ratio"] == pytest.approx(0.5 / 0.059)
    assert risk.details["doubled"] == pytest.approx(0.05)
    assert risk.got_through


def test_close_groups_do_not() -> None:
    table = declared(people(3000))
    whole = attack(Skewness(), one_group(table), count(table))
    assert whole.value == pytest.approx(whole.baseline)
    assert not whole.got_through
    close = ic.publish(table, [ic.KAnonymity(5), ic.TCloseness(0.03)], seed=0)
    risk = attack(Skewness(), close.form, count(table))
    assert len(close.form.group_sizes) > 2
    assert not risk.got_through


ORGANS = ic.Categories(
    tuple((f"{organ} {number}", organ) for organ in ("heart", "lung", "skin") for number in range(4))
)


def test_values_that_mean_the_same_are_guessed_by_kind() -> None:
    form, truth = crowds(
        [[f"{organ} {number}" for number in range(4)] * 5 for organ in ("heart", "lung", "skin")],
        hierarchies={"s": ORGANS},
    )
    assert attack(Homogeneity(), form, truth).value == 0
    risk = attack(Similarity(), form, truth)
    assert risk.got_through
    assert (risk.value, risk.details["certain"]) == (1, 1)
    assert risk.baseline == pytest.approx(1 / 3)
    mixed, truth = crowds(
        [[f"{organ} {number}" for organ in ("heart", "lung", "skin")] * 5 for number in range(4)],
        hierarchies={"s": ORGANS},
    )
    risk = attack(Similarity(), mixed, truth)
    assert not risk.got_through
    assert risk.value == pytest.approx(1 / 3)


def test_numbers_are_alike_within_a_fifth_of_the_people() -> None:
    salaries = np.arange(100)
    table = read({"x": salaries // 20, "s": salaries}, ["x"], ["s"])
    risk = attack(Similarity(), raw(table), count(table))
    assert risk.value == 1
    assert risk.baseline == pytest.approx(0.2)
    assert risk.got_through
    mixed = read({"x": salaries % 5, "s": salaries}, ["x"], ["s"])
    assert not attack(Similarity(), raw(mixed), count(mixed)).got_through


def test_missing_is_a_kind_of_its_own() -> None:
    table = read({"x": [1, 2, 3, 4], "s": [None, 10, 20, 30]}, ["x"], ["s"])
    tree = count(table).trees["s"]
    kinds = kinds_of(tree, np.array([0.25, 0.25, 0.25, 0.25]), 9)
    assert len(set(kinds.tolist())) == 4
    assert (kinds[1:] != kinds[0]).all()


def test_names_without_a_hierarchy_are_not_alike() -> None:
    form, truth = crowds([["a", "b"]])
    assert Similarity().lacks(Target(form, truth)) == "the hierarchy of s does not say which values are alike"


# --- deFinetti ---


def buckets(dependence: float) -> tuple[Any, Any]:
    table = declared(people(4000, dependence=dependence))
    release = ic.publish(table, [ic.ProbabilisticLDiversity(3)], method=ic.Anatomy(), seed=0)
    return release.form, count(table)


def test_buckets_teach_how_to_attack_them() -> None:
    form, truth = buckets(dependence=0.8)
    risk = attack(DeFinetti(), form, truth)
    assert risk.got_through
    assert risk.value > risk.baseline + 0.15
    assert attack(DeFinetti(rounds=1), form, truth).got_through


def test_there_is_nothing_to_learn_where_values_are_independent() -> None:
    form, truth = buckets(dependence=0.0)
    risk = attack(DeFinetti(), form, truth)
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline, abs=0.04)


def test_one_big_group_teaches_nothing() -> None:
    table = declared(people(2000, dependence=0.8))
    risk = attack(DeFinetti(), one_group(table), count(table))
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline)


# --- which column ---

INFERENCE = [BackgroundKnowledge, DeFinetti, Homogeneity, JointKnowledge, Skewness]


@pytest.mark.parametrize("cls", INFERENCE)
def test_the_column_is_named_where_there_are_several(cls: Any) -> None:
    frame = people(200).with_columns(rich=pl.col("age") % 3 == 0)
    table = ic.read(frame, quasi=["age", "city", "sex"], sensitive=["sick", "rich"])
    form, truth = one_group(table), count(table)
    target = Target(form, truth)
    assert cls().lacks(target) == "several columns are sensitive, and none of them is named"
    assert cls(column="city").lacks(target) == "'city' is not a sensitive column"
    with pytest.raises(AttackError, match="no column was named"):
        cls().run(target, rng=np.random.default_rng(0))
    with pytest.raises(AttackError, match=r"'sik' is not sensitive.*did you mean.*sick"):
        cls(column="sik").run(target, rng=np.random.default_rng(0))
    for column in ("sick", "rich"):
        assert attack(cls(column=column), form, truth).column == column


@pytest.mark.parametrize("cls", [*INFERENCE, Similarity])
def test_there_is_nothing_to_infer_without_a_secret(cls: Any) -> None:
    table = read({"x": [1, 2], "y": CITIES[:2]}, ["x", "y"])
    assert cls().lacks(Target(one_group(table), count(table))) == "no column is sensitive"


@pytest.mark.parametrize("cls", [DeFinetti, JointKnowledge])
def test_the_table_before_is_asked_for(cls: Any) -> None:
    table = declared(people(50))
    assert cls().lacks(Target(grouped(table, [0] * len(count(table))))) == "the table before is needed"


@pytest.mark.parametrize(
    ("cls", "given"),
    [(BackgroundKnowledge, {"statements": -1}), (DeFinetti, {"rounds": 0}), (Similarity, {"level": 0})],
)
def test_parameters_are_checked(cls: Any, given: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        cls(**given)
