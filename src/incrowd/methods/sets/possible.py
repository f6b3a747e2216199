"""What no method for sets can mend."""

from __future__ import annotations

import numpy as np

from incrowd.core.item_sets import ItemSets
from incrowd.core.set_model import SetModel
from incrowd.errors import SchemaError, Unsatisfiable


def require_possible(sets: ItemSets, model: SetModel) -> None:
    """Raise `Unsatisfiable` if the model fails even where no item is shown: a sensitive value is too frequent."""
    if model.max_share >= 1:
        return
    if sets.sensitive is None:
        raise SchemaError(f"{model} needs a sensitive value of each person.")
    watched = sets.sensitive >= 0
    held = np.bincount(sets.sensitive[watched], weights=sets.counts[watched], minlength=model.first_value + 1)
    people = sets.people - int(held[: model.first_value].sum())
    most = int(held[model.first_value :].max())
    if not people and sets.people:
        raise Unsatisfiable(f"{model}: nobody has a sensitive value, so that all are taken to have the same.")
    if most > model.max_share * people + 1e-9:
        raise Unsatisfiable(
            f"{model}: {most / people:.4g} of all people{' whose value is recorded' if model.first_value else ''} have "
            "one sensitive value, whatever is shown of their sets.  Hint: ask for less, or give more people."
        )
