"""The check of sets against the definition, combination by combination."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.item_sets import ItemSets
from incrowd.errors import RecipeError, SchemaError
from incrowd.models.sets.exposure import exposure, holds
from incrowd.models.sets.km_anonymity import KmAnonymity
from incrowd.models.sets.lkc_privacy import LKCPrivacy
from tests.naive_sets import as_sets, is_safe, is_unsafe, people_strategy, supports


@given(people_strategy(), st.integers(1, 4), st.integers(1, 4))
def test_supports_are_those_of_the_definition(people, k, m):
    sets, _ = as_sets(people)
    found = exposure(sets, KmAnonymity(k, m))
    assert found.holds == holds(sets, KmAnonymity(k, m)) == is_safe([(items, 0) for items, _ in people], k, m)
    smallest = {number: len(people) for number in range(len(people))}
    exposed = set()
    for size in range(1, m + 1):
        crowds = supports(people, size)
        told = [one for one in found.by_size if one.size == size]
        assert bool(told) or not supports(people, size - 1) or size > 1
        if told:
            assert told[0].combinations == len(crowds)
            assert told[0].unsafe == sum(is_unsafe(crowd, k) for crowd in crowds.values())
            assert told[0].smallest_support == min((crowd.total() for crowd in crowds.values()), default=None)
        for combination, crowd in crowds.items():
            for number, (items, _) in enumerate(people):
                if items.issuperset(combination):
                    smallest[number] = min(smallest[number], crowd.total())
                    if is_unsafe(crowd, k):
                        exposed.add(number)
    assert found.exposed == len(exposed)
    mean = sum(1 / support for support in smallest.values()) / len(people) if people else 0.0
    assert found.expected_success == pytest.approx(mean)


@given(people_strategy(values=3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.3, 0.5, 2 / 3, 0.8, 1.0]))
def test_shares_are_those_of_the_definition(people, k, m, share):
    sets, _ = as_sets(people, sensitive=True)
    model = LKCPrivacy(m, k, share, missing="counts")
    found = exposure(sets, model)
    assert found.holds == holds(sets, model) == is_safe(people, k, m, share)
    if share < 1:
        for one in found.by_size[1:]:
            crowds = supports(people, one.size).values()
            assert one.unsafe == sum(is_unsafe(crowd, k, share) for crowd in crowds)
            largest = max((max(crowd.values()) / crowd.total() for crowd in crowds), default=0.0)
            assert one.largest_share == pytest.approx(largest)


@given(people_strategy(), st.integers(1, 3), st.integers(1, 3), st.data())
def test_parts_are_judged_by_themselves(people, k, m, data):
    part = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(people), max_size=len(people))), dtype=np.int64)
    pairs = [(number, item) for number, (items, _) in enumerate(people) for item in items]
    person, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    sets, _ = ItemSets.from_pairs(person, item, people=len(people), parts=part)
    apart = [[(items, 0) for (items, _), own in zip(people, part, strict=True) if own == one] for one in range(3)]
    assert exposure(sets, KmAnonymity(k, m)).holds == all(is_safe(own, k, m) for own in apart)


def test_one_rare_combination_is_found():
    """A fault planted in sets that are safe."""
    safe = [(frozenset({1, 2, 3}), 0)] * 5
    assert holds(as_sets(safe)[0], KmAnonymity(5, 3))
    broken = [*safe[1:], (frozenset({1, 2}), 0), (frozenset({1, 2}), 0)]
    found = exposure(as_sets(broken)[0], KmAnonymity(5, 2))
    assert not found.holds
    assert [one.unsafe for one in found.by_size] == [0, 1, 2]
    assert (found.exposed, found.smallest_support, found.exposed_share) == (4, 4, pytest.approx(4 / 6))


@pytest.mark.parametrize(
    "people",
    [[], [(frozenset(), 0)], [(frozenset(), 0)] * 9],
    ids=["nobody", "one empty set", "only empty sets"],
)
def test_nothing_shown_is_safe(people):
    found = exposure(as_sets(people)[0], KmAnonymity(5, 3))
    assert found.holds
    assert found.smallest_support is None
    assert found.exposed == 0


def test_long_sets_are_counted_in_bounded_memory():
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(300), 80)
    item = np.concatenate([rng.choice(200, 80, replace=False) + 1 for _ in range(300)]).astype(np.int32)
    found = exposure(ItemSets.from_pairs(person, item)[0], KmAnonymity(5, 3))
    assert found.by_size[2].combinations == 200 * 199 // 2
    assert found.by_size[3].combinations == 200 * 199 * 198 // 6


def test_parameters_are_checked():
    with pytest.raises(RecipeError):
        KmAnonymity(0)
    with pytest.raises(RecipeError):
        KmAnonymity(5, 9)
    with pytest.raises(RecipeError):
        LKCPrivacy(2, 5, 0.0)
    with pytest.raises(SchemaError, match="sensitive"):
        holds(as_sets([(frozenset({1}), 0)])[0], LKCPrivacy(2, 5, 0.5))
    assert str(KmAnonymity(5, 2)) == "5^2-anonymity"
