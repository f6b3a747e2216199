"""t-closeness where people have several values: the documented formula, by fractions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups
from incrowd.hierarchies.flat import Exact
from tests.core.test_one_value_each import counted
from tests.people.adversary import Crowd, distance_of_people

people = st.lists(st.frozensets(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=6)


def crowds(groups: list[list[frozenset[int]]]) -> list[Crowd]:
    """Return the same groups as the adversary counts them."""
    named = [[((at, nth), values) for nth, values in enumerate(members)] for at, members in enumerate(groups)]
    every = [one for members in named for one in members]

    def have(members: list) -> dict:
        return {
            value: {person for person, values in members if value in values}
            for value in sorted({value for _, values in members for value in values})
        }

    return [Crowd(len(members), have(members), len(every), have(every)) for members in named]


def with_table(groups: list[list[frozenset[int]]]) -> Groups:
    found = counted(groups)
    everybody = [one for members in groups for one in members]
    whole = np.array([sum(code in one for one in everybody) for code in range(5)])
    tree, _ = Exact().build("ill", pl.Series([1, 2, 3, 4]))
    return Groups(found.sizes, found.sensitive, {"ill": whole}, {"ill": tree}, everybody=len(everybody))


@settings(deadline=None)
@given(st.lists(people, min_size=1, max_size=3), st.sampled_from(["equal", "ordered", "hierarchical"]))
def test_the_distance_is_the_documented_one(groups: list[list[frozenset[int]]], distance: str) -> None:
    found = crowds(groups)
    order = sorted(found[0].all_have) if distance == "ordered" else None  # without a hierarchy: as equal
    expected = max(distance_of_people(crowd, order) for crowd in found)
    model = ic.TCloseness(1, distance=distance)
    assert model.achieved(with_table(groups)) == pytest.approx(expected, abs=1e-12)
    verdicts = ic.TCloseness(0.25, distance=distance).satisfied(with_table(groups)).tolist()
    distances = [distance_of_people(crowd, order) for crowd in found]
    assert all(
        verdict == (far <= 0.25) for verdict, far in zip(verdicts, distances, strict=True) if abs(far - 0.25) > 1e-9
    )


@settings(deadline=None)
@given(people, people, people)
def test_joining_groups_brings_them_no_further_from_the_table(one: list, two: list, others: list) -> None:
    apart = ic.TCloseness(1).achieved(with_table([one, two, others]))
    everybody = with_table([one + two, others])
    assert ic.TCloseness(1).achieved(everybody) <= apart + 1e-9


def test_how_many_values_people_have_counts() -> None:
    # Shares have the same proportions, but the people of one group have all values and those of the other one each.
    groups = [[frozenset({1, 2})] * 2, [frozenset({1}), frozenset({2})]]
    assert ic.TCloseness(1).achieved(with_table(groups)) == pytest.approx(0.5)
