"""Entropy ℓ-diversity: numbers by hand, its definition, and as much of pyCANON's ℓ as it keeps."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from pycanon.anonymity import entropy_l_diversity

from incrowd.errors import RecipeError
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.testing.naive import Members
from tests.models.judging import QUASI, SENSITIVE, groups, tables


def test_entropy_of_halves_thirds_and_sixths() -> None:
    # −½·ln ½ − ⅓·ln ⅓ − ⅙·ln ⅙, so ℓ = 2^(1/2) · 3^(1/3) · 6^(1/6)
    assert EntropyLDiversity(1).achieved(groups("aaabbc")) == pytest.approx(2 ** (1 / 2) * 3 ** (1 / 3) * 6 ** (1 / 6))
    assert EntropyLDiversity(2.74).satisfied(groups("aaabbc")).all()
    assert not EntropyLDiversity(2.75).satisfied(groups("aaabbc")).any()


@pytest.mark.parametrize(
    ("members", "l"),
    [
        ("a", 1),  # one row
        ("aaaa", 1),  # all equal
        ("abcd", 4),  # all different
        ("aabb", 2),  # a tie
        ("a-", 1),  # missing is no value
    ],
)
def test_achieved(members: str, l: int) -> None:
    assert EntropyLDiversity(1).achieved(groups(members)) == pytest.approx(l)


@pytest.mark.parametrize("l", range(1, 27))
def test_l_equally_frequent_values_are_just_enough(l: int) -> None:
    values = "abcdefghijklmnopqrstuvwxyz"[:l]
    for times in (1, 3, 7):
        assert EntropyLDiversity(l).satisfied(groups(values * times)).all()
        assert not EntropyLDiversity(l + 0.001).satisfied(groups(values * times)).any()


def test_the_worst_group_and_the_worst_column_decide() -> None:
    both = groups(disease=["abab", "aaab"], salary=["xxyy", "xxyy"])
    assert EntropyLDiversity(2).satisfied(both).tolist() == [True, False]
    assert EntropyLDiversity(2, column="salary").satisfied(both).all()
    assert EntropyLDiversity(1).achieved(both) == pytest.approx(4 / 3**0.75)  # ¾ and ¼


@pytest.mark.parametrize(("l", "rows"), [(1, 1), (2, 2), (2.5, 3), (3, 3)])
def test_min_group(l: float, rows: int) -> None:
    assert EntropyLDiversity(l).min_group == rows


@pytest.mark.parametrize("l", [0.99, float("nan"), float("inf"), True, "2"])
def test_l_is_a_number_from_1(l: object) -> None:
    with pytest.raises(RecipeError, match="l is a number of at least 1"):
        EntropyLDiversity(l)  # type: ignore[arg-type]


def test_agrees_with_its_definition() -> None:
    for table in tables(20):
        least = min(diversity(members, name) for members in table.members for name in SENSITIVE)
        assert EntropyLDiversity(1, missing="counts").achieved(table.groups) == pytest.approx(least)


def diversity(members: Members, name: str) -> float:
    """exp(−Σ p·ln p), the product of every share to the power of its own negative."""
    counts = Counter(member[name] for member in members).values()
    return math.prod((len(members) / count) ** (count / len(members)) for count in counts)


def test_agrees_with_pycanon_as_far_as_it_goes() -> None:
    # pyCANON cuts ℓ down to a whole number: 2.9999999999999996, for three equally frequent values, becomes 2. So it
    # is no oracle for ℓ itself, nor where ℓ is whole; the definition above is.
    for table in tables(60, seed=1):
        l = EntropyLDiversity(1, missing="counts").achieved(table.groups)
        if abs(l - round(l)) > 1e-9:
            assert math.floor(l) == entropy_l_diversity(table.pandas, QUASI, SENSITIVE)
