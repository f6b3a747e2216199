"""Composition and minimality: more than one release, and how a release was made."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.composition import Composition, translated
from incrowd.attacks.homogeneity import Homogeneity
from incrowd.attacks.minimality import Minimality
from incrowd.core.target import Target
from incrowd.errors import RecipeError
from tests.attacks.attacking import attack, count, declared, grouped, one_group, people, raw, read

pytestmark = pytest.mark.usefixtures("few_questions")

# --- composition ---


def publish(table: ic.Table, method: Any, k: int = 5) -> Any:
    return ic.publish(table, [ic.KAnonymity(k)], method=method, seed=0).form


def many_diseases(number: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed + 1000)
    return people(number, seed).with_columns(
        sick=pl.Series([f"disease {code}" for code in rng.integers(0, 40, number)])
    )


def read_people(frame: pl.DataFrame, quasi: tuple[str, ...] = ("age", "city", "sex")) -> ic.Table:
    return ic.read(frame, quasi=list(quasi), sensitive=["sick"], others="drop")


def two_halves(number: int = 1500) -> tuple[ic.Table, ic.Table, ic.Table]:
    """Read the same people three times: two attributes, two others, and all of them."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            **{name: rng.integers(0, 100, number) for name in "abcd"},
            "sick": [f"disease {code}" for code in rng.integers(0, 40, number)],
        }
    )
    return read_people(frame, ("a", "b")), read_people(frame, ("c", "d")), read_people(frame, ("a", "b", "c", "d"))


def test_two_releases_that_are_safe_alone_are_not_together() -> None:
    first, second, everything = two_halves()
    one, two = publish(first, ic.Mondrian()), publish(second, ic.Mondrian())
    risk = attack(Composition(), one, count(everything), earlier=(two,))
    assert risk.got_through
    assert risk.value > 0.7
    assert risk.baseline < 0.3
    assert risk.details["only one value left"] > 0.4
    assert attack(Homogeneity(), one, count(first)).value < 0.02
    three = attack(Composition(), one, count(everything), earlier=(two, publish(everything, ic.KMember())))
    assert three.value > risk.value


def test_two_methods_on_the_same_columns_are_enough() -> None:
    table = read_people(many_diseases(1500))
    mondrian, clusters = publish(table, ic.Mondrian()), publish(table, ic.KMember(labels="tight"))
    assert attack(Composition(), mondrian, count(table), earlier=(clusters,)).got_through


def test_two_deals_of_anatomy_are_enough() -> None:
    table = two_halves()[2]
    one, two = (
        ic.publish(table, [ic.ProbabilisticLDiversity(4)], method=ic.Anatomy(), seed=seed).form for seed in (1, 2)
    )
    risk = attack(Composition(), one, count(table), earlier=(two,))
    assert risk.got_through
    assert risk.value > risk.baseline + 0.08


def test_a_column_that_is_not_known_of_people_is_left_out_of_the_match() -> None:
    first, _, everything = two_halves()
    form, finer = publish(first, ic.Mondrian(), 20), publish(everything, ic.Mondrian(), 3)
    without = attack(Composition(), form, count(first), earlier=(finer,))  # nobody's c and d are known
    assert without.got_through
    assert attack(Composition(), form, count(everything), earlier=(finer,)).value > without.value
    elsewhere = publish(
        read_people(pl.DataFrame({"z": [1, 2] * 9, "sick": ["disease 1", "x"] * 9}), ("z",)), ic.Mondrian()
    )
    risk = attack(Composition(), form, count(first), earlier=(elsewhere,))
    assert risk.value == pytest.approx(risk.baseline)


def test_a_release_with_itself_tells_nothing_new() -> None:
    table = read_people(many_diseases(1500))
    form = publish(table, ic.Mondrian())
    risk = attack(Composition(), form, count(table), earlier=(form, form))
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline, abs=0.01)


def test_differentially_private_releases_may_be_put_together() -> None:
    table = declared(people(1500, dependence=0.3))
    first, second = (ic.publish(table, method=ic.DiffGen("0.1", steps=5), seed=seed).form for seed in (1, 2))
    from tests.attacks.attacking import public_truth

    risk = attack(Composition(), first, public_truth(table, first), earlier=(second,))
    assert not risk.got_through


def test_the_order_of_releases_matters_little_and_codes_not_at_all() -> None:
    frame = many_diseases(800)
    table = read_people(frame)
    # The other table has more people, so that its trees have other codes.
    more = read_people(pl.concat([frame, many_diseases(200, 1).with_columns(age=pl.col("age") + 100)]))
    one, two = publish(table, ic.Mondrian()), publish(more, ic.KMember())
    here = attack(Composition(), one, count(table), earlier=(two,))
    there = attack(Composition(), two, _recode(count(table), two.tally.trees), earlier=(one,))
    assert here.value == pytest.approx(there.value, abs=0.02)


def _recode(tally: Any, trees: Any) -> Any:
    codes = [translated(tally.trees[name], trees[name])[tally.column(name)] for name in tally.columns]
    return type(tally)(tally.columns, np.stack(codes, axis=1), tally.counts, trees)


