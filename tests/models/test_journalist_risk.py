"""Journalist risk: k-map said as a probability, and its mean over rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.model import for_each_group
from incrowd.errors import RecipeError
from incrowd.models.journalist_risk import JournalistRisk
from incrowd.models.k_map import KMap
from incrowd.testing import Case
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, exact, verdicts
from tests.models.populations import (
    CUTS,
    around,
    cases_with_population,
    drawn_boxes,
    drawn_people,
    holds,
    in_boxes,
    publish,
    recount,
    variants,
)

RISKS = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 1.0])


def test_the_largest_is_one_over_the_fewest_people() -> None:
    groups = in_boxes([3, 1], [[(1, 3)], [(3, 4)]], [(1,), (1,), (2,), (2,), (3,)])
    assert JournalistRisk(0.5).achieved(groups) == 1
    assert verdicts(JournalistRisk(0.25), groups) == [True, False]
    assert verdicts(JournalistRisk(0.24), groups) == [False, False]


def test_the_mean_is_over_rows() -> None:
    groups = in_boxes([3, 1], [[(1, 3)], [(3, 4)]], [(1,), (1,), (2,), (2,), (3,)])
    mean = (3 / 4 + 1) / 4
    assert JournalistRisk(0.5, average=True).achieved(groups) == mean
    assert verdicts(JournalistRisk(mean, average=True), groups) == [True, True]
    assert verdicts(JournalistRisk(0.43, average=True), groups) == [False, False]


def test_a_row_that_nobody_could_be_is_found_for_certain() -> None:
    groups = in_boxes([1, 1], [[(4, 5)], [(1, 2)]], [(1,), (1,)])
    assert JournalistRisk(0.5).achieved(groups) == 1
    assert verdicts(JournalistRisk(0.9), groups) == [False, True]
    assert JournalistRisk(0.5, average=True).achieved(groups) == 0.75


def test_no_groups() -> None:
    for model in (JournalistRisk(0.5), JournalistRisk(0.5, average=True)):
        assert verdicts(model, in_boxes([], [], [(1,)])) == []
        assert model.achieved(in_boxes([], [], [(1,)])) == 0


@CHECKED
@given(boxes=drawn_boxes(2), people=drawn_people(2), risk=RISKS, data=st.data())
def test_agrees_with_its_definition(boxes: list[Any], people: list[Any], risk: float, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(1, 9), min_size=len(boxes), max_size=len(boxes)))
    groups = in_boxes(rows, boxes, people)
    risks = [Fraction(1, max(sum(holds(box, person) for person in people), 1)) for box in boxes]
    assert verdicts(JournalistRisk(risk), groups) == [own <= exact(risk) for own in risks]
    assert JournalistRisk(risk).achieved(groups) == float(max(risks))
    mean = sum(own * count for own, count in zip(risks, rows, strict=True)) / sum(rows)
    assert verdicts(JournalistRisk(risk, average=True), groups) == [mean <= exact(risk)] * len(boxes)


@CHECKED
@given(boxes=drawn_boxes(1), people=drawn_people(1), k=st.integers(2, 8))
def test_is_k_map_said_as_a_probability(boxes: list[Any], people: list[Any], k: int) -> None:
    groups = in_boxes([1] * len(boxes), boxes, people)
    assert verdicts(JournalistRisk(1 / k), groups) == verdicts(KMap(k), groups)


@CHECKED
@given(members=drawn_people(2), people=drawn_people(2, most=30), risk=RISKS, cut=st.integers(1, 11))
def test_parts_are_never_safer_than_the_whole(members: list[Any], people: list[Any], risk: float, cut: int) -> None:
    parts = [part for part in (members[:cut], members[cut:]) if part]
    for model in (JournalistRisk(risk), JournalistRisk(risk, average=True)):
        whole, of_parts = verdicts(model, around([members], people)), verdicts(model, around(parts, people))
        assert whole[0] or not any(of_parts)
        assert model.achieved(around([members], people)) <= model.achieved(around(parts, people)) + 1e-12


@CHECKED
@given(boxes=drawn_boxes(2), people=drawn_people(2, most=30), risk=RISKS, data=st.data())
def test_every_group_within_the_bound_means_the_mean_is(
    boxes: list[Any], people: list[Any], risk: float, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(1, 10**6), min_size=len(boxes), max_size=len(boxes)))
    model, groups = JournalistRisk(risk, average=True), in_boxes(rows, boxes, people)
    (of_each,) = for_each_group([model])
    assert all(verdicts(model, groups)) or not all(verdicts(of_each, groups))


# --- releases ---


@settings(max_examples=8)
@given(drawn=cases_with_population(), risk=RISKS, average=st.booleans(), cuts=CUTS)
def test_what_is_published_keeps_it(drawn: tuple[Case, pl.DataFrame], risk: float, average: bool, cuts: Any) -> None:
    case, people = drawn
    for method in variants(cuts):
        release = publish(case, people, JournalistRisk(risk, average=average), method)
        if release is not None:
            found = [(rows, 1 / max(len(places), 1)) for rows, places in recount(release, case, people)]
            mean = sum(rows * own for rows, own in found) / release.rows
            counted = mean if average else max(own for _, own in found)
            achieved = release.guarantees[0].achieved
            assert counted <= achieved + 1e-12
            assert achieved <= risk + 1e-12
            assert counted == pytest.approx(achieved)


def test_of_both_the_mean_allows_no_more_groups() -> None:
    people = ic.datasets.census(2000, seed=6).select("age", "sex")
    table = ic.read(people[:400], quasi=people.columns, population=people)
    largest, mean = (ic.publish(table, JournalistRisk(0.05, average=average)) for average in (False, True))
    assert largest.to_polars().equals(mean.to_polars())  # Mondrian holds every group to the mean
    assert mean.guarantees[0].achieved < largest.guarantees[0].achieved <= 0.05


@pytest.mark.parametrize(
    "parameters", [{"risk": 0}, {"risk": 1.1}, {"risk": "x"}, {"risk": True}, {"risk": 0.5, "average": 1}]
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="journalist-risk"):
        JournalistRisk(**parameters)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(JournalistRisk(0.2))
    is_a_value(JournalistRisk(0.2, average=True))
    assert str(JournalistRisk(0.2)) == "journalist risk of at most 0.2"
    assert str(JournalistRisk(0.2, average=True)) == "average journalist risk of at most 0.2"
