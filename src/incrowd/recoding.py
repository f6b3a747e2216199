"""What a method decides: which rows hide together, and what each group shows in place of its members' values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchies.tree import Codes
from incrowd.tally import Counts

if TYPE_CHECKING:
    from incrowd.forms.showing import Showing
    from incrowd.methods.solutions import Solutions

WITHHELD = -1
Shown = Literal["region", "hierarchy", "level", "tight"]


@dataclass(frozen=True, eq=False)
class Recoding:
    """Parts of a tally's tuples, each in a group or withheld, and the run of codes that each group shows per column.

    Part p is `counts[p]` rows of tuple `tuples[p]`; most methods never split a tuple, and then there is one part per
    tuple. `groups[p]` is its group or `WITHHELD`. Group g shows, for `columns[j]`, codes `lows[g, j]` to `highs[g, j]`,
    the latter not included. `shown` says how such a run is written: as the region between cuts, as the lowest
    nodes of the hierarchy, as nodes of a level that all groups share, or as the tight range of the group's own values.
    """

    tuples: NDArray[np.int64]
    counts: Counts
    groups: NDArray[np.int64]
    columns: tuple[str, ...]
    lows: Codes
    highs: Codes
    shown: Shown = "region"
    levels: tuple[int, ...] | None = None
    """The level of each column, where all groups share it: its nodes are then shown by their names at that level."""
    form: Showing | None = None
    """How the groups are to be shown, where the method is made for one form."""
    explored: Solutions | None = None
    """What else the method looked at, where it keeps that."""

    @property
    def published(self) -> NDArray[np.bool_]:
        """Whether each part is published."""
        return np.not_equal(self.groups, WITHHELD)
