"""Local suppression: values stay as they are, and single cells are suppressed where people would stand out.

Sets of columns are tried in the order of what their cells cost: people who are enough once these columns are left out
are a group, and the rest go on to the next set (`recode_leftovers.py`, with hierarchies that know a value and `*`
alone). Groups that still fail a model join others. To suppress the fewest cells is NP-hard (Meyerson & Williams 2004);
`tests/methods/test_local_suppression.py` holds the number against the smallest one on small tables. Cost: 2 to the
power of the number of columns × remaining distinct tuples, which fall off quickly; of very many sets, some are left out
(`level_order.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar

import numpy as np

from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.method import Method, Moves, require_possible
from incrowd.core.model import Model, for_each_group
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError
from incrowd.methods.deadline import Deadline
from incrowd.methods.grouping import Grouper
from incrowd.methods.lattice import Lattice
from incrowd.methods.losses import level_loss
from incrowd.methods.recode_leftovers import recode_locally
from incrowd.methods.value_or_anything import with_single_cells

SUPPRESSED = "cells suppressed"


@dataclass(frozen=True)
class LocalSuppression(Method):
    """Values as they are, with few single cells suppressed, which are published as `*`.

    Parameters
    ----------
    importance : how much a suppressed cell of each column costs (default: 1 for columns that are not named); cells of
        columns that cost more are suppressed less.
    max_withheld : the share of rows that may be withheld, from 0 to 1 (default: 0). A withheld row costs as much as
        all of its cells.
    max_seconds : ends a long search (default: None). Where time is short, fewer sets of columns are tried; rows that
        have no group when it is over share one, and show `*` where they differ.

    `*` counts as a value of its own: a person hides among those who show the same values and the same `*`. Other tools
    let a missing value match every value, and so count more people; an adversary who knows that somebody's cell was
    suppressed need not believe that. Every guarantee here is of the stricter kind. A value that is missing in the table
    is a value like any other, and not `*`.

    With many columns there are too many sets of columns to try. Of more than 100,000, a part is taken: columns that
    cost little are suppressed together. Where these would take minutes, or longer than `max_seconds`, some are left
    out, evenly, and the release tells how many. With `effort`, people move between groups so that suppressed cells
    become fewer, by their importance.

    >>> import polars as pl
    >>> import incrowd as ic
    >>> frame = pl.DataFrame({"age": [30, 30, 30, 41], "sex": ["F", "F", "M", "M"]})
    >>> release = ic.publish(ic.read(frame, quasi=["age", "sex"]), ic.KAnonymity(2), method=LocalSuppression())
    >>> release.to_polars().sort("age", "sex").rows()
    [('*', 'M'), ('*', 'M'), ('30', 'F'), ('30', 'F')]

    Reference: Meyerson & Williams (2004); Templ, Kowarik & Meindl (2015).
    """

    importance: Mapping[str, float] = field(default_factory=dict)
    max_withheld: float = 0.0
    max_seconds: float | None = None
    name: ClassVar[str] = "local-suppression"

    def __post_init__(self) -> None:
        for column, weight in self.importance.items():
            require_number(self.name, f"the importance of {column}", weight, above=0)
        require_number(self.name, "max_withheld", self.max_withheld, at_least=0)
        if self.max_withheld > 1:
            raise RecipeError(f"{self.name}: max_withheld is a share of the rows, from 0 to 1.")
        if self.max_seconds is not None:
            require_number(self.name, "max_seconds", self.max_seconds, above=0)

    @property
    def moves(self) -> Moves:
        """Groups may be improved: fewer cells are suppressed, by what they cost."""
        return Moves(loss="cells", weights=self.importance)

    @property
    def searches_parts(self) -> bool:
        """Yes: cells are suppressed group by group."""
        return True

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Return groups that share values, or `*`. Deterministic without `max_seconds`: `rng` is not used."""
        deadline = Deadline(self.max_seconds)
        columns, sensitive = tuple(sorted(schema.quasi)), tuple(sorted(schema.sensitive))
        require_possible(require, Grouper(tally, sensitive).whole())
        lattice = Lattice(
            with_single_cells(tally, columns),
            columns,
            sensitive,
            require,
            weights=self.importance,
            cells=level_loss,
        )
        recoding = recode_locally(
            lattice,
            for_each_group(require),
            most_withheld=int(self.max_withheld * tally.rows),
            deadline=deadline,
            progress=progress,
        )
        return self.retold(recoding)

    def retold(self, found: Recoding) -> Recoding:
        """Count the suppressed cells."""
        there = found.published
        suppressed = (found.highs - found.lows > 1).sum(axis=1)[found.groups[there]]
        cells = int((suppressed * found.counts[there]).sum())
        return replace(found, told={**(found.told or {}), SUPPRESSED: cells})
