"""Safe groups of people who have several values each stay safe when they are joined, where a model says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import stay_safe_joined
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.value_sets import ValueSets

People = Sequence[Sequence[int]]
"""The values of each person of a group."""
TREE = Exact().build("s", pl.Series(range(1, 31)))[0]
MODELS: list[ic.Model] = [
    ic.KAnonymity(5), ic.FullKAnonymity(2), ic.DistinctLDiversity(3), ic.EntropyLDiversity(2),
    ic.RecursiveLDiversity(2, 2), ic.RecursiveLDiversity(3, 3), ic.ProbabilisticLDiversity(2), ic.KEAnonymity(2, 2),
    ic.AlphaKAnonymity(0.5, 2), ic.TCloseness(0.3), ic.EnhancedBetaLikeness(1.5),
    ic.DeltaDisclosure(1.5, absent="violates"),
]  # fmt: skip


def counted(groups: Sequence[People]) -> Groups:
    """Count people and what they have; a value that a person has twice counts once."""
    counts = [Counter(value for person in people for value in set(person)) for people in groups]
    offsets = np.cumsum([0, *map(len, counts)])
    values = np.array([value for each in counts for value in sorted(each)], dtype=np.int32)
    found = Histogram(offsets, values, np.array([each[value] for each in counts for value in sorted(each)]))
    everybody = [person for people in groups for person in people]
    whole = np.bincount([value for person in everybody for value in set(person)], minlength=TREE.size)
    return Groups(
        np.array([len(people) for people in groups]), {"s": found}, {"s": whole}, {"s": TREE},
        joint=lambda: found, everybody=len(everybody),
    )  # fmt: skip


@cache
def drawn_pairs(most_values: tuple[int, ...], number: int) -> tuple[Groups, Groups]:
    """Count two thousand groups twice: each apart, and joined with its neighbour."""
    rng = np.random.default_rng(4)

    def people(values: int) -> People:
        return [rng.integers(1, values + 1, 1 + rng.poisson(0.4)).tolist() for _ in range(rng.integers(2, 9))]

    pairs = [(people(values), people(values)) for values in rng.choice(most_values, number)]
    apart = counted([group for pair in pairs for group in pair])
    return apart, counted([[*one, *other] for one, other in pairs])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_joined_groups_of_people_with_several_values_are_as_safe(model: ic.Model) -> None:
    assert model.monotone
    assert model.monotone_with_several_values
    every_value = isinstance(model, ic.DeltaDisclosure)  # which asks that each group has all values of the table
    groups, unions = drawn_pairs((3,) if every_value else (3, 7, 30), 2000)
    apart = model.satisfied(groups).reshape(-1, 2).all(axis=1)
    together = model.satisfied(unions)
    assert apart.sum() > 30, "some are safe apart"
    assert not together.all(), "and some are not safe together"
    assert together[apart].all()


def test_variances_may_fall() -> None:
    """Of seven numbers that six people have, the farthest one need not be anybody's."""
    one, other = [[1], [3], [3]], [[4, 2], [4], [2]]
    model = ic.MinimumVariance(variance=0.8)
    assert model.satisfied(counted([one, other])).all()
    assert not model.satisfied(counted([[*one, *other]])).any()
    several = replace(TREE, sets=ValueSets(np.array([0, 1]), np.array([1], dtype=np.int32)))
    assert stay_safe_joined([model], {"s": TREE})
    assert not stay_safe_joined([model], {"s": several})
    assert stay_safe_joined([ic.KAnonymity(2)], {"s": several})
