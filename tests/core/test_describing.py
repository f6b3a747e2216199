"""What parts say of themselves: every parameter of every part has a kind, and what it does."""

from __future__ import annotations

import json

import pytest

from incrowd.core.describing import described
from incrowd.core.families import registered

KINDS = {"whole", "number", "truth", "text", "choice", "column", "columns", "list", "texts", "table"}


@pytest.mark.parametrize(
    "family", ["models", "methods", "forms", "hierarchies", "dates", "attacks", "metrics", "sinks"]
)
def test_every_part_describes_itself(family: str) -> None:
    for name, cls in registered(family).items():
        told = described(cls)
        json.dumps(told, allow_nan=False)
        assert told["about"], name
        assert [one["name"] for one in told["parameters"]] == list(cls.recipe_keys())
        for one in told["parameters"]:
            assert one["kind"] in KINDS
            assert (one["kind"] == "choice") == bool(one["choices"])


def test_parameters_have_their_kinds_and_defaults() -> None:
    mondrian = {one["name"]: one for one in described(registered("methods")["mondrian"])["parameters"]}
    assert mondrian["cuts"]["choices"] == ["strict", "relaxed"]
    assert (mondrian["cuts"]["default"], mondrian["cuts"]["needed"]) == ("strict", False)
    assert mondrian["weights"]["kind"] == "table"
    diversity = {one["name"]: one for one in described(registered("models")["distinct-l-diversity"])["parameters"]}
    assert (diversity["l"]["kind"], diversity["l"]["needed"]) == ("whole", True)
    assert diversity["column"]["kind"] == "column"
    closeness = {one["name"]: one for one in described(registered("models")["t-closeness"])["parameters"]}
    assert closeness["t"]["kind"] == "number"
    assert closeness["t"]["about"]


def test_what_a_docstring_says_of_a_parameter_is_found() -> None:
    lacking = [
        (name, one["name"])
        for family in ("models", "methods")
        for name, cls in registered(family).items()
        for one in described(cls)["parameters"]
        if not one["about"]
    ]
    assert not lacking
