"""Each person taken for one of their values: the counts bound every way of doing so."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, Histogram, histogram, one_value_each

people = st.lists(st.frozensets(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=6)


def counted(groups: list[list[frozenset[int]]]) -> Groups:
    """Count who has which value, group by group."""
    entries = Counter((at, value) for at, members in enumerate(groups) for one in members for value in one)
    listed = sorted(entries.items())
    found = histogram(
        np.array([group for (group, _), _ in listed], dtype=np.int64),
        np.array([value for (_, value), _ in listed], dtype=np.int32),
        np.array([count for _, count in listed], dtype=np.int64),
        len(groups),
    )
    return Groups(np.array([len(members) for members in groups]), {"ill": found})


def ways(members: list[frozenset[int]]) -> list[list[int]]:
    """Return the counts of values of each way, largest first."""
    return [sorted(Counter(way).values(), reverse=True) for way in itertools.product(*members)]


def entropy(counts: list[int]) -> float:
    return -math.fsum(count / sum(counts) * math.log(count / sum(counts)) for count in counts)


def ratio(counts: list[int], l: int) -> float:
    rest = sum(counts[l - 1 :])
    return counts[0] / rest if rest else math.inf


def of_group(found: Histogram, group: int) -> list[int]:
    return sorted(found.counts[found.offsets[group] : found.offsets[group + 1]].tolist(), reverse=True)


@settings(deadline=None)
@given(st.lists(people, min_size=1, max_size=3))
def test_no_way_is_less_spread(groups: list[list[frozenset[int]]]) -> None:
    found = counted(groups)
    taken = one_value_each(found.sensitive["ill"], found.sizes)
    for group, members in enumerate(groups):
        counts = of_group(taken, group)
        assert sum(counts) == len(members)
        for way in ways(members):
            # The j most frequent values of any way take no more people than the j first ones here.
            assert all(sum(way[:j]) <= sum(counts[:j]) for j in range(1, len(way) + 1))
            assert len(way) >= len(counts)
            assert entropy(way) >= entropy(counts) - 1e-12
            assert all(ratio(way, l) <= ratio(counts, l) for l in (1, 2, 3))


@settings(deadline=None)
@given(st.lists(people, min_size=1, max_size=3))
def test_what_models_say_holds_of_every_way(groups: list[list[frozenset[int]]]) -> None:
    found = counted(groups)
    assert ic.LDiversity(1).achieved(found) <= min(len(way) for members in groups for way in ways(members))
    least = min(entropy(way) for members in groups for way in ways(members))
    assert ic.EntropyLDiversity(1).achieved(found) <= math.exp(least) + 1e-9
    worst = max(ratio(way, 2) for members in groups for way in ways(members))
    assert ic.RecursiveLDiversity(1, 2).achieved(found) >= worst
    top = max(
        Counter(value for one in members for value in one).most_common(1)[0][1] / len(members) for members in groups
    )
    assert ic.ProbabilisticLDiversity(1).achieved(found) == 1 / top


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=3))
def test_of_people_with_one_value_each_nothing_changes(groups: list[list[int]]) -> None:
    found = counted([[frozenset({value}) for value in members] for members in groups])
    assert one_value_each(found.sensitive["ill"], found.sizes) is found.sensitive["ill"]


def test_a_value_that_everybody_has_leaves_no_diversity() -> None:
    found = counted([[frozenset({0, 1}), frozenset({0, 2}), frozenset({0, 3})]])
    assert ic.LDiversity(2).achieved(found) == 1
    assert not ic.LDiversity(2).satisfied(found).any()
    assert not ic.RecursiveLDiversity(100, 2).satisfied(found).any()


@settings(deadline=None)
@given(people, people)
def test_joining_groups_keeps_what_both_satisfy(one: list[frozenset[int]], other: list[frozenset[int]]) -> None:
    apart, together = counted([one, other]), counted([one + other])
    for model in (ic.LDiversity(2), ic.LDiversity(3), ic.EntropyLDiversity(1.5), ic.ProbabilisticLDiversity(1.5)):
        if model.satisfied(apart).all():
            assert model.satisfied(together).all(), model
