"""Every registered attack keeps the promises of the suite."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

import incrowd as ic
from incrowd.core.families import registered
from incrowd.testing import Case
from incrowd.testing.strategies import cases
from incrowd.testing.trials import PROMISES, is_a_value

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "background-knowledge": [{}, {"statements": 3}],
    "external-linkage": [{}, {"tolerance": 0.2, "levels": 1}],
    "minimality": [{"max_groups": 20, "ways": 30}],
    "singling-out": [{}, {"conditions": 4}],
}


@cache
def tables() -> list[Case]:
    """Draw the tables that every attack is tried on: most of the time goes into making releases of them."""
    found: list[Case] = []

    @settings(max_examples=4)
    @given(case=cases(most_rows=20, most_kept=0))
    def draw(case: Case) -> None:
        found.append(case)

    draw()
    return found


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        pytest.param(cls, parameters, id="-".join([name, *map(str, parameters.values())]))
        for name, cls in registered("attacks").items()
        for parameters in PARAMETERS.get(name, [{}])
    ],
)
def test_attack_keeps_its_promises(cls: Any, parameters: dict[str, Any]) -> None:
    attack = cls(**parameters)
    is_a_value(attack)
    for case in tables():
        for promise in PROMISES:
            promise(attack, case)


def test_attacks_are_public_by_the_names_of_their_classes() -> None:
    for name, cls in registered("attacks").items():
        assert getattr(ic, cls.__name__) is cls
        assert name == cls.name
