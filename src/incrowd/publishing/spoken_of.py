"""What the guarantees of a release speak of, and what they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from incrowd.core.model import Guarantee, Model, Statement
from incrowd.core.set_model import SetModel


def what_is_left_out(
    sensitive: Sequence[str], guarantees: Sequence[Guarantee], claimed: Iterable[Statement]
) -> list[str]:
    """Return what a reader should know of guarantees that say nothing, and of sensitive columns that none speaks of.

    `claimed` are models that a release is said to satisfy, whether or not its files tell.
    """
    if any(guarantee.basis == "by construction" for guarantee in guarantees):
        return []  # a promise of the method speaks of all that is published
    stated = list(dict.fromkeys((*(guarantee.model for guarantee in guarantees), *claimed)))
    models = [cast("Model", model) for model in stated if Model in type(model).__mro__]
    of_sets = [cast("SetModel", model) for model in stated if SetModel in type(model).__mro__]
    asking = [model for model in models if not model.asks_nothing]
    found = []
    if not asking and not of_sets:
        named = ", ".join(str(model) for model in models)
        why = f"every table satisfies {named}" if named else "no model was asked for"
        found.append(f"Nothing is guaranteed: {why}.")
    spoken_of = {model.column for model in asking if model.looks_at_values}
    if None in spoken_of or any(model.max_share < 1 for model in of_sets):
        return found
    if left := [name for name in sensitive if name not in spoken_of]:
        found.append(
            f"Sensitive columns that no model speaks of: {', '.join(left)}. All people of a group may have the same "
            "value there, for all to read."
        )
    return found
