"""Everybody in one group. Cost: one pass over the tally."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.common.progress import Progress
from incrowd.core.groups import Groups, Regions, histogram
from incrowd.core.method import Method, require_possible
from incrowd.core.model import Model
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally


@dataclass(frozen=True)
class TinyMethod(Method):
    """Let all rows hide together: the safest table, and the least useful one."""

    name: ClassVar[str] = "tiny-method"
    judges_all_groups: ClassVar[bool] = True

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Return the one group, or raise `Unsatisfiable`."""
        columns = tuple(sorted(schema.quasi))
        together = np.zeros(len(tally), dtype=np.int64)
        lows = np.zeros((1, len(columns)), dtype=np.int32)
        highs = np.array([[tally.trees[name].size for name in columns]], dtype=np.int32)
        whole = Groups(
            np.array([tally.rows]),
            {name: histogram(together, tally.column(name), tally.counts, 1) for name in schema.sensitive},
            trees=tally.trees,
            joint=lambda: histogram(together, tally.joint_codes(sorted(schema.sensitive)), tally.counts, 1),
            table=tally,
            regions=lambda: Regions(columns, lows, highs),
        )
        require_possible(require, whole)
        progress("grouping", 1.0)
        return Recoding(np.arange(len(tally)), tally.counts, together, columns, lows, highs)
