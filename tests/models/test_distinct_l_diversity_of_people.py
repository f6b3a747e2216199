"""ℓ-diversity where people have several values: what no part of a group can satisfy, and what some part may."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from tests.core.test_one_value_each import counted

people = st.lists(st.frozensets(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=5)


@settings(deadline=None)
@given(people, st.integers(1, 4))
def test_what_is_said_to_fail_however_it_is_split_has_no_part_that_satisfies_it(
    members: list[frozenset[int]], l: int
) -> None:
    model = ic.LDiversity(l)
    if not model.least_failing(counted([members])).all():
        return
    for size in range(1, len(members) + 1):
        for part in itertools.combinations(members, size):
            assert not model.satisfied(counted([list(part)])).any()


def test_a_part_may_satisfy_what_the_group_does_not() -> None:
    group = [frozenset({1, 2}), frozenset({1, 2}), frozenset({3}), frozenset({4})]
    assert not ic.LDiversity(3).satisfied(counted([group])).any()
    assert ic.LDiversity(3).satisfied(counted([group[1:]])).all()
    assert not ic.LDiversity(3).least_failing(counted([group])).any()
