"""Distinct ℓ-diversity: numbers by hand, and pyCANON's ℓ on generated tables."""

from __future__ import annotations

import pytest
from pycanon.anonymity import l_diversity

from incrowd.core.groups import Groups
from incrowd.errors import RecipeError, SchemaError
from incrowd.models.distinct_l_diversity import DistinctLDiversity, LDiversity
from tests.models.judging import QUASI, SENSITIVE, groups, tables


def test_each_group_is_judged_by_its_different_values() -> None:
    some = groups("aaabbc", "aaaaaa", "ab")
    assert DistinctLDiversity(1).satisfied(some).tolist() == [True, True, True]
    assert DistinctLDiversity(2).satisfied(some).tolist() == [True, False, True]
    assert DistinctLDiversity(3).satisfied(some).tolist() == [True, False, False]
    assert DistinctLDiversity(4).satisfied(some).tolist() == [False, False, False]
    assert DistinctLDiversity(1).achieved(some) == 1


@pytest.mark.parametrize(
    ("members", "l"),
    [
        ("a", 1),  # one row
        ("abcd", 4),  # all different: ℓ is the number of rows
        ("aaaa", 1),  # all equal
        ("aabb", 2),  # a tie
        ("a-", 1),  # missing is no value
        ("--", 1),  # and nothing tells of more than one
    ],
)
def test_achieved(members: str, l: int) -> None:
    assert DistinctLDiversity(1).achieved(groups(members)) == l


def test_missing_is_a_value_where_it_counts() -> None:
    assert DistinctLDiversity(1, missing="counts").achieved(groups("a-")) == 2
    assert str(DistinctLDiversity(2, "s", "counts")) == "distinct 2-diversity of s, missing values counted"


def test_every_sensitive_column_counts_unless_one_is_named() -> None:
    both = groups(disease=["aab", "ab"], salary=["xyz", "xx"])
    assert DistinctLDiversity(2).satisfied(both).tolist() == [True, False]
    assert DistinctLDiversity(2, column="disease").satisfied(both).tolist() == [True, True]
    assert DistinctLDiversity(3, column="salary").satisfied(both).tolist() == [True, False]
    assert DistinctLDiversity(1).achieved(both) == 1
    assert DistinctLDiversity(1, column="disease").achieved(both) == 2


def test_a_column_that_is_not_sensitive_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"'diseases' is not a sensitive column.*did you mean 'disease'"):
        DistinctLDiversity(2, column="diseases").satisfied(groups(disease=["ab"]))


def test_it_needs_a_sensitive_column() -> None:
    with pytest.raises(SchemaError, match="needs a sensitive column"):
        DistinctLDiversity(2).satisfied(Groups(sizes=groups("ab").sizes))


@pytest.mark.parametrize("l", [0, 1.5, True])
def test_l_is_a_whole_number_from_1(l: object) -> None:
    with pytest.raises(RecipeError, match="l is a whole number of at least 1"):
        DistinctLDiversity(l)  # type: ignore[arg-type]


def test_it_is_what_l_diversity_means_by_itself() -> None:
    assert LDiversity is DistinctLDiversity


def test_agrees_with_pycanon() -> None:
    for table in tables(20):
        model = DistinctLDiversity(1, missing="counts")  # pyCANON is given missing values as a value
        assert model.achieved(table.groups) == l_diversity(table.pandas, QUASI, SENSITIVE)
        first = DistinctLDiversity(1, column="s0", missing="counts").achieved(table.groups)
        assert first == l_diversity(table.pandas, QUASI, ["s0"])
