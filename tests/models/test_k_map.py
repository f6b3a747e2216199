"""k-map: people counted one by one, in boxes by hand and from published labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable
from incrowd.models.k_map import KMap
from incrowd.testing import Case
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, verdicts
from tests.models.populations import (
    CUTS,
    around,
    cases_with_population,
    drawn_boxes,
    drawn_people,
    has_missing,
    holds,
    in_boxes,
    publish,
    recount,
    variants,
)


def test_rows_are_people_not_rows() -> None:
    groups = in_boxes([1, 9], [[(1, 3)], [(4, 6)]], [(1,), (2,), (2,), (3,), (5,)])
    assert verdicts(KMap(1), groups) == [True, True]
    assert verdicts(KMap(2), groups) == [True, False]  # nine rows that only one person can be
    assert verdicts(KMap(3), groups) == [True, False]
    assert verdicts(KMap(4), groups) == [False, False]
    assert KMap(2).achieved(groups) == 1


def test_a_group_that_nobody_can_be_fails() -> None:
    groups = in_boxes([2], [[(3, 4)]], [(1,), (2,)])
    assert verdicts(KMap(1), groups) == [False]
    assert KMap(1).achieved(groups) == 0


def test_no_groups() -> None:
    nothing = in_boxes([], [], [(1,)])
    assert verdicts(KMap(2), nothing) == []
    assert KMap(2).achieved(nothing) == math.inf


def test_needs_a_population() -> None:
    with pytest.raises(SchemaError, match="population"):
        KMap(2).satisfied(Groups(np.array([3])))
    table = ic.read(pl.DataFrame({"x": [1, 2]}), quasi=["x"])
    with pytest.raises(SchemaError, match="population"):
        ic.publish(table, KMap(2))


@CHECKED
@given(boxes=drawn_boxes(2), people=drawn_people(2), k=st.integers(1, 5))
def test_agrees_with_its_definition(boxes: list[Any], people: list[Any], k: int) -> None:
    groups = in_boxes([1] * len(boxes), boxes, people)
    counts = [sum(holds(box, person) for person in people) for box in boxes]
    assert verdicts(KMap(k), groups) == [count >= k for count in counts]
    assert KMap(k).achieved(groups) == min(counts)


@CHECKED
@given(members=drawn_people(2), people=drawn_people(2, most=30), k=st.integers(1, 8), cut=st.integers(1, 11))
def test_is_monotone_and_hereditary(members: list[Any], people: list[Any], k: int, cut: int) -> None:
    parts = [part for part in (members[:cut], members[cut:]) if part]
    whole, of_parts = verdicts(KMap(k), around([members], people)), verdicts(KMap(k), around(parts, people))
    assert whole[0] or not any(of_parts)


# --- releases ---


@settings(max_examples=10)
@given(drawn=cases_with_population(), k=st.integers(1, 6), cuts=CUTS)
def test_every_published_row_could_be_k_people(drawn: tuple[Case, pl.DataFrame], k: int, cuts: Any) -> None:
    case, people = drawn
    missing = has_missing(case.frame.select(case.quasi), people)
    for method in variants(cuts):
        release = publish(case, people, KMap(k), method)
        if release is None:
            assert method.labels != "region" or people.height < k or missing  # anything is everybody
            continue
        fewest = min(len(found) for _, found in recount(release, case, people))
        achieved = release.guarantees[0].achieved
        assert fewest >= achieved >= k
        assert fewest == achieved or missing


def test_a_single_row_hides_among_people_who_are_not_in_the_table() -> None:
    table = ic.read(pl.DataFrame({"age": [40]}), quasi=["age"], population=pl.DataFrame({"age": [20, 30, 40, 50]}))
    release = ic.publish(table, KMap(4))
    assert release.to_polars()["age"].to_list() == ["*"]
    assert release.guarantees[0].achieved == 4
    with pytest.raises(Unsatisfiable, match=r"5-map: all 1 rows together reach 4\b"):
        ic.publish(table, KMap(5))


def test_tight_labels_show_no_more_people_than_they_hold_for() -> None:
    table = ic.read(pl.DataFrame({"age": [40]}), quasi=["age"], population=pl.DataFrame({"age": [20, 30, 40, 50]}))
    with pytest.raises(Unsatisfiable, match=r"2-map: all 1 rows together reach 1\b"):
        ic.publish(table, KMap(2), method=ic.Mondrian(labels="tight"))


def test_a_value_that_the_population_lacks_is_generalized_with_others() -> None:
    frame = pl.DataFrame({"age": [20, 20, 40, 40, 60]})
    people = pl.DataFrame({"age": [20] * 3 + [40] * 3})
    release = ic.publish(ic.read(frame, quasi=["age"], population=people), KMap(3))
    assert release.to_polars()["age"].to_list() == ["20", "20", ">=32", ">=32", ">=32"]


def test_rows_without_a_value_could_be_people_without_one() -> None:
    frame = pl.DataFrame({"age": [None, 40, 41], "sex": ["m", "m", "m"]})
    people = pl.DataFrame({"age": [None, None, 40, 40, 41, 41], "sex": ["m"] * 6})
    release = ic.publish(ic.read(frame, quasi=["age", "sex"], population=people), KMap(2))
    assert release.to_polars()["age"].to_list() == [None, "40", "41"]
    assert release.guarantees[0].achieved == 2


def test_a_sample_is_compared_with_the_whole_population() -> None:
    people = ic.datasets.census(750, seed=5).select("age", "sex", "education")
    table = ic.read(people[:300], quasi=people.columns, population=people)
    release = ic.publish(table, KMap(7), sample=0.5, seed=1)
    found = recount(release, Case(people[:300], tuple(people.columns)), people)
    assert min(len(places) for _, places in found) == release.guarantees[0].achieved >= 7
    assert any(count < 7 for count, _ in found)  # k-map, not k-anonymity


def test_is_kept_together_with_other_models() -> None:
    people = ic.datasets.census(2000, seed=6).select("age", "sex", "occupation")
    table = ic.read(people[:400], quasi=["age", "sex"], sensitive=["occupation"], population=people)
    release = ic.publish(table, [KMap(30), ic.KAnonymity(3), ic.LDiversity(2)])
    assert all(guarantee.achieved >= least for guarantee, least in zip(release.guarantees, (30, 3, 2), strict=True))


@pytest.mark.parametrize("k", [0, -1, 1.5, "x", True])
def test_parameters_are_checked(k: Any) -> None:
    with pytest.raises(RecipeError, match="k-map"):
        KMap(k)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(KMap(3))
    assert str(KMap(3)) == "3-map"
