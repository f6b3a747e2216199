"""The class attribute that a release should still tell: what some methods keep as much as they can of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.core.schema import HOUSEHOLD, Schema
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import RecipeError, SchemaError, did_you_mean


def require_target(owner: str, target: object) -> None:
    """Refuse a target that cannot be a column's name."""
    if target is not None and (not isinstance(target, str) or not target):
        raise RecipeError(f"{owner}: target is a column's name, not {target!r}.")


def classes_of(tally: Tally, schema: Schema, target: str | None) -> tuple[NDArray[np.int64], int]:
    """Return the class of each tuple and the number of classes; missing is a class like any other.

    The classes are the values of a sensitive column or quasi-identifier; without a target, the combinations of all
    sensitive columns' values, which is one and the same class for everybody where there is none.
    """
    if target is not None and target not in schema.tallied:
        raise SchemaError(
            f"target '{target}' is not a quasi-identifier or sensitive column.{did_you_mean(target, schema.tallied)}"
        )
    names = tuple(sorted(set(schema.sensitive) - {HOUSEHOLD})) if target is None else (target,)
    if not names:
        return np.zeros(len(tally), dtype=np.int64), 1
    codes = tally.codes_of(names)
    found, first = group_tuples(codes, [tally.trees[name].size for name in names])
    return found.astype(np.int64), len(first)


def class_entropy(classes: Codes | Ints, counts: Counts, groups: Ints) -> float:
    """Return the entropy of classes within groups, in nats, times their rows; who is in no group does not count."""
    there = groups >= 0
    _, group_of = np.unique(groups[there], return_inverse=True)
    kinds, pair_of = np.unique(np.stack([group_of, classes[there]], axis=1), axis=0, return_inverse=True)
    of_pair = np.bincount(pair_of.ravel(), weights=counts[there], minlength=len(kinds))
    of_group = np.bincount(group_of, weights=counts[there])
    return float((of_group * np.log(of_group)).sum() - (of_pair * np.log(of_pair)).sum())
