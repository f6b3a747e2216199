"""What a search over level vectors looked at, to compare and to pick another from."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.records import dataclass

UNKNOWN = -1

OPTIMAL = "optimal"
BEST_FOUND = "best found"
CHOSEN = "chosen"
POSSIBLE = "possible"
OVER_LIMIT = "over the limit"
RULED_OUT = "ruled out"

_OF_GROUPS = ("smallest group", "risk")


@dataclass(frozen=True, eq=False)
class Solutions:
    """The vectors that were looked at, and which of them is published.

    `levels[i, j]` is the level of `columns[j]`. `loss[i]` is by the metric that the search went by, of which more is
    better where it is `maximized`; `withheld` counts rows, and `smallest` is the size of the smallest published group.
    A vector that was not `judged` was ruled out before: its loss and its withheld rows are known to be no better than
    that, and its groups are not known (-1). `verdict` is on the published one.
    """

    columns: tuple[str, ...]
    levels: NDArray[np.int8]
    loss: NDArray[np.float64]
    withheld: NDArray[np.int64]
    smallest: NDArray[np.int64]
    judged: NDArray[np.bool_]
    most_withheld: int
    published: int
    verdict: str
    maximized: bool = False

    def __len__(self) -> int:
        return len(self.loss)

    @property
    def proven(self) -> bool:
        """Whether no vector at all is better than the published one, not only none of these."""
        return self.verdict == OPTIMAL

    def table(self) -> pl.DataFrame:
        """Return one row per vector: those that can be published first, in the order of their loss.

        The column `verdict` says `optimal`, `best found` (in the time there was) or `chosen` (by the caller) of the one
        that is published, `possible` of those that could have been, `over the limit` of those that withhold too much,
        and `ruled out` of those whose loss and number of withheld rows are only known to be no better. `risk` is one
        over the smallest group.
        """
        known = self.judged & (self.smallest > 0)
        rank = np.where(self.judged, np.where(self.withheld <= self.most_withheld, 1, 2), 3)
        rank[self.published] = 0
        verdicts = np.array([self.verdict, POSSIBLE, OVER_LIMIT, RULED_OUT])
        order = np.lexsort((*self.levels.T[::-1], -self.loss if self.maximized else self.loss, rank))
        frame = pl.DataFrame(
            {
                **{f"level of {name}": self.levels[:, place] for place, name in enumerate(self.columns)},
                "loss": self.loss,
                "withheld": self.withheld,
                "smallest group": np.where(known, self.smallest, UNKNOWN),
                "risk": 1.0 / np.where(known, self.smallest, UNKNOWN),
                "verdict": verdicts[rank],
            }
        )
        known_only = (pl.when(pl.col("smallest group") != UNKNOWN).then(name).alias(name) for name in _OF_GROUPS)
        return frame[order].with_columns(known_only)
