"""Everything that is registered keeps the promises of the design; a new class is checked as soon as it is registered."""

from __future__ import annotations

from typing import Any

import pytest

from incrowd.registry import registered
from incrowd.testing import check_method, check_metric, check_model

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 1}, {"k": 3}, {"k": 8}],
    "distinct-l-diversity": [{"l": 1}, {"l": 2}, {"l": 3, "column": "s0"}],
    "entropy-l-diversity": [{"l": 1}, {"l": 2}, {"l": 2.5}, {"l": 3, "column": "s1"}],
    "probabilistic-l-diversity": [{"l": 1}, {"l": 2}, {"l": 1.5}, {"l": 3, "column": "s1"}],
    "recursive-l-diversity": [{"c": 1, "l": 1}, {"c": 0.5, "l": 2}, {"c": 2, "l": 2}, {"c": 3, "l": 3, "column": "s0"}],
    "mondrian": [
        {"cuts": cuts, "labels": labels}
        for cuts in ("strict", "relaxed")
        for labels in ("region", "hierarchy", "tight")
    ],
}
"""What to build each class with, by its registered name; one that is not listed is built with nothing."""


def instances(family: str) -> list[Any]:
    return [
        pytest.param(cls(**parameters), id="-".join([name, *map(str, parameters.values())]))
        for name, cls in registered(family).items()
        for parameters in PARAMETERS.get(name, [{}])
    ]


@pytest.mark.parametrize("model", instances("models"))
def test_model_holds_its_claims(model: Any) -> None:
    check_model(model, examples=60)


@pytest.mark.parametrize("method", instances("methods"))
def test_method_keeps_its_promises(method: Any) -> None:
    check_method(method, examples=15)


@pytest.mark.parametrize("metric", instances("metrics"))
def test_metric_holds_its_claims(metric: Any) -> None:
    check_metric(metric, examples=15)


@pytest.mark.slow
@pytest.mark.parametrize("method", instances("methods"))
def test_method_keeps_its_promises_on_many_tables(method: Any) -> None:
    check_method(method, examples=60)


def test_every_listed_name_is_registered() -> None:
    known = {name for family in ("models", "methods", "metrics") for name in registered(family)}
    assert set(PARAMETERS) <= known
