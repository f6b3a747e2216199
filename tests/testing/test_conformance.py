"""Everything that is registered keeps the promises of the design, from the moment it is registered."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.core.families import registered
from incrowd.methods.group_losses import GROUP_LOSSES
from incrowd.methods.losses import COLUMN_LOSSES
from incrowd.publishing.recipe import Recipe
from incrowd.testing import (
    Attempt,
    Case,
    check_form,
    check_hierarchy,
    check_method,
    check_metric,
    check_model,
    check_registered,
    check_shows,
    check_sink,
)
from incrowd.testing.promises import PROMISES, ignores_column_order

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 1}, {"k": 3}, {"k": 8}],
    "bucket-size": [{"rows": 1}, {"rows": 4}],
    "distinct-l-diversity": [{"l": 1}, {"l": 2}, {"l": 3, "column": "s0"}],
    "entropy-l-diversity": [{"l": 1}, {"l": 2}, {"l": 2.5}, {"l": 3, "column": "s1"}],
    "probabilistic-l-diversity": [{"l": 1}, {"l": 2}, {"l": 1.5}, {"l": 3, "column": "s1"}],
    "recursive-l-diversity": [{"c": 1, "l": 1}, {"c": 0.5, "l": 2}, {"c": 2, "l": 2}, {"c": 3, "l": 3, "column": "s0"}],
    "alpha-k-anonymity": [{"alpha": 0.5, "k": 2}, {"alpha": 1, "k": 3}],
    "t-closeness": [{"t": 0.3}, {"t": 0.2, "distance": "ordered"}, {"t": 0.25, "distance": "hierarchical"}],
    "confidence-bounds": [
        {"bounds": {"a": 0.5}, "column": "s0"},
        {"bounds": {"b": 0.3}, "default": 0.7, "column": "s1"},
    ],
    "delta-disclosure": [{"delta": 1.0}, {"delta": 0.5, "absent": "ignored"}],
    "basic-beta-likeness": [{"beta": 0.5}, {"beta": 2}],
    "enhanced-beta-likeness": [{"beta": 0.5}, {"beta": 2}],
    "full-k-anonymity": [{"k": 1}, {"k": 2}],
    "prosecutor-risk": [{"risk": 0.5}, {"risk": 0.2}],
    "sliced-diversity": [{"l": 1}, {"l": 2}, {"l": 2.5}],
    "marketer-risk": [{"risk": 0.5}, {"risk": 0.2}],
    "population-uniqueness": [{"max_share": 0.1, "fraction": 0.05}, {"max_share": 0.05, "fraction": 0.5}],
    "full-domain": [
        {},
        {"max_withheld": 0.3},
        {"max_withheld": 1.0},
        *({"max_withheld": 0.3, "loss": loss} for loss in sorted({*COLUMN_LOSSES, *GROUP_LOSSES} - {"gcp"})),
        {"leftovers": "recode"},
        {"max_withheld": 0.3, "leftovers": "recode"},
        {"max_withheld": 0.3, "leftovers": "recode", "loss": "precision"},
    ],
    "level-sweep": [{"labels": "hierarchy"}, {"labels": "tight"}],
    "microaggregation": [{"labels": "hierarchy"}, {"labels": "tight"}],
    "k-member": [{"labels": "hierarchy"}, {"labels": "tight"}],
    "infogain-mondrian": [{"labels": "region"}, {"labels": "hierarchy"}],
    "local-recoding": [{"max_distortion": 1.0}, {"max_distortion": 1.0, "column_choice": "least-loss"}],
    "distortion": [{}, {"published_only": True}],
    "mondrian": [
        {"cuts": cuts, "labels": labels}
        for labels, cuts in product(("region", "hierarchy", "tight"), ("strict", "relaxed"))
    ],
    "bucketized": [{"tables": "one"}, {"tables": "two"}],
    "k-marginal": [{"k": 1}, {"k": 2}, {"k": 3}],
    "dates": [{}, {"units": ("month", "year")}],
    "masking": [{}, {"side": "left", "steps": (2, 4), "mask": "#"}],
}
"""What to make each class with, by its registered name; of a class that is not listed, its `examples()` are taken.

Sensitive columns are called `s0` and `s1` where models are checked.
"""

ELSEWHERE = {
    "adaptive",
    "anatomy",
    "bayes-optimal-privacy",
    "consistent-diffgen",
    "delta-presence",
    "diffgen",
    "expected-confidence",
    "flat-histogram",
    "hierarchical-histogram",
    "household-anonymity",
    "individual-risk",
    "journalist-risk",
    "k-dgs",
    "k-map",
    "ke-anonymity",
    "m-invariance",
    "marginals",
    "minimum-variance",
    "scheme",
    "sdgs",
    "slicing",
}
"""What needs more than the suite's tables have (a population, labels, households) or refuses them: tested elsewhere."""

OPTIONS: dict[str, dict[str, bool]] = {
    "t-closeness": {"nominal": False},
    "confidence-bounds": {"nominal": False},
    "marketer-risk": {"local": False},
    "population-uniqueness": {"local": False},
}
"""What `check_model` must be told of a model, by its registered name: `local=False`, `nominal=False`."""


def instances(family: str) -> list[Any]:
    """List a class and its parameters; made only in the test, so that one that cannot be made fails alone."""
    return [
        pytest.param(cls, parameters, id="-".join([name, *map(str, parameters.values())]))
        for name, cls in registered(family).items()
        if name not in ELSEWHERE
        for parameters in PARAMETERS.get(name) or examples(cls)
    ]


def unlike(family: str) -> list[Any]:
    """List the same, but only one of those that differ in nothing but the loss that they count."""
    found: dict[tuple[Any, str], Any] = {}
    for one in instances(family):
        cls, parameters = one.values
        way = {name: value for name, value in parameters.items() if name != "loss"}
        found.setdefault((cls, str(way)), one)
    return list(found.values())


