"""Linkage: who is found in a table as it is, and nobody in one big group."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.external_linkage import ExternalLinkage
from incrowd.attacks.linkage import Linkage
from incrowd.core.tally import Population
from incrowd.core.target import Target
from incrowd.errors import RecipeError
from tests.attacks.attacking import attack, census, count, declared, grouped, one_group, people, raw, read


def test_rows_of_a_table_as_it_is_are_found() -> None:
    table = census(2000)
    risk = attack(Linkage(), raw(table), count(table))
    assert risk.got_through
    assert risk.worst == 1
    tally = count(table).project(["age", "sex", "education", "marital"])[0]
    assert risk.value == pytest.approx(len(tally) / 2000)
    assert risk.details["alone"] == pytest.approx((tally.counts == 1).sum() / 2000)


def test_rows_of_one_big_group_are_not_found() -> None:
    table = census(2000)
    risk = attack(Linkage(), one_group(table), count(table))
    assert not risk.got_through
    assert risk.value == pytest.approx(risk.baseline) == pytest.approx(1 / 2000)


def test_a_k_anonymous_release_keeps_everybody_among_k() -> None:
    table = census(2000)
    for method in (ic.Mondrian(), ic.LocalRecoding(max_distortion=1.0), ic.KMember()):
        release = ic.publish(table, [ic.KAnonymity(7)], method=method, seed=0)
        assert attack(Linkage(), release.form, count(table)).worst <= 1 / 7 + 1e-12


def test_without_the_table_before_groups_are_peoples_crowds() -> None:
    table = census(2000)
    release = ic.publish(table, [ic.KAnonymity(5)], seed=0)
    risk = attack(Linkage(), release.form)
    assert risk.value == pytest.approx(len(release.form.group_sizes) / release.rows)
    assert risk.worst == pytest.approx(1 / release.form.group_sizes.min())


def test_people_whom_nothing_fits_are_safe() -> None:
    table = read({"x": [1, 2, 3, 4], "s": list("abab")}, ["x"], ["s"])
    risk = attack(Linkage(), grouped(table, [0, 0, -1, -1]), count(table))
    assert risk.value == 0.25  # two people with one half each, and two with nothing


# --- an external table ---


def with_register(frame: pl.DataFrame, register: pl.DataFrame) -> tuple[ic.Table, Population]:
    table = declared(frame, population=register)
    population = count(table).population
    assert population is not None
    return table, population


def test_names_are_found_for_rows_as_they_are() -> None:
    frame = people(400)
    table, population = with_register(frame, frame.drop("sick"))
    tally = count(table)
    risk = attack(ExternalLinkage(), raw(table), tally, external=population)
    assert risk.got_through
    alone = tally.project(["age", "city", "sex"])[0]
    assert risk.value == pytest.approx(len(alone) / 400)
    assert risk.details["marketer"] == risk.value
    assert risk.details["journalist"] == risk.worst == 1
    assert risk.details["rows that one person fits"] == pytest.approx((alone.counts == 1).sum() / 400)


def test_names_are_not_found_in_one_big_group() -> None:
    frame = people(400)
    table, population = with_register(frame, frame.drop("sick"))
    risk = attack(ExternalLinkage(), one_group(table), count(table), external=population)
    assert not risk.got_through
    assert risk.value == pytest.approx(1 / 400)


def misspelt(frame: pl.DataFrame) -> pl.DataFrame:
    """Everybody is a year older, and everybody from Turku has moved within the region."""
    return frame.drop("sick").with_columns(
        age=(pl.col("age") + 1).clip(20, 80), city=pl.col("city").replace({"Turku": "Malmo", "Malmo": "Turku"})
    )


def test_a_misspelt_table_is_joined_by_what_is_nearly_right_alone() -> None:
    frame = people(300)
    # Ages are four years apart, so that nobody can be mistaken for the next.
    frame = frame.with_columns(age=20 + (pl.int_range(pl.len()) * 7 % 15) * 4, city=pl.lit("Turku"), sex=pl.lit("F"))
    table, population = with_register(frame, misspelt(frame))
    exact = attack(ExternalLinkage(), raw(table), count(table), external=population)
    assert exact.value == 0
    assert exact.details["rows that nobody fits"] == 1
    assert not exact.got_through
    for half in ({"tolerance": 0.02}, {"levels": 1}):
        assert attack(ExternalLinkage(**half), raw(table), count(table), external=population).value == 0
    fuzzy = attack(ExternalLinkage(tolerance=0.02, levels=1), raw(table), count(table), external=population)
    assert fuzzy.got_through
    assert fuzzy.details["rows that nobody fits"] == 0
    assert fuzzy.value == pytest.approx(15 / 300)  # twenty people have each age


def test_an_external_table_may_know_less() -> None:
    frame = people(300)
    table, population = with_register(frame, frame.drop("sick"))
    some = Population(("age",), population.codes[:, [population.columns.index("age")]], population.counts)
    risk = attack(ExternalLinkage(), raw(table), count(table), external=some)
    ages = frame["age"].value_counts()["count"].to_list()
    assert risk.value == pytest.approx(len(ages) / 300)


@pytest.mark.parametrize("given", [{"tolerance": -1}, {"levels": -1}, {"levels": 0.5}])
def test_tolerances_are_checked(given: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        ExternalLinkage(**given)


def test_what_is_lacking_is_said() -> None:
    frame = people(300)
    table, population = with_register(frame, frame.drop("sick"))
    assert ExternalLinkage().lacks(Target(raw(table))) == "no external table is given"
    elsewhere = Population(("height",), population.codes[:, :1], population.counts)
    lacking = ExternalLinkage().lacks(Target(raw(table), external=elsewhere))
    assert lacking == "the external table has none of the quasi-identifiers"
    buckets = ic.publish(table, [ic.ProbabilisticLDiversity(2)], method=ic.Anatomy(), seed=0).form
    assert ExternalLinkage().lacks(Target(buckets, external=population)) == "no row has labels of its own"
    noisy = ic.publish(table, method=ic.DiffGen(1, steps=2), seed=0).form
    assert ExternalLinkage().lacks(Target(noisy, external=population)) == "no row has labels of its own"
    assert Linkage().lacks(Target(noisy)) == "noisy counts have no row that is anybody's"
