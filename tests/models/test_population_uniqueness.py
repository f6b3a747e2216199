"""Population uniqueness: counted in a population, or estimated from a sample of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.core.model import for_each_group
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, SchemaError
from incrowd.models.k_map import KMap
from incrowd.models.population_uniqueness import PopulationUniqueness
from incrowd.models.slide_negative_binomial import snb_stays_alone
from incrowd.models.superpopulation import pitman_stays_alone, zayatz_stays_alone
from incrowd.testing import Case
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, verdicts
from tests.models.populations import (
    CUTS,
    cases_with_population,
    drawn_boxes,
    drawn_people,
    holds,
    in_boxes,
    publish,
    recount,
    variants,
)

ESTIMATES = {"pitman": pitman_stays_alone, "zayatz": zayatz_stays_alone, "snb": snb_stays_alone}
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def sized(*sizes: int) -> Groups:
    return Groups(np.array(sizes, dtype=np.int64))


def test_rows_that_one_person_could_be_are_counted() -> None:
    groups = in_boxes([2, 1, 1], [[(1, 2)], [(2, 3)], [(4, 5)]], [(1,), (1,), (2,)])
    assert PopulationUniqueness(0.5).achieved(groups) == 0.5  # of the last, nobody is found at all
    assert verdicts(PopulationUniqueness(0.5), groups) == [True] * 3
    assert verdicts(PopulationUniqueness(0.49), groups) == [False] * 3


def test_no_groups() -> None:
    assert verdicts(PopulationUniqueness(0.0), in_boxes([], [], [(1,)])) == []
    assert PopulationUniqueness(0.0).achieved(in_boxes([], [], [(1,)])) == 0
    assert PopulationUniqueness(0.0, fraction=0.1).achieved(sized()) == 0


def test_needs_a_population_or_a_fraction_of_it() -> None:
    with pytest.raises(SchemaError, match="population"):
        PopulationUniqueness(0.1).satisfied(sized(1, 2))


@CHECKED
@given(boxes=drawn_boxes(2), people=drawn_people(2), share=SHARES, data=st.data())
def test_agrees_with_its_definition(boxes: list[Any], people: list[Any], share: float, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(1, 9), min_size=len(boxes), max_size=len(boxes)))
    unique = sum(
        count for count, box in zip(rows, boxes, strict=True) if sum(holds(box, person) for person in people) <= 1
    )
    expected = Fraction(unique, sum(rows)) <= Fraction(str(share))
    groups = in_boxes(rows, boxes, people)
    assert verdicts(PopulationUniqueness(share), groups) == [expected] * len(boxes)
    (of_each,) = for_each_group([PopulationUniqueness(share)])
    assert expected or not all(verdicts(of_each, groups))


# --- estimates ---


@CHECKED
@given(sizes=SIZES, share=SHARES, fraction=st.sampled_from([0.01, 0.1, 0.11, 0.5, 1.0]))
def test_is_the_share_that_is_alone_times_the_chance_to_stay_so(
    sizes: list[int], share: float, fraction: float
) -> None:
    alone = sizes.count(1) / sum(sizes)
    for estimator, stays_alone in ESTIMATES.items():
        model = PopulationUniqueness(share, fraction=fraction, estimator=estimator)  # type: ignore[arg-type]
        expected = alone * stays_alone(np.array(sizes), fraction) if alone else 0
        assert model.achieved(sized(*sizes)) == expected <= alone
        assert verdicts(model, sized(*sizes)) == [expected <= share] * len(sizes)
        (of_each,) = for_each_group([model])
        assert all(verdicts(model, sized(*sizes))) or not all(verdicts(of_each, sized(*sizes)))


@pytest.mark.parametrize("sizes", [(1, 1, 2, 5), (1, 3, 3, 3, 3), (1, 1, 1, 1, 1, 90)])
def test_the_estimator_follows_the_fraction(sizes: tuple[int, ...]) -> None:
    """Dankar et al.: Pitman's up to a tenth, and the smaller of the others' above."""
    groups = sized(*sizes)

    def found(fraction: float, estimator: Any = None) -> float:
        return PopulationUniqueness(0.1, fraction=fraction, estimator=estimator).achieved(groups)

    assert found(0.1) == found(0.1, "pitman")
    assert found(0.11) == min(found(0.11, "zayatz"), found(0.11, "snb"))


def test_a_sample_of_the_table_is_a_smaller_fraction() -> None:
    groups = sized(1, 1, 2, 5)
    halved = Tally((), np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int64), {}, rate=Fraction(1, 2))
    model = PopulationUniqueness(0.1, fraction=0.08)
    expected = PopulationUniqueness(0.1, fraction=0.04).achieved(groups)
    assert model.achieved(replace(groups, table=halved)) == expected < model.achieved(groups)


def test_the_whole_population_is_as_unique_as_it_looks() -> None:
    assert PopulationUniqueness(0.1, fraction=1.0).achieved(sized(1, 1, 2, 6)) == 0.2


# --- releases ---


@settings(max_examples=8)
@given(drawn=cases_with_population(), share=SHARES, cuts=CUTS)
def test_what_is_published_keeps_it(drawn: tuple[Case, pl.DataFrame], share: float, cuts: Any) -> None:
    case, people = drawn
    for method in variants(cuts):
        release = publish(case, people, PopulationUniqueness(share), method)
        if release is not None:
            found = recount(release, case, people)
            unique = sum(rows for rows, places in found if len(places) <= 1) / release.rows
            achieved = release.guarantees[0].achieved
            assert unique <= achieved <= share
            assert unique == achieved


def test_mondrian_lets_no_row_be_unique() -> None:
    people = ic.datasets.census(1000, seed=8).select("age", "sex", "education")
    table = ic.read(people[:200], quasi=people.columns, population=people)
    release = ic.publish(table, PopulationUniqueness(0.2))
    assert release.guarantees[0].achieved == 0
    assert release.to_polars().equals(ic.publish(table, KMap(2)).to_polars())


@pytest.mark.parametrize("estimator", ["pitman", "zayatz", "snb"])
def test_the_full_domain_search_stops_at_the_estimate(estimator: Any) -> None:
    frame = ic.datasets.census(400, seed=8).select("age", "sex", "education")
    table = ic.read(frame, quasi=frame.columns)
    unique = PopulationUniqueness(0.01, fraction=0.2, estimator=estimator)
    release = ic.publish(table, unique, method=ic.FullDomain())
    assert 0 < release.guarantees[0].achieved <= 0.01
    sizes = release.form.group_sizes
    stays_alone = ESTIMATES[estimator]
    assert release.guarantees[0].achieved == (sizes == 1).mean() * len(sizes) / 400 * stays_alone(sizes, 0.2)


# --- parameters ---


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_share": -0.1},
        {"max_share": 1.1},
        {"max_share": "x"},
        {"max_share": 0.1, "fraction": 0},
        {"max_share": 0.1, "fraction": 1.5},
        {"max_share": 0.1, "fraction": 0.5, "estimator": "guess"},
        {"max_share": 0.1, "estimator": "pitman"},
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="population-uniqueness"):
        PopulationUniqueness(**parameters)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(PopulationUniqueness(0.01))
    is_a_value(PopulationUniqueness(0.01, fraction=0.05, estimator="zayatz"))
    assert str(PopulationUniqueness(0.01)) == "at most 0.01 of rows unique in the population"
    estimated = "at most 0.01 of rows unique in the population (estimated, from 0.05 of it)"
    assert str(PopulationUniqueness(0.01, fraction=0.05)) == estimated
