"""k-anonymity: numbers by hand, and pyCANON's k on generated tables."""

from __future__ import annotations

import numpy as np
import pytest
from pycanon.anonymity import k_anonymity

from incrowd.core.groups import Groups
from incrowd.errors import RecipeError
from incrowd.models.k_anonymity import KAnonymity
from tests.models.judging import QUASI, groups, tables


def test_each_group_is_judged_by_its_size() -> None:
    some = groups("aaa", "b", "cc")
    assert KAnonymity(1).satisfied(some).tolist() == [True, True, True]
    assert KAnonymity(2).satisfied(some).tolist() == [True, False, True]
    assert KAnonymity(3).satisfied(some).tolist() == [True, False, False]
    assert KAnonymity(4).satisfied(some).tolist() == [False, False, False]
    assert KAnonymity(4).achieved(some) == 1


@pytest.mark.parametrize(
    ("members", "k"),
    [
        (["a"], 1),  # one row
        (["abcd"], 4),  # one group: k is the number of rows
        (["aa", "bb"], 2),  # a tie
        (["--", "aaa"], 2),  # members without a value are members
    ],
)
def test_achieved_is_the_smallest_group(members: list[str], k: int) -> None:
    assert KAnonymity(1).achieved(groups(*members)) == k
    assert KAnonymity(k).satisfied(groups(*members)).all()
    assert not KAnonymity(k + 1).satisfied(groups(*members)).all()


def test_no_groups_break_nothing() -> None:
    nothing = Groups(sizes=np.array([], dtype=np.int64))
    assert KAnonymity(5).satisfied(nothing).tolist() == []
    assert KAnonymity(5).achieved(nothing) == float("inf")


def test_min_group_is_k() -> None:
    assert KAnonymity(7).min_group == 7


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "2", None])
def test_k_is_a_whole_number_from_1(k: object) -> None:
    with pytest.raises(RecipeError, match="k is a whole number of at least 1"):
        KAnonymity(k)  # type: ignore[arg-type]


def test_agrees_with_pycanon() -> None:
    for table in tables(20):
        assert KAnonymity(1).achieved(table.groups) == k_anonymity(table.pandas, QUASI)
