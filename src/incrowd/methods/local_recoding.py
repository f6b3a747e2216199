"""Local recoding from the bottom up: each row climbs on its own until it is safe (Sattar et al. 2013, Algorithm 1).

All rows start as specific as they may be. In every round, all those that are not safe in the groups of that round climb
one step in one column, and groups are counted again; rows that are safe but have become too distorted are withheld,
and so is a row at the top of all hierarchies that is still not safe. Rounds go on until everything that is left is safe
*in what is left*, since withholding changes groups too. The paper compares each record with all others; here equal
records move together and groups are counts, so that a round costs one pass over the distinct tuples, and there are
hardly more rounds than there are levels in all hierarchies together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import ClassVar, Literal

import numpy as np

from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.method import Method, Moves
from incrowd.core.model import Model
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.methods.climbing import Climbers, Ladder
from incrowd.methods.lattice import LevelLimits, require_known
from incrowd.models.shares import require_share

Chooser = Literal["left-domain-size", "least-loss"]


@renamed(limit="max_distortion", lowest="min_levels", choose="column_choice")
@dataclass(frozen=True)
class LocalRecoding(Method):
    """Every row climbs its columns' hierarchies by itself, no further than it must; too distorted rows are withheld.

    Parameters
    ----------
    max_distortion : the largest distortion that is published, from 0 to 1 (default: 0.6). Distortion is the mean, over
        columns, of how far a value has climbed: 0 is unchanged, 1 is `*` in all columns.
    min_levels : the lowest level that a column may have: `{"age": 1}` never publishes an exact age (default: 0 for
        columns that are not named).
    column_choice : which column climbs next: "left-domain-size", as in the paper, takes the one with most nodes left at
        its level and above; "least-loss" takes the one that adds the least loss (default: "left-domain-size").

    Reference: Sattar et al. (2013), Algorithm 1.
    """

    max_distortion: float = 0.6
    min_levels: Mapping[str, int] = field(default_factory=dict)
    column_choice: Chooser = "left-domain-size"
    name: ClassVar[str] = "local-recoding"

    def __post_init__(self) -> None:
        require_share(self.name, "max_distortion", self.max_distortion, zero=True)
        if self.column_choice not in ("left-domain-size", "least-loss"):
            raise RecipeError(
                f'{self.name}: column_choice is "left-domain-size" or "least-loss", not {self.column_choice!r}.'
            )

    @property
    def moves(self) -> Moves:
        """Groups may be improved, as far as the options allow it."""
        return Moves(min_levels=self.min_levels, max_distortion=self.max_distortion)

    @property
    def searches_parts(self) -> bool:
        """Yes: rows climb by themselves."""
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
        """Let rows climb until those that are left are safe. Deterministic: `rng` is not used."""
        columns = tuple(sorted(schema.quasi))
        require_known([*self.min_levels], columns)
        limits = LevelLimits(lowest=self.min_levels)
        ladders = [Ladder.of(tally, name, lowest=limits.of(name, tally.trees[name].height)[0]) for name in columns]
        climbers = Climbers(tally, columns, ladders, tuple(sorted(schema.sensitive)))
        rounds = 0
        while True:
            rounds += 1
            judged = climbers.groups()
            unsafe = climbers.unsafe(judged, require)
            distorted = climbers.distortions() > self.max_distortion + 1e-9
            finished = ~unsafe & distorted
            stuck = climbers.climb(unsafe, self.column_choice)
            if not unsafe.any() and not finished.any():
                break
            climbers.settle(finished | stuck)
            if not len(climbers):
                raise Unsatisfiable(self._failure(tally, require, rounds))
            progress("climbing", 1.0 - float(unsafe.mean()))
        group_of = climbers.group_of_tuples(judged)
        lows, highs = judged.regions.lows, judged.regions.highs
        return Recoding(np.arange(len(tally)), tally.counts, group_of, columns, lows, highs, "hierarchy")

    def _failure(self, tally: Tally, require: Sequence[Model], rounds: int) -> str:
        names = ", ".join(str(model) for model in require)
        return (
            f"none of {tally.rows:,} rows satisfies {names} with a distortion of at most {self.max_distortion:g}: "
            f"after {rounds:,} rounds all were withheld.  Hint: raise max_distortion, ask for less, or sample fewer "
            "rows."
        )
