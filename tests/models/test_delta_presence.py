"""δ-presence: the paper's ratios where groups share nobody, and all possible worlds where they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.core.model import for_each_group
from incrowd.errors import ConformanceError, RecipeError, SchemaError, Unsatisfiable
from incrowd.models import presence
from incrowd.models.delta_presence import DeltaPresence, GroupPresence
from incrowd.models.presence import Presence
from incrowd.testing import Case
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, verdicts
from tests.models.populations import (
    CUTS,
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

SHARES = st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1.0])


def worlds(rows: Sequence[int], may_be: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """List everybody who is present, for every way in which groups of so many rows can be such people."""
    if not rows:
        yield ()
        return
    for chosen in combinations(may_be[0], rows[0]):
        left = [[person for person in people if person not in chosen] for people in may_be[1:]]
        for others in worlds(rows[1:], left):
            yield chosen + others


def probabilities(rows: Sequence[int], may_be: Sequence[Sequence[int]], people: int) -> list[Fraction]:
    """Return how likely everybody is to be present, all worlds being equally likely; nothing if there is none."""
    seen = list(worlds(rows, may_be))
    return [Fraction(sum(person in present for present in seen), len(seen)) for person in range(people)] if seen else []


# --- the definition ---


def test_groups_that_share_nobody_have_rows_over_people() -> None:
    groups = in_boxes([1, 2], [[(1, 3)], [(3, 6)]], [(1,), (1,), (2,), (2,), (3,), (4,), (5,), (5,)])
    assert DeltaPresence(0.5).achieved(groups) == 0.5
    assert verdicts(DeltaPresence(0.5), groups) == [True, True]
    assert verdicts(DeltaPresence(0.49), groups) == [True, False]
    assert verdicts(DeltaPresence(0.5, min_presence=0.25), groups) == [True, True]
    assert verdicts(DeltaPresence(0.5, min_presence=0.26), groups) == [False, True]
    assert DeltaPresence(0.5, min_presence=0.26).achieved(groups) == np.inf


def test_people_in_no_group_are_known_to_be_absent() -> None:
    groups = in_boxes([1], [[(1, 3)]], [(1,), (2,), (3,)])
    assert verdicts(DeltaPresence(0.5), groups) == [True]
    assert verdicts(DeltaPresence(0.5, min_presence=0.1), groups) == [False]
    assert DeltaPresence(0.5, min_presence=0.1).achieved(groups) == np.inf


def test_more_rows_than_people_fail() -> None:
    groups = in_boxes([3, 1], [[(1, 2)], [(4, 5)]], [(1,), (1,)])
    assert verdicts(DeltaPresence(1.0), groups) == [False, False]  # nobody can be the second
    assert DeltaPresence(1.0).achieved(groups) == np.inf


def test_rows_over_people_is_not_enough_where_groups_share_people() -> None:
    # Only one person can be the first row, so the second is the other one, for certain: not one of two.
    rows, boxes, people = [1, 1], [[(1, 2)], [(1, 3)]], [(1,), (2,)]
    assert probabilities(rows, [[0], [0, 1]], 2) == [1, 1]
    assert verdicts(GroupPresence(0.5), in_boxes(rows, boxes, people)) == [False, True]
    assert verdicts(DeltaPresence(0.5), in_boxes(rows, boxes, people)) == [False, False]
    assert DeltaPresence(0.5).achieved(in_boxes(rows, boxes, people)) == 1


def test_people_of_two_groups_may_be_present_in_either() -> None:
    rows, boxes, people = [1, 1], [[(1, 4)], [(3, 6)]], [(1,), (2,), (3,), (4,), (5,)]
    shared = probabilities(rows, [[0, 1, 2], [2, 3, 4]], 5)[2]
    assert shared == Fraction(1, 2)  # more than the 1/3 of either group
    assert verdicts(DeltaPresence(0.5), in_boxes(rows, boxes, people)) == [False, False]
    assert verdicts(DeltaPresence(1.0), in_boxes(rows, boxes, people)) == [True, True]
    assert DeltaPresence(0.5).achieved(in_boxes(rows, boxes, people)) == 1  # at most: one half or one half


@settings(CHECKED, max_examples=60)
@given(boxes=drawn_boxes(1, most=3), people=drawn_people(1, most=7), most=SHARES, least=SHARES, data=st.data())
def test_whatever_satisfies_it_does_so_in_all_worlds_together(
    boxes: list[Any], people: list[Any], most: float, least: float, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(1, 3), min_size=len(boxes), max_size=len(boxes)))
    may_be = [[place for place, person in enumerate(people) if holds(box, person)] for box in boxes]
    truth = probabilities(rows, may_be, len(people))
    assume(truth)
    groups, places = in_boxes(rows, boxes, people), [place for own in may_be for place in own]
    share_nobody = len(places) == len(set(places))
    bound = DeltaPresence(most).achieved(groups)
    assert bound == float(max(truth)) if share_nobody else bound >= float(max(truth))
    for model in (DeltaPresence(most), DeltaPresence(max(most, least), min_presence=least)):
        fits = max(truth) <= Fraction(str(model.max_presence)) and (
            not model.min_presence or min(truth) >= Fraction(str(model.min_presence))
        )
        if all(verdicts(model, groups)):
            assert fits
        elif share_nobody:
            assert not fits


@settings(max_examples=60)
@given(boxes=drawn_boxes(2, most=6), people=drawn_people(2, most=30), data=st.data())
def test_many_groups_are_compared_in_pieces_or_not_at_all(
    boxes: list[Any], people: list[Any], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(1, 3), min_size=len(boxes), max_size=len(boxes)))
    groups = in_boxes(rows, boxes, people)
    at_once = Presence(groups).highest
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(presence, "PAIRS_AT_ONCE", 2)
        assert Presence(groups).highest.tolist() == at_once.tolist()
        limits.setattr(presence, "MOST_COMPARED", 1)
        assert (Presence(groups).highest >= at_once).all()


@CHECKED
@given(boxes=drawn_boxes(2), people=drawn_people(2), most=SHARES, data=st.data())
def test_a_verdict_falls_on_those_groups_whose_people_are_concerned(
    boxes: list[Any], people: list[Any], most: float, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(1, 3), min_size=len(boxes), max_size=len(boxes)))
    may_be = [{place for place, person in enumerate(people) if holds(box, person)} for box in boxes]
    found = verdicts(DeltaPresence(most), in_boxes(rows, boxes, people))
    for place, own in enumerate(may_be):
        if not any(own & other for other in may_be[:place] + may_be[place + 1 :]):
            assert found[place] == (bool(own) and Fraction(rows[place], len(own)) <= Fraction(str(most)))
        elif found[place]:
            assert Fraction(rows[place], len(own)) <= Fraction(str(most))


@CHECKED
@given(most=SHARES, data=st.data())
def test_splitting_cannot_help_the_share_that_it_says(most: float, data: st.DataObject) -> None:
    # Any groups that share nobody, of any part of the rows: those that satisfy it hold no more rows than it says.
    people = data.draw(drawn_people(1, most=20))
    rows = data.draw(st.lists(st.integers(1, 9), min_size=5, max_size=5))
    fine = in_boxes(rows, [[(value, value + 1)] for value in range(1, 6)], people)
    coarse = in_boxes([sum(rows)], [[(1, 6)]], people)
    (failing,) = DeltaPresence(most).least_failing(coarse)
    unsafe = sum(count for count, safe in zip(rows, verdicts(DeltaPresence(most), fine), strict=True) if not safe)
    assert failing * sum(rows) <= unsafe + 1e-9
    assert failing == 0 or not all(verdicts(DeltaPresence(most), coarse))


def test_with_a_least_one_failing_group_fails_all_below() -> None:
    model = DeltaPresence(0.5, min_presence=0.2)
    assert model.least_failing(in_boxes([1, 1], [[(1, 3)], [(3, 6)]], [(1,), (2,), (3,), (4,)])).tolist() == [0, 0]
    assert model.least_failing(in_boxes([1], [[(1, 3)]], [(1,), (2,), (3,), (4,)])).tolist() == [1]


def test_no_groups() -> None:
    nothing = in_boxes([], [], [(1,)])
    assert verdicts(DeltaPresence(0.5), nothing) == []
    assert DeltaPresence(0.5).achieved(nothing) == 0


def test_needs_a_population() -> None:
    for model in (DeltaPresence(0.5), GroupPresence(0.5)):
        with pytest.raises(SchemaError, match="population"):
            model.satisfied(Groups(np.array([3])))


# --- releases ---


@settings(max_examples=22)
@given(drawn=cases_with_population(), most=SHARES, least=st.sampled_from([0.0, 0.1, 0.3]))
def test_strict_regions_keep_it(drawn: tuple[Case, pl.DataFrame], most: float, least: float) -> None:
    case, people = drawn
    assume(not has_missing(case.frame.select(case.quasi), people))  # `*` then holds for people of other groups too
    model = DeltaPresence(max(most, least), min_presence=least)
    release = publish(case, people, model, ic.Mondrian())
    if release is None:
        everybody = Fraction(case.frame.height, people.height)
        assert not Fraction(str(least)) <= everybody <= Fraction(str(model.max_presence))
        return
    found = recount(release, case, people)
    ratios = [Fraction(rows, len(places)) for rows, places in found]
    assert float(max(ratios)) == release.guarantees[0].achieved
    assert all(Fraction(str(least)) <= ratio <= Fraction(str(model.max_presence)) for ratio in ratios)
    places = [place for _, own in found for place in own]
    assert len(places) == len(set(places))
    assert not least or len(places) == people.height


@settings(max_examples=15)
@given(drawn=cases_with_population(), most=SHARES, cuts=CUTS)
def test_other_ways_of_showing_keep_it_or_are_refused(drawn: tuple[Case, pl.DataFrame], most: float, cuts: Any) -> None:
    case, people = drawn
    for method in variants(cuts):
        try:
            release = publish(case, people, DeltaPresence(most), method)
        except ConformanceError:
            assert method != ic.Mondrian() or has_missing(case.frame.select(case.quasi), people)
            continue
        if release is None:
            continue
        found = recount(release, case, people)
        if sum(len(places) for _, places in found) <= 12:  # else there are too many worlds
            truth = probabilities([rows for rows, _ in found], [places for _, places in found], people.height)
            assert not truth or max(truth) <= Fraction(str(most))


def test_at_least_needs_boxes_that_leave_nobody_out() -> None:
    people = ic.datasets.census(200, seed=7).select("age", "sex", "education")
    table = ic.read(people[:100], quasi=people.columns, population=people)
    trimmed, whole = (ic.publish(table, DeltaPresence(0.8, min_presence=least)) for least in (0.0, 0.2))
    case = Case(people[:100], tuple(people.columns))
    covered = [sum(len(places) for _, places in recount(release, case, people)) for release in (trimmed, whole)]
    assert covered[0] < covered[1] == people.height
    ratios = [rows / len(places) for rows, places in recount(whole, case, people)]
    assert 0.2 <= min(ratios) < max(ratios) <= 0.8
    assert len(ratios) > 10


def test_is_unsatisfiable_where_the_whole_table_is_too_likely() -> None:
    people = pl.DataFrame({"x": [1, 2, 3, 4]})
    table = ic.read(people[:3], quasi=["x"], population=people)
    assert ic.publish(table, DeltaPresence(0.75)).to_polars()["x"].to_list() == ["*", "*", "*"]
    with pytest.raises(Unsatisfiable, match=r"\(0, 0.7\)-presence: all 3 rows together reach 0.75"):
        ic.publish(table, DeltaPresence(0.7))
    with pytest.raises(Unsatisfiable, match=r"\(0.8, 1\)-presence"):
        ic.publish(table, DeltaPresence(1.0, min_presence=0.8))


# --- parameters ---


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_presence": 0},
        {"max_presence": 1.1},
        {"max_presence": "x"},
        {"max_presence": True},
        {"max_presence": 0.5, "min_presence": -0.1},
        {"max_presence": 0.5, "min_presence": 0.6},
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="delta-presence"):
        DeltaPresence(**parameters)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(DeltaPresence(0.5, min_presence=0.1))
    assert str(DeltaPresence(0.5, min_presence=0.1)) == "(0.1, 0.5)-presence"
    (of_each,) = for_each_group([DeltaPresence(0.5, min_presence=0.1)])
    is_a_value(of_each)
    assert str(of_each) == "(0.1, 0.5)-presence in each group"
