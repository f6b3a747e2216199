"""Recursive (c,ℓ)-diversity: numbers by hand, and its definition.

pyCANON is no oracle here: it sorts the counts the wrong way round, so that its r1 is the rarest value, and it rounds c
up to a whole number.
"""

from __future__ import annotations

from collections import Counter

import pytest

from incrowd.errors import RecipeError
from incrowd.models.recursive_l_diversity import RecursiveLDiversity
from incrowd.testing.naive import Members
from tests.models.judging import SENSITIVE, groups, tables


@pytest.mark.parametrize(
    ("l", "least"),
    [
        (1, 3 / 6),  # r1 / (r1 + r2 + r3): 3 / 6
        (2, 3 / 3),  # r1 / (r2 + r3)
        (3, 3 / 1),  # r1 / r3
        (4, float("inf")),  # no fourth value
    ],
)
def test_three_two_one(l: int, least: float) -> None:
    some = groups("aaabbc")
    assert RecursiveLDiversity(1, l).achieved(some) == least
    if least < float("inf"):
        assert not RecursiveLDiversity(least, l).satisfied(some).any()  # r1 must be less, not equal
        assert RecursiveLDiversity(least + 0.001, l).satisfied(some).all()
    else:
        assert not RecursiveLDiversity(1e9, l).satisfied(some).any()


@pytest.mark.parametrize(
    ("members", "c", "l", "verdict"),
    [
        ("a", 2, 1, True),  # one row: 1 < 2·1
        ("a", 1, 1, False),  # 1 < 1·1
        ("aaaa", 100, 2, False),  # all equal: nothing is left
        ("abcd", 1.1, 4, True),  # all different: 1 < 1.1·1
        ("aabb", 1, 2, False),  # a tie: 2 < 1·2
        ("aabb", 1.5, 2, True),
        ("aa-", 3, 2, False),  # missing is no value: nothing is left
        ("aab-", 3, 2, True),  # 2 < 3·1
    ],
)
def test_verdicts(members: str, c: float, l: int, verdict: bool) -> None:
    assert RecursiveLDiversity(c, l).satisfied(groups(members)).tolist() == [verdict]


def test_equality_is_not_less_whatever_floating_point_says() -> None:
    # In floats 1.1 · 50 is 55.00000000000001, and 55 would pass for less.
    assert not RecursiveLDiversity(1.1, 2).satisfied(groups("a" * 55 + "b" * 50)).any()
    assert RecursiveLDiversity(1.1, 2).satisfied(groups("a" * 54 + "b" * 50)).all()


def test_every_sensitive_column_counts_unless_one_is_named() -> None:
    both = groups(disease=["aaab", "abcd"], salary=["xyxy", "xxxy"])
    assert RecursiveLDiversity(2, 2).satisfied(both).tolist() == [False, False]
    assert RecursiveLDiversity(2, 2, column="disease").satisfied(both).tolist() == [False, True]
    assert RecursiveLDiversity(2, 2, column="salary").satisfied(both).tolist() == [True, False]


def test_groups_do_not_run_into_each_other() -> None:
    # The entries of all groups are sorted together.
    some = groups("abbbcc", "aab", "c", "abcdef")
    alone = [RecursiveLDiversity(1, 2).achieved(groups(members)) for members in ("abbbcc", "aab", "c", "abcdef")]
    assert alone == [1, 2, float("inf"), 1 / 5]
    for c in (0.5, 1, 1.5, 2, 2.5):
        assert RecursiveLDiversity(c, 2).satisfied(some).tolist() == [ratio < c for ratio in alone]


@pytest.mark.parametrize(("c", "l"), [(0, 2), (-1, 2), (float("inf"), 2), (1, 0), (1, 1.5)])
def test_parameters_that_mean_nothing_are_refused(c: float, l: int) -> None:
    with pytest.raises(RecipeError, match="recursive-l-diversity"):
        RecursiveLDiversity(c, l)


def test_agrees_with_its_definition() -> None:
    for table in tables(20):
        for l in (1, 2, 3):
            worst = max(ratio(members, name, l) for members in table.members for name in SENSITIVE)
            assert RecursiveLDiversity(1, l, missing="counts").achieved(table.groups) == worst


def ratio(members: Members, name: str, l: int) -> float:
    counts = sorted(Counter(member[name] for member in members).values(), reverse=True)
    return counts[0] / sum(counts[l - 1 :]) if len(counts) >= l else float("inf")
