"""δ-disclosure privacy: no sensitive value is much more or less frequent in a group than in the whole table.

|ln(p(s|group) / p(s))| < δ for every value s of the whole table (Brickell & Shmatikov 2008). Cost: one pass over the
distinct (group, value) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram
from incrowd.core.model import Missing, Model, all_satisfied, judged_columns, of_what, require_missing
from incrowd.errors import RecipeError
from incrowd.models.shares import groups_without, largest, lifts

Absent = Literal["violates", "ignored"]

_ROUNDING = 1e-12
"""Below δ means below, so a logarithm that is this close to it, relatively, counts as equal."""


@dataclass(frozen=True)
class DeltaDisclosure(Model):
    """The log of the ratio between a value's share of a group and its share of the whole table stays below `delta`.

    Parameters
    ----------
    delta : what the absolute natural logarithm stays below; above 0.
    absent : "violates" or "ignored": what a group means that lacks one of the table's values (default: "violates").
    column : the sensitive column to judge (default: each sensitive column).
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        group is judged by those of its people whose value is recorded, and one in which there is none is taken to have
        a single value. With "counts", missing is a value like any other.

    Where people have several rows, people are counted: a value's share are the people who have it, however often.

    By the definition, a group that lacks a value violates every delta: its log is minus infinity, and seeing the group
    rules the value out. `absent="ignored"` skips such values, as pyCANON does.

    Reference: Brickell & Shmatikov (2008).
    """

    delta: float
    absent: Absent = "violates"
    column: str | None = None
    missing: Missing = "ignored"
    name: ClassVar[str] = "delta-disclosure"
    plain_name: ClassVar[str] = "no value is much likelier in a group"
    # A value's share of a union lies between its two shares, so a bound on both sides survives. Not so where absent
    # values are ignored: a group without the value may pull the share of another one below the lower bound. A class can
    # only say what holds for all of its instances; those that know better say so themselves, in `__post_init__`.
    monotone: ClassVar[bool] = False
    hereditary: ClassVar[bool] = False  # a part of a group can be more like the whole table than the group
    compares_with_table: ClassVar[bool] = True
    holds_in_buckets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "delta", self.delta, above=0)
        require_missing(self.name, self.missing)
        if self.absent not in ("violates", "ignored"):
            raise RecipeError(f'delta-disclosure: absent is "violates" or "ignored", not {self.absent!r}.')
        object.__setattr__(self, "monotone", self.absent == "violates")

    @property
    def min_group(self) -> int:
        """A single row is like the whole table where all rows are alike."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether every value's log ratio stays below delta in each group."""
        return all_satisfied(self._verdicts(groups), groups)

    def _verdicts(self, groups: Groups) -> Iterator[NDArray[np.bool_]]:
        for name, judged, histogram in judged_columns(groups, self.column, self.missing):
            yield groups_without(histogram, log_ratios(judged, name, histogram) >= self.delta * (1 - _ROUNDING))
            if self.absent == "violates":
                yield ~lacking(judged, name, histogram)

    def achieved(self, groups: Groups) -> float:
        """Return the largest log ratio of any value in any group; any delta above it is satisfied."""
        found = list(judged_columns(groups, self.column, self.missing))
        if self.absent == "violates" and any(lacking(judged, name, h).any() for name, judged, h in found):
            return float("inf")
        return largest(log_ratios(judged, name, histogram) for name, judged, histogram in found)

    def __str__(self) -> str:
        aside = ", absent values ignored" if self.absent == "ignored" else ""
        return f"{self.delta:g}-disclosure privacy{aside}{of_what(self.column, self.missing)}"


def log_ratios(groups: Groups, name: str, histogram: Histogram) -> Floats:
    """Return |ln(p(s|group) / p(s))| of each value that a group has."""
    return np.abs(np.log(lifts(groups, name, histogram)))


def lacking(groups: Groups, name: str, histogram: Histogram) -> NDArray[np.bool_]:
    """Return whether each group lacks a value of the whole table."""
    return histogram.distinct < np.count_nonzero(groups.shares(name))
