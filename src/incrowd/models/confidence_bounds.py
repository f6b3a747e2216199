"""Confidence bounds: how sure one may be of a sensitive value, bounded value by value (Wang, Fung & Yu 2005, 2007).

Also called template privacy. Cost: one pass over the distinct (group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, Model, all_satisfied, histograms, of_what, require_missing
from incrowd.errors import NeedsTable, RecipeError, SchemaError
from incrowd.hierarchies.tree import MISSING
from incrowd.hierarchies.values import as_text
from incrowd.models.shares import fewest_rows, group_shares, groups_without, largest, require_share

_SHOWN = 3


@dataclass(frozen=True)
class ConfidenceBounds(Model):
    """In each group, a sensitive value has at most the share that `bounds` gives it, and any other at most `default`.

    Parameters
    ----------
    bounds : the largest share of a group for each value, as a mapping from the value's text; `""` is the missing value,
        whose share is always that of all people in the group. A bound of 0 keeps a value out of every group.
    default : the largest share of any other value, from 0 to 1 (default: 1, no bound).
    column : the sensitive column that the bounds are about (default: the only one; needed if there are several).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: a
        value's share is that among the people of the group whose value is recorded. In a group in which there is none,
        missing is a value with a share of 1. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: a value's share are the people who have it, however often.

    Reference: Wang, Fung & Yu (2005, 2007), who call it template privacy.
    """

    bounds: Mapping[str, float] = field(hash=False)  # a mapping has no hash; equality still compares it
    default: float = 1.0
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "confidence-bounds"
    plain_name: ClassVar[str] = "no value is too sure in a group"
    monotone: ClassVar[bool] = True  # a value's share of a union is at most the larger of its two shares
    hereditary: ClassVar[bool] = False  # a part of a group may lack the value that is too frequent
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, Mapping) or not all(isinstance(label, str) for label in self.bounds):
            raise RecipeError("confidence-bounds: bounds is a table of values, by their text, and their bounds.")
        object.__setattr__(self, "bounds", dict(self.bounds))
        require_missing(self.name, self.missing)
        require_share(self.name, "default", self.default, zero=True)
        for label, bound in self.bounds.items():
            require_share(self.name, f"the bound of '{label}'", bound, zero=True)
        if self._loosest == 0:
            raise RecipeError("confidence-bounds: all bounds are 0, and no group can satisfy that.")

    @property
    def _loosest(self) -> float:
        return max((*self.bounds.values(), self.default))

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return min((*self.bounds.values(), self.default)) == 1

    @property
    def min_group(self) -> int:
        """A single row is at most the loosest bound's share of the group."""
        return fewest_rows(self._loosest)

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether every value's share of each group is within its bound."""
        verdicts = (groups_without(found, shares > bounds) for found, shares, bounds in self._shares(groups))
        return all_satisfied(verdicts, groups)

    def achieved(self, groups: Groups) -> float:
        """Return the largest ratio of a value's share to its bound; above 1, a bound is broken."""
        return largest(
            np.divide(shares, bounds, out=np.full(len(shares), np.inf), where=bounds > 0)
            for _, shares, bounds in self._shares(groups)
        )

    def _shares(self, groups: Groups) -> Iterator[tuple[Histogram, Floats, Floats]]:
        """Yield entries of groups, their shares, and the bounds on these."""
        name, everybody = self._column(groups)
        by_code = self._by_code(groups, name)
        seen = groups.recorded(name) if self.missing == "ignored" else groups
        histogram = seen.sensitive[name]
        yield histogram, group_shares(seen, histogram), by_code[histogram.values]
        if seen is not groups and "" in self.bounds:  # it was asked for, so it is a value after all
            missing = everybody.values == MISSING
            yield everybody, np.where(missing, group_shares(groups, everybody), 0.0), by_code[everybody.values]

    def _column(self, groups: Groups) -> tuple[str, Histogram]:
        found = histograms(groups, self.column)
        if len(found) > 1:
            raise SchemaError("confidence-bounds: there are several sensitive columns.  Hint: name one as `column`.")
        return next(iter(found.items()))

    def _by_code(self, groups: Groups, name: str) -> Floats:
        """Return the bound of every code of the column."""
        if name not in groups.trees:
            raise SchemaError(f"confidence-bounds: the names of the values of '{name}' are not known.")
        codes = {text: code for code, text in enumerate(as_text(groups.trees[name].values).fill_null("").to_list())}
        bounds = np.full(groups.trees[name].size, float(self.default))
        for label, bound in self.bounds.items():
            if label not in codes:
                # The label is the recipe's; those that the column does have may be the table's, and are not shown.
                raise NeedsTable(
                    f"confidence-bounds: column '{name}' has no value '{label}'.  Hint: spell it as the table does."
                )
            bounds[codes[label]] = bound
        return bounds

    def __str__(self) -> str:
        shown = [f"{label} ≤ {bound:g}" for label, bound in list(self.bounds.items())[:_SHOWN]]
        shown += ["…"] if len(self.bounds) > _SHOWN else []
        shown += [f"others ≤ {self.default:g}"] if self.default < 1 or not shown else []
        return f"confidence bounds ({', '.join(shown)}){of_what(self.column, self.missing)}"
