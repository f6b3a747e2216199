"""What a method decides: which rows hide together, and what each group shows in place of its members' values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.core.form import Form
from incrowd.core.groups import WITHHELD
from incrowd.core.labelled import Shown
from incrowd.core.schema import Schema
from incrowd.core.solutions import Solutions
from incrowd.core.tally import Tally

__all__ = ["WITHHELD", "MadeUp", "Recoding", "Showing"]


@dataclass(frozen=True, eq=False)
class MadeUp:
    """Rows that are nobody's: each in a group, with a code of one column; the others are those of somebody there."""

    groups: Ints
    column: str
    codes: Codes


@dataclass(frozen=True, eq=False)
class Recoding:
    """Parts of a tally's tuples, each in a group or withheld, and the run of codes that each group shows per column.

    Part p is `counts[p]` rows of tuple `tuples[p]`; most methods never split a tuple, and then there is one part per
    tuple. `groups[p]` is its group or `WITHHELD`. Group g shows, for `columns[j]`, codes `lows[g, j]` to `highs[g, j]`,
    the latter not included. `shown` says how such a run is written: as the region between cuts, as the lowest
    nodes of the hierarchy, as nodes of a level that all groups share, or as the tight range of the group's own values.
    """

    tuples: Ints
    counts: Counts
    groups: Ints
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
    made_up: MadeUp | None = None
    """Rows to publish that are nobody's, where a method makes some up."""
    told: Mapping[str, int] | None = None
    """Numbers that the method has to tell of what it did, such as why rows are withheld."""

    @property
    def published(self) -> Bools:
        """Whether each part is published."""
        return np.not_equal(self.groups, WITHHELD)


class Showing(Named, Protocol):
    """A way to show groups. Implementations are frozen dataclasses that inherit from this, in the file of their form.

    A reader of the release must be able to tell no more than the form's `view` says.
    """

    one_row_each: ClassVar[bool] = False
    """Whether nobody may have several rows: where quasi-identifiers are published row by row as they are, a reader sees
    how many rows somebody has, and may conclude which values of a bucket these must be."""

    def columns_in_parts(self, schema: Schema) -> tuple[str, ...] | None:
        """Return what rows show where parts of a table, told apart by exact values, are shown one by one.

        None where that cannot be: somebody could match what another part shows.
        """
        return None

    def show(self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator) -> Form:
        """Return what is published of a tally; `rows_in` is how many rows there were to publish."""
        ...

    def show_wider(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> Form | None:
        """Return the same with labels that stand for all that their groups' runs hold; None where they do already.

        Labels leave out values of people who are not published, and so may stand for too little for some models.
        """
        return None
