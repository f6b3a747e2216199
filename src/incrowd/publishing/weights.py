"""What is refused of survey weights, and what a release tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.core.engine import Engine
from incrowd.core.method import AnyMethod
from incrowd.core.schema import Schema
from incrowd.errors import SchemaError

_MOVED = 0.01
"""A total that moved by more than this share is worth a warning."""


def refuse_weights(method: AnyMethod, schema: Schema, engine: Engine) -> None:
    """Refuse, before any work, weights that cannot be published."""
    if schema.weight is None:
        return
    if method.private or method.promises_privacy:
        raise SchemaError(
            f"{method.name} promises differential privacy, and column '{schema.weight}' (weight) would be published "
            "outside of it.  Hint: drop it, or use another method, such as Mondrian."
        )
    if not engine.carries_weights:
        raise SchemaError(
            f"the engine {engine.name} publishes no weights, and column '{schema.weight}' is one.  Hint: drop it, or "
            "publish on one machine."
        )


def cannot_be_weighed(form: str, column: str) -> SchemaError:
    """Return the error for a form that has nothing to put a weight beside."""
    return SchemaError(
        f"the form {form} has no labels that a weight could be published beside, and column '{column}' is one.  "
        "Hint: drop it, or publish generalized values."
    )


def weight_warnings(column: str, told: Mapping[str, Any], *, sampled: bool) -> list[str]:
    """Return what a careful reader should know of weights."""
    before, after = float(told["total before"]), float(told["total as published"])
    lost, changed = float(told["share of the total that is not published"]), int(told["replaced by a mean"])
    found = []
    if changed:
        found.append(
            f"Weights ({column}): {changed:,} people show the mean of people who weigh about the same, so that no "
            f"weight singles anybody out; {int(told['kept as they are']):,} show their own."
        )
    if told["fewest people of a group who show the same"] < 2:
        found.append(f"Weights ({column}): somebody is alone in a group, and shows a weight of three digits.")
    if before and abs(after - before) > _MOVED * before:
        found.append(f"Weights ({column}): rounding moved their total by {abs(after - before) / before:.1%}.")
    if lost:
        why = "not drawn or withheld" if sampled else "withheld"
        found.append(
            f"Weights ({column}): {lost:.1%} of their total is that of people who are {why}. The others' weights were "
            "not raised for them."
        )
    return found
