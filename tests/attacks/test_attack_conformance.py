"""Every registered attack keeps the promises of the suite."""

from __future__ import annotations

from typing import Any

import pytest

import incrowd as ic
from incrowd.core.families import registered
from incrowd.testing import check_attack

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "background-knowledge": [{}, {"statements": 3}],
    "external-linkage": [{}, {"tolerance": 0.2, "levels": 1}],
    "minimality": [{"max_groups": 20, "ways": 30}],
    "singling-out": [{}, {"conditions": 4}],
}


SLOW = {"background-knowledge": 2, "composition": 2}
"""How many tables are looked at where one takes seconds."""


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        pytest.param(cls, parameters, id="-".join([name, *map(str, parameters.values())]))
        for name, cls in registered("attacks").items()
        for parameters in PARAMETERS.get(name, [{}])
    ],
)
def test_attack_keeps_its_promises(cls: Any, parameters: dict[str, Any]) -> None:
    check_attack(cls(**parameters), examples=SLOW.get(cls.name, 3))


def test_attacks_are_public_by_the_names_of_their_classes() -> None:
    for name, cls in registered("attacks").items():
        assert getattr(ic, cls.__name__) is cls
        assert name == cls.name
