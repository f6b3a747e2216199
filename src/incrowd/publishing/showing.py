"""What each quasi-identifier is published as, of all that was asked, and refusals of what cannot be had."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.common.surface import option
from incrowd.core.method import AnyMethod
from incrowd.core.recoding import Showing
from incrowd.core.schema import Schema
from incrowd.core.show import Asked, Show, require_asked, written_as
from incrowd.errors import RecipeError, SchemaError
from incrowd.forms.generalized import ShowGeneralized
from incrowd.forms.stand_ins import can_stand_in
from incrowd.hierarchies.tree import Tree


def refuse_show(asked: Asked, schema: Schema, method: AnyMethod, form: Showing | None) -> None:
    """Refuse, before any work, to show numbers where there are no labels that they could stand for."""
    for_all, by_column = require_asked(asked, schema.quasi)
    wanted = {show for show in (for_all, *by_column.values()) if show not in (None, "label")}
    if not wanted:
        return
    if method.private or (form is not None and form != ShowGeneralized()):
        part = method.name if method.private else str(form and form.name)
        asked_for = option("show", min(map(str, wanted)))
        raise RecipeError(f"{part} publishes no labels that {asked_for} could stand in for.")
    if "mean" in wanted and method.promises_privacy:
        raise RecipeError(
            f"{method.name} promises privacy, and a mean of the people in a group would break it.  Hint: midpoints and "
            "bounds are read off the labels."
        )


def settled_show(asked: Asked, schema: Schema, method: AnyMethod, trees: Mapping[str, Tree]) -> dict[str, Show]:
    """Return what is shown in place of labels, now that it is known which columns are numbers or dates."""
    for_all, by_column = require_asked(asked, schema.quasi)
    found: dict[str, Show] = {}
    for name in schema.quasi:
        show = by_column.get(name, for_all or method.shows)
        if show == "label":
            continue
        if can_stand_in(trees[name]):
            found[name] = show
        elif name in by_column:
            raise SchemaError(
                f"column '{name}' holds names, which have no {show}.  Hint: leave it out of {option('show')}; it is "
                "published as labels."
            )
    others = {*schema.written_values, *schema.found_again, *schema.weights, *schema.quasi}
    for name, show in found.items():
        for column in written_as(name, show):
            if column != name and column in others:
                raise SchemaError(
                    f"the bounds of '{name}' would be written to '{column}', and there is such a column already.  "
                    f"Hint: rename it, or say {_midpoint(name)}."
                )
    return found


def _midpoint(name: str) -> str:
    """Return how to ask for the middles of a column."""
    return option("show", {name: "midpoint"}, recipe='show = "midpoint" in its column')
