"""Extreme values, membership and singling out: releases that are weak on purpose, and strong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.extreme_values import ExtremeValues, tails
from incrowd.attacks.membership import Membership, near_misses, near_outsiders
from incrowd.attacks.singling_out import SinglingOut
from incrowd.core.tally import Population
from incrowd.core.target import Target
from incrowd.errors import RecipeError
from tests.attacks.attacking import attack, census, count, declared, grouped, one_group, people, public_truth, raw, read

pytestmark = pytest.mark.usefixtures("few_questions")

# --- extreme values ---


def incomes() -> ic.Table:
    """Read people of whom one earns 35 million."""
    rng = np.random.default_rng(0)
    income = np.concatenate([rng.integers(20, 90, 400) * 1000, [900_000, 950_000, 35_000_000]])
    return read(
        {"income": income, "age": rng.integers(20, 80, len(income)), "s": rng.integers(0, 5, len(income))},
        ["income", "age"],
        ["s"],
    )


def test_clusters_with_tight_ranges_show_the_outlier() -> None:
    table = incomes()
    release = ic.publish(table, [ic.KAnonymity(5)], method=ic.KMember(labels="tight"), seed=0)
    assert any("35000000" in label for label in release.to_polars()["income"].unique().to_list())
    risk = attack(ExtremeValues(fewer_than=2), release.form, count(table))
    assert risk.got_through
    assert risk.value > 0.5


@pytest.mark.parametrize(
    "method", [ic.KMember(), ic.Mondrian(), ic.FullDomain(max_withheld=0.3)], ids=lambda way: way.name
)
def test_nodes_and_cuts_do_not(method: Any) -> None:
    table = incomes()
    release = ic.publish(table, [ic.KAnonymity(5)], method=method, seed=0)
    risk = attack(ExtremeValues(fewer_than=2), release.form, count(table))
    assert risk.value == 0
    assert not risk.got_through


def test_a_value_that_is_shown_by_itself_is_shown() -> None:
    table = incomes()
    assert attack(ExtremeValues(), raw(table), count(table)).value == 1


def test_a_label_that_stands_for_anything_shows_no_end() -> None:
    table = read({"x": [None, 1, 2, 900], "y": [1, 1, 1, 1]}, ["x", "y"])
    form = grouped(table, [0, 0, 0, 0])
    assert form.shown.labels["x"].to_list() == ["*"]
    risk = attack(ExtremeValues(fewer_than=2), form, count(table))
    assert (risk.people, risk.value) == (2, 0)


def test_nobody_stands_out_where_many_share_the_ends() -> None:
    table = read({"x": [1] * 9 + [2] * 9}, ["x"])
    risk = attack(ExtremeValues(fewer_than=5), raw(table), count(table))
    assert (risk.people, risk.value, risk.low, risk.high) == (0, 0, 0, 0)
    assert risk.says == "Nobody stands out: at least 5 people share the extremes of every column."


def test_tails_end_where_few_becomes_many() -> None:
    low, high = tails(np.array([5, 1, 0, 1, 1, 50, 2, 1]), 3)
    assert np.flatnonzero(low).tolist() == [1, 3]
    assert np.flatnonzero(high).tolist() == [7]


def test_what_extreme_values_lack() -> None:
    table = declared(people(200))
    buckets = ic.publish(table, [ic.ProbabilisticLDiversity(2)], method=ic.Anatomy(), seed=0).form
    assert ExtremeValues().lacks(Target(buckets, count(table))) == "nothing is published as a range around people"
    names = read({"x": ["a", "b"]}, ["x"])
    assert ExtremeValues().lacks(Target(raw(names), count(names))) == "no quasi-identifier is a number or a date"
    assert ExtremeValues().lacks(Target(raw(table))) == "the table before is needed"
    with pytest.raises(RecipeError):
        ExtremeValues(fewer_than=1)


# --- membership ---


def halves(number: int, seed: int = 0, dependence: float = 0.3) -> tuple[ic.Table, Population]:
    """Read people of whom only the first half is in the table; the others are drawn alike."""
    frame = people(2 * number, seed, dependence=dependence)
    table = declared(frame.head(number), population=frame.drop("sick"))
    population = count(table).population
    assert population is not None
    return table, population


def test_buckets_tell_who_is_in_the_table() -> None:
    table = census(2000)
    release = ic.publish(table, [ic.ProbabilisticLDiversity(3)], method=ic.Anatomy(), seed=0)
    risk = attack(Membership(), release.form, count(table))
    assert risk.got_through
    assert risk.value == 1
    assert risk.details == {"insiders who fit": 1, "outsiders who fit": 0}


def test_buckets_tell_members_from_others_of_the_same_population() -> None:
    table, population = halves(300)
    release = ic.publish(table, [ic.ProbabilisticLDiversity(3)], method=ic.Anatomy(), seed=0)
    risk = attack(Membership(), release.form, count(table), external=population)
    assert risk.got_through
    assert risk.value == 1
    assert "people of the external table" in risk.says


def test_an_external_table_of_members_alone_is_no_use() -> None:
    table = declared(people(500), population=people(500).drop("sick"))
    risk = attack(Membership(), one_group(table), count(table), external=count(table).population)
    assert "near misses" in risk.says
    assert risk.people > 100


def test_one_big_group_does_not() -> None:
    table = census(2000)
    risk = attack(Membership(), one_group(table), count(table))
    assert not risk.got_through
    assert risk.value == pytest.approx(0.5)
    assert risk.details["outsiders who fit"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_noisy_counts_do_not(seed: int) -> None:
    table, population = halves(1000, seed)
    form = ic.publish(table, method=ic.DiffGen("0.1", steps=6), seed=seed).form
    truth = public_truth(table, form)
    external = Population(population.columns, _as_public(table, form, population), population.counts)
    risk = attack(Membership(), form, truth, external=external)
    assert not risk.got_through
    assert risk.value < 0.6


def _as_public(table: ic.Table, form: Any, population: Population) -> Any:
    from incrowd.hierarchies.public import public_codes

    trees = count(table).trees
    return np.stack(
        [
            public_codes(name, trees[name], form.tally.trees[name])[population.codes[:, place]]
            for place, name in enumerate(population.columns)
        ],
        axis=1,
    )


def test_those_who_are_shown_are_not_in_the_table() -> None:
    table = census(1000)
    target = Target(one_group(table), count(table))
    members = np.repeat(target.people.tuples, target.people.tuple_counts, axis=0)
    there = {tuple(person) for person in members.tolist()}
    found = near_outsiders(target, members, np.random.default_rng(0))
    assert len(found) >= 900
    assert there.isdisjoint(tuple(person) for person in found.tolist())


def test_near_misses_differ_in_one_attribute_at_most_and_share_another_with_a_donor() -> None:
    rng = np.random.default_rng(0)
    members = rng.integers(0, 6, (300, 4)).astype(np.int32)
    changed = near_misses(members, members, rng)
    moved = changed != members
    assert (moved.sum(axis=1) <= 1).all()
    assert moved.any()
    pairs = {(i, j, a, b) for row in members.tolist() for i, a in enumerate(row) for j, b in enumerate(row)}
    for before, after, where in zip(members.tolist(), changed.tolist(), moved, strict=True):
        for place in np.flatnonzero(where):
            assert any((other, place, before[other], after[place]) in pairs for other in range(4) if other != place)


def test_with_one_attribute_anybody_is_a_near_miss() -> None:
    members = np.arange(5, dtype=np.int32)[:, None]
    changed = near_misses(members, members, np.random.default_rng(0))
    assert set(changed.ravel().tolist()) <= set(range(5))


# --- singling out ---


def alone() -> ic.Table:
    rng = np.random.default_rng(0)
    return read({"x": rng.integers(0, 10_000, 800), "s": rng.integers(0, 9, 800)}, ["x"], ["s"])


@pytest.mark.parametrize("k", [2, 5, 20])
def test_rows_that_are_repeated_are_k_anonymous_and_yet_somebodys(k: int) -> None:
    table = alone()
    form = raw(table, times=k)
    assert form.group_sizes.min() >= k
    risk = attack(SinglingOut(), form, count(table))
    assert risk.got_through
    assert risk.value > 0.9


def test_a_sample_as_it_is_exposes_its_members() -> None:
    table = alone()
    sampled = np.random.default_rng(1).random(len(count(table))) < 0.3
    form = raw(table, times=sampled)
    risk = attack(SinglingOut(), form, count(table))
    assert risk.got_through
    assert risk.value > 0.9
    table, population = halves(1000)
    sampled = np.random.default_rng(1).random(len(count(table))) < 0.6
    risk = attack(Membership(), raw(table, times=sampled), count(table), external=population)
    assert risk.got_through
    assert risk.details["outsiders who fit"] == 0


def test_groups_of_one_size_are_not_taken_for_repetitions() -> None:
    """Where every count is k, a row may also stand for k people: the better of both ways counts."""
    table = read({"x": np.repeat(np.arange(100), 4)}, ["x"])
    risk = attack(SinglingOut(), raw(table), count(table))
    assert risk.value == pytest.approx(4 * 0.25 * 0.75**3)


@pytest.mark.parametrize("seed", range(3))
def test_differentially_private_counts_single_nobody_out(seed: int) -> None:
    table = declared(people(1500, dependence=0.3))
    form = ic.publish(table, method=ic.DiffGen("0.2", steps=8), seed=seed).form
    risk = attack(SinglingOut(), form, public_truth(table, form))
    assert not risk.got_through


def test_one_big_group_singles_nobody_out() -> None:
    table = declared(people(1500))
    risk = attack(SinglingOut(), one_group(table), count(table))
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline, abs=0.01)


def test_written_rows_of_sliced_tables_are_tried() -> None:
    table = declared(people(400))
    weak = ic.publish(table, [ic.ProbabilisticLDiversity(2)], method=ic.Anatomy(), seed=0).form
    assert attack(SinglingOut(), weak, count(table)).got_through
    everybody = ic.publish(
        declared(people(6000)), [ic.SlicedDiversity(2)], method=ic.Slicing(column_count=4, min_bucket_size=1000), seed=0
    )
    assert not attack(SinglingOut(), everybody.form, count(declared(people(6000)))).got_through


def test_the_table_before_is_needed() -> None:
    table = alone()
    for cls in (Membership, SinglingOut):
        assert cls().lacks(Target(raw(table))) == "the table before is needed"
    with pytest.raises(RecipeError):
        SinglingOut(conditions=0)


def test_the_order_of_secrets_changes_nothing() -> None:
    frame = people(600).with_columns(rich=pl.col("age") % 7)
    risks = []
    for sensitive in (["sick", "rich"], ["rich", "sick"]):
        table = ic.read(frame, quasi=["age", "city", "sex"], sensitive=sensitive)
        form = ic.publish(table, [ic.KAnonymity(3)], seed=0).form
        risks.append(attack(SinglingOut(conditions=50), form, count(table)))
    assert risks[0] == risks[1]