def covering(family: str) -> list[Any]:
    """List the same, but of the ways of one class only as many as have every value of every parameter."""
    seen: set[tuple[Any, str]] = set()
    found = []
    for one in unlike(family):
        cls, parameters = one.values
        values = {(cls, f"{name} {value}") for name, value in parameters.items()} or {(cls, "")}
        if not values <= seen:
            seen |= values
            found.append(one)
    return found


def examples(cls: Any) -> list[dict[str, Any]]:
    """Return what the examples of a class are made with; nothing where it has none, so that its test tells of it."""
    return [{one.name: getattr(made, one.name) for one in fields(made)} for made in cls.examples()] or [{}]


@pytest.mark.parametrize(("cls", "parameters"), instances("models"))
def test_model_holds_its_claims(cls: Any, parameters: dict[str, Any]) -> None:
    check_model(cls(**parameters), examples=6, **OPTIONS.get(cls.name, {}))


@pytest.mark.parametrize(("cls", "parameters"), instances("methods"))
def test_method_keeps_its_promises(cls: Any, parameters: dict[str, Any]) -> None:
    check_method(cls(**parameters), examples=2 if "loss" in parameters else 3)


@pytest.mark.parametrize(("cls", "parameters"), covering("methods"))
def test_method_satisfies_the_models_however_numbers_are_shown(cls: Any, parameters: dict[str, Any]) -> None:
    check_shows(cls(**parameters), examples=2)


TEXTS = ["a", "b", "a, b", "a-b", "{a}", "{a, b}", '"a"', "*", "[1, 2)", "<=50K", " a", "a\n", "é漢", ""]
HARD = Case(
    pl.DataFrame(
        {
            "text": [TEXTS[row % len(TEXTS)] for row in range(42)],  # what a label could be mistaken for
            "tenths": [row % 31 / 10 for row in range(42)],  # 0.3 / 0.1 is less than 3
            "large": [7_892_273_244_137 + row * (row % 5) for row in range(42)],  # more digits than a rounding keeps
            "odd": [None, float("nan"), float("inf"), -0.0, 0.0, 2.5] * 7,
            "sick": [None, "*", "flu", ""] * 10 + ["flu", "*"],
        }
    ),
    quasi=("text", "tenths", "large", "odd"),
    sensitive=("sick",),
    hierarchies={"tenths": ic.Intervals(widths=(0.1, 0.3, 0.6)), "large": ic.Intervals(widths=(7, 14, 56))},
)


@pytest.mark.parametrize(("cls", "parameters"), covering("methods"))
def test_method_keeps_its_promises_on_a_hard_table(cls: Any, parameters: dict[str, Any]) -> None:
    attempt = Attempt.of(HARD, cls(**parameters), [ic.KAnonymity(3), ic.LDiversity(2)])
    for promise in PROMISES:
        promise(attempt)


@pytest.mark.parametrize(("cls", "parameters"), instances("metrics"))
def test_metric_holds_its_claims(cls: Any, parameters: dict[str, Any]) -> None:
    check_metric(cls(**parameters), examples=2)


@pytest.mark.parametrize(("cls", "parameters"), instances("forms"))
def test_form_keeps_its_promises(cls: Any, parameters: dict[str, Any]) -> None:
    check_form(cls(**parameters), examples=3)


@pytest.mark.parametrize(("cls", "parameters"), instances("hierarchies"))
def test_hierarchy_keeps_its_promises(cls: Any, parameters: dict[str, Any]) -> None:
    check_hierarchy(cls(**parameters), examples=10)


@pytest.mark.parametrize(("cls", "parameters"), instances("sinks"))
def test_sink_keeps_its_promise(cls: Any, parameters: dict[str, Any]) -> None:
    check_sink(cls(**parameters), examples=10)


@pytest.mark.parametrize(("cls", "parameters"), instances("methods"))
def test_what_a_method_is_made_with_survives_a_recipe(cls: Any, parameters: dict[str, Any], tmp_path: Path) -> None:
    method, people = cls(**parameters), tmp_path / "people.csv"
    ic.datasets.census(60).write_csv(people)
    table = ic.read(people, quasi=["sex", "education"], sensitive=["occupation"], others="drop")
    release = ic.publish(table, ic.KAnonymity(3), method=method)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(Recipe.of(release).to_toml())
    again = Recipe.load(recipe)
    assert again.method == method
    assert {name: getattr(again.method, name) for name in parameters} == parameters
    assert again.run().to_polars().equals(release.to_polars())


def test_everything_that_is_registered_can_be_checked_at_once() -> None:
    checked = check_registered(["hierarchies", "sinks"], examples=2)
    assert {"Flat()", "Exact()"} <= set(checked["hierarchies"])
    assert len(checked["sinks"]) == len(registered("sinks"))
    with pytest.raises(ValueError, match="there is no suite for 'engines', only for models, methods, forms"):
        check_registered(["engines"])


def test_every_family_has_parts_to_check() -> None:
    """Each part has a test of its own above; this is about finding them."""
    checked = check_registered(["metrics", "changes"], examples=1)
    assert all(checked[family] for family in ("metrics", "changes"))


def test_order_of_kept_columns_does_not_matter() -> None:
    frame = pl.DataFrame({"x": [1, 5, 5, 5, 5, 9], "u": [0, 1, 2, 3, 4, 0], "v": [0, 4, 3, 2, 1, 0]})
    case = Case(frame, quasi=("x",), kept=("u", "v"))
    ignores_column_order(Attempt.of(case, ic.Mondrian(cuts="relaxed", labels="tight"), [ic.KAnonymity(3)]))