def test_crowds_with_nothing_in_common_rule_nothing_out() -> None:
    table = read({"x": [1, 1, 2, 2], "s": ["a", "b", "c", "d"]}, ["x"], ["s"])
    wrong = read({"x": [1, 1, 2, 2], "s": ["c", "d", "a", "b"]}, ["x"], ["s"])
    risk = attack(Composition(), raw(table), count(table), earlier=(raw(wrong),))
    assert risk.value == 0.25
    assert risk.details["only one value left"] == 0


def test_values_are_translated_by_what_they_are_called() -> None:
    one = count(read({"x": ["b", "a", None, "c"]}, ["x"])).trees["x"]
    two = count(read({"x": ["z", "c", "b"]}, ["x"])).trees["x"]
    names = two.values.to_list()
    found = [None if code == 0 else "?" if code < 0 else names[code] for code in translated(one, two)]
    assert dict(zip(one.values.to_list(), found, strict=True)) == {None: None, "a": "?", "b": "b", "c": "c"}
    assert translated(one, one).tolist() == list(range(one.size))


def test_what_composition_lacks() -> None:
    table = read_people(many_diseases(100))
    form = one_group(table)
    assert Composition().lacks(Target(form, count(table))) == "no earlier release is given"
    assert Composition().lacks(Target(form, earlier=(form,))) == "the table before is needed"


# --- minimality ---

AT_MOST_HALF = ic.ConfidenceBounds({"HIV": 0.5}, column="sick")


def wongs_table(villages: int) -> pl.DataFrame:
    """Wong et al.'s example in every village: two people of kind 1 with HIV, and four of kind 2 without."""
    return pl.DataFrame(
        {
            "village": np.repeat(np.arange(villages), 6),
            "kind": [1, 1, 2, 2, 2, 2] * villages,
            "sick": ["HIV", "HIV", "flu", "flu", "flu", "flu"] * villages,
        }
    )


def test_a_group_that_was_not_cut_tells_why() -> None:
    table = ic.read(wongs_table(80), quasi=["village", "kind"], sensitive=["sick"])
    release = ic.publish(table, [AT_MOST_HALF], method=ic.Mondrian(), seed=0)
    assert len(release.form.group_sizes) == 80
    risk = attack(Minimality(), release.form, count(table), require=(AT_MOST_HALF,))
    assert risk.got_through
    assert risk.value == 1
    assert risk.worst == 1
    assert risk.baseline == pytest.approx(2 / 3)
    assert risk.details["crowds"] == 80


def test_where_no_way_could_be_cut_conditioning_says_nothing() -> None:
    # Eight people of whom five have a: no two halves have four values each, whoever has them.
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.permutation(list("aaaaabcd")) for _ in range(60)])
    frame = pl.DataFrame({"village": np.repeat(np.arange(60), 8), "kind": list(range(8)) * 60, "sick": values})
    table = ic.read(frame, quasi=["village", "kind"], sensitive=["sick"])
    tally = count(table)
    form = grouped(table, tally.column("village") - 1)
    risk = attack(Minimality(), form, tally, require=(ic.DistinctLDiversity(4),))
    assert risk.details["crowds"] == 60
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline) == pytest.approx(5 / 8)


def test_groups_that_no_column_can_cut_are_passed_over() -> None:
    frame = pl.DataFrame({"village": np.repeat(np.arange(10), 6), "sick": ["HIV", "flu", "flu"] * 20})
    table = ic.read(frame, quasi=["village"], sensitive=["sick"])
    risk = attack(Minimality(), raw(table), count(table), require=(AT_MOST_HALF,))
    assert (risk.people, risk.value, risk.low, risk.high) == (0, 0, 0, 1)
    assert not risk.got_through


def test_values_that_go_with_nothing_are_not_told_by_the_cuts() -> None:
    table = declared(people(3000))
    require = (ic.KAnonymity(4), ic.ProbabilisticLDiversity(2))
    release = ic.publish(table, require, method=ic.Mondrian(), seed=0)
    assert not attack(Minimality(), release.form, count(table), require=require).got_through


def test_what_minimality_lacks() -> None:
    table = declared(people(200))
    form, truth = raw(table), count(table)
    require = (ic.KAnonymity(2),)
    nothing = "no model speaks of sensitive values, so where the method stopped says nothing of them"
    assert Minimality().lacks(Target(form, truth)) == nothing
    assert Minimality().lacks(Target(form, truth, require=require)) == nothing
    named = (ic.DistinctLDiversity(2, column="sick"),)
    assert Minimality().lacks(Target(form, truth, require=named)) is None
    assert Minimality().lacks(Target(form, require=named)) == "the table before is needed"
    buckets = ic.publish(table, [ic.ProbabilisticLDiversity(2)], method=ic.Anatomy(), seed=0).form
    lacking = "the release has no groups that a method cut"
    assert Minimality().lacks(Target(buckets, truth, require=named)) == lacking


@pytest.mark.parametrize("given", [{"max_groups": 0}, {"ways": 0}])
def test_efforts_are_checked(given: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        Minimality(**given)
