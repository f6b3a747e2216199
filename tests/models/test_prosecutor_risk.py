from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.core.groups import Groups
from incrowd.errors import RecipeError
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.prosecutor_risk import ProsecutorRisk
from incrowd.testing.claims import is_a_value
from tests.models.crowds import CHECKED, crowd, drawn_groups, joined_pairs, verdicts


@pytest.mark.parametrize(
    ("risk", "k"), [(1, 1), (0.5, 2), (0.51, 2), (0.33, 4), (1 / 3, 3), (0.2, 5), (0.09, 12), (0.1, 10), (0.05, 20)]
)
def test_is_k_anonymity(risk: float, k: int) -> None:
    groups = Groups(np.array([k, k + 1, max(k - 1, 1)]))
    assert ProsecutorRisk(risk).min_group == k
    assert verdicts(ProsecutorRisk(risk), groups) == verdicts(KAnonymity(k), groups)


@pytest.mark.parametrize("k", [*range(1, 60), 49, 98, 103, 107, 161, 997, 10**6 + 3])
def test_one_over_k_is_k(k: int) -> None:
    assert ProsecutorRisk(1 / k).min_group == k


def test_achieved_is_the_risk_in_the_smallest_group() -> None:
    assert ProsecutorRisk(1).achieved(Groups(np.array([3, 8, 4]))) == pytest.approx(1 / 3)
    assert ProsecutorRisk(1).achieved(Groups(np.array([], dtype=np.int64))) == 0
    assert verdicts(ProsecutorRisk(1), Groups(np.array([], dtype=np.int64))) == []


@CHECKED
@given(groups=drawn_groups(), risk=st.sampled_from([0.1, 0.2, 0.25, 0.3, 1 / 3, 0.5, 1]), drop=st.integers(1, 11))
def test_agrees_with_its_definition_and_holds_its_claims(groups: list[list[Any]], risk: float, drop: int) -> None:
    model = ProsecutorRisk(risk)
    found = verdicts(model, crowd(*groups))
    assert found == [1 / len(members) <= risk for members in groups]
    assert all(joined_pairs(model, groups, ()))
    parts = [members[drop:] for members, fine in zip(groups, found, strict=True) if not fine and members[drop:]]
    assert not any(verdicts(model, crowd(*parts)))


@pytest.mark.parametrize("risk", [0, -0.1, 1.1, "x", True])
def test_parameters_are_checked(risk: Any) -> None:
    with pytest.raises(RecipeError, match="prosecutor-risk"):
        ProsecutorRisk(risk)


def test_is_a_value_and_says_what_it_is() -> None:
    is_a_value(ProsecutorRisk(0.2))
    assert str(ProsecutorRisk(0.2)) == "prosecutor risk of at most 0.2"
