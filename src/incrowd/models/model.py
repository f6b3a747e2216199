"""What every model can do: judge groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import SchemaError, did_you_mean
from incrowd.groups import Groups, Histogram

Basis = Literal["verified", "by construction"]


class Model(Protocol):
    """What *safe* means for a group. Implementations are frozen dataclasses, one file each."""

    name: ClassVar[str]
    """Its name in recipes and on the command line."""
    monotone: ClassVar[bool]
    """Whether joining groups that satisfy it always gives a group that satisfies it."""
    hereditary: ClassVar[bool]
    """Whether a group that fails it has only subgroups that fail it, so that splitting never helps."""
    # A model may also say `looks_at_values: ClassVar[bool] = False`: it needs the sizes of groups and nothing else.
    # With `covers_all_columns: ClassVar[bool] = True` it speaks of all that is published, and kept columns are refused.
    # With `needs_table: ClassVar[bool] = True` it judges groups only together with their labels and the whole table.
    # With `whole_table: ClassVar[bool] = True` its verdict depends on all groups together; `for_each_group` is then a
    # model that implies it group by group, and `needs_everybody` says that nobody of the population may be left out.
    # One that is not hereditary may have a method `least_failing(groups)`: the share of each group that must fail
    # however the group is split. Searches that withhold rows use it to rule out what is more specific.

    @property
    def min_group(self) -> int:
        """No group with fewer rows can satisfy it; methods use this to stop early."""
        ...

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return one verdict per group."""
        ...

    def achieved(self, groups: Groups) -> float:
        """Return the strongest parameter that all groups satisfy (k = 7)."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Guarantee:
    """What a release promises, and on what ground: verified on the published table, or by the method's construction."""

    model: Model
    basis: Basis
    achieved: float
    note: str = ""
    """What takes away from it: a seeded run of a private method is not for publication."""

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        if self.basis == "by construction":
            return f"{self.model} (by construction{note})"
        return f"{self.model} ({self.basis}; achieved {self.achieved:.4g}{note})"


def histograms(groups: Groups, column: str | None) -> Mapping[str, Histogram]:
    """Return the histograms that a model looks at: one sensitive column's, or all of them."""
    if column is not None:
        if column not in groups.sensitive:
            raise SchemaError(f"'{column}' is not a sensitive column.{did_you_mean(column, groups.sensitive)}")
        return {column: groups.sensitive[column]}
    if not groups.sensitive:
        raise SchemaError("diversity needs a sensitive column, and there is none.  Hint: name one as sensitive.")
    return groups.sensitive


def all_satisfied(verdicts: Iterable[NDArray[np.bool_]], groups: Groups) -> NDArray[np.bool_]:
    """Return, for each group, whether every verdict is yes."""
    together = np.ones(len(groups), dtype=bool)
    for verdict in verdicts:
        together &= verdict
    return together


def any_looks_at_values(models: Iterable[Model]) -> bool:
    """Whether any of the models needs to know sensitive values; if none does, rows need not be told apart by them."""
    return any(getattr(model, "looks_at_values", True) for model in models)


def least_failing(models: Iterable[Model], groups: Groups) -> NDArray[np.float64]:
    """Return the share of each group's rows that fail however the group is split, as far as the models know."""
    share = np.zeros(len(groups))
    for model in models:
        if model.hereditary:
            share = np.maximum(share, ~model.satisfied(groups))
        elif hasattr(model, "least_failing"):
            share = np.maximum(share, model.least_failing(groups))
    return share


def satisfies_all(models: Sequence[Model], groups: Groups) -> NDArray[np.bool_]:
    """Return, for each group, whether it satisfies every model."""
    return all_satisfied((model.satisfied(groups) for model in models), groups)


def smallest(values: Iterable[NDArray[np.float64]]) -> float:
    """Return the smallest of all values; infinity when there is no group to fail."""
    return min((float(array.min()) for array in values if array.size), default=float("inf"))
