from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, histogram
from incrowd.core.tally import group_tuples
from incrowd.errors import RecipeError, SchemaError
from incrowd.models.full_k_anonymity import FullKAnonymity
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, crowd, crowds, drawn_groups, joined_pairs, verdicts


def paired(first: Sequence[str], second: Sequence[str]) -> Groups:
    """Count groups of two sensitive columns, and their combinations, as a method would."""
    groups = crowds({"s0": first, "s1": second})
    group_of = np.repeat(np.arange(len(first)), [len(members) for members in first])
    codes = np.array([list(map(ord, column)) for column in ("".join(first), "".join(second))], dtype=np.int32).T
    combination, _ = group_tuples(codes, [128, 128])
    counts = np.ones(len(group_of), dtype=np.int64)
    return replace(groups, joint=lambda: histogram(group_of, combination.astype(np.int32), counts, len(first)))


def test_every_value_of_every_group_occurs_k_times() -> None:
    groups = crowd("aabb", "aaab", "??", "aaaa")
    assert verdicts(FullKAnonymity(2), groups) == [True, False, True, True]
    assert verdicts(FullKAnonymity(3), groups) == [False, False, False, True]
    assert FullKAnonymity(2).achieved(groups) == 1


def test_without_sensitive_columns_it_is_k_anonymity() -> None:
    assert verdicts(FullKAnonymity(3), Groups(np.array([3, 2]))) == [True, False]


def test_sensitive_columns_count_together() -> None:
    groups = paired(["aabb", "aabb"], ["xxyy", "xyxy"])
    assert verdicts(FullKAnonymity(2), groups) == [True, False]  # each column alone is fine in both
    assert FullKAnonymity(2).achieved(groups) == 1


def test_several_columns_without_their_combinations_are_refused() -> None:
    with pytest.raises(SchemaError, match="full-k-anonymity"):
        FullKAnonymity(2).satisfied(crowds({"s0": ["aa"], "s1": ["aa"]}))


def test_no_groups() -> None:
    assert verdicts(FullKAnonymity(2), crowd()) == []
    assert FullKAnonymity(2).achieved(crowd()) == math.inf


@CHECKED
@given(groups=drawn_groups((None, "a", "b")), k=st.integers(1, 4))
def test_agrees_with_its_definition_and_is_monotone(groups: list[list[Any]], k: int) -> None:
    model = FullKAnonymity(k)
    expected = [min(Counter(members).values()) >= k for members in groups]
    assert verdicts(model, crowd(*groups)) == expected
    assert all(joined_pairs(model, groups, ()))
    assert all(len(members) >= model.min_group for members, fine in zip(groups, expected, strict=True) if fine)


@CHECKED
@given(groups=drawn_groups(("ax", "ay", "bx", "by")), k=st.integers(1, 3))
def test_two_columns_agree_with_the_definition(groups: list[list[str]], k: int) -> None:
    counted = paired(*(["".join(member[place] for member in members) for members in groups] for place in (0, 1)))
    assert verdicts(FullKAnonymity(k), counted) == [min(Counter(members).values()) >= k for members in groups]


def test_is_not_hereditary() -> None:
    assert not FullKAnonymity.hereditary
    assert verdicts(FullKAnonymity(2), crowd("aab", "aa")) == [False, True]


@pytest.mark.parametrize("k", [0, -1, 1.5, "x", True])
def test_parameters_are_checked(k: Any) -> None:
    with pytest.raises(RecipeError, match="full-k-anonymity"):
        FullKAnonymity(k)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(FullKAnonymity(3))
    assert str(FullKAnonymity(3)) == "full 3-anonymity"


@pytest.mark.parametrize("role", ["keep", "pseudonyms"])
def test_columns_outside_of_the_promise_are_refused(role: str) -> None:
    frame = pl.DataFrame({"age": [30, 30, 40, 40], "sick": list("aabb"), "note": list("wxyz")})
    table = ic.read(frame, quasi=["age"], sensitive=["sick"], **{role: ["note"]})  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="full 2-anonymity speaks of every published column, and 'note'"):
        ic.publish(table, [ic.KAnonymity(2), FullKAnonymity(2)])
    assert ic.publish(ic.read(frame, quasi=["age"], sensitive=["sick"], drop=["note"]), FullKAnonymity(2)).rows == 4
