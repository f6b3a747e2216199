"""Full-domain generalization: every column at one level of its hierarchy, the best vector of levels found exactly.

The family of Samarati (2001), Incognito (LeFevre, DeWitt & Ramakrishnan 2005), OLA (El Emam et al. 2009) and Flash
(Kohlmayer et al. 2012). Rows whose group fails a model are withheld, as many as `limit` allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from incrowd.errors import RecipeError, Unsatisfiable
from incrowd.methods.best_levels import LevelSearch
from incrowd.methods.lattice import Lattice, LevelLimits
from incrowd.models.model import Model
from incrowd.models.parameters import require_number
from incrowd.progress import Progress
from incrowd.recoding import Recoding
from incrowd.schema import Schema
from incrowd.tally import Tally


@dataclass(frozen=True)
class FullDomain:
    """The level of each column, the same for every row, that loses least.

    `limit` is the share of rows that may be withheld, from 0 to 1. `weights` make some columns dearer than others;
    `lowest` and `highest` bound the levels of some columns (`highest={"sex": 0}`: sex must not change). `seconds` ends
    a long search with the best found so far; so does an interrupt, where the search is called from Python.
    """

    limit: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    lowest: Mapping[str, int] = field(default_factory=dict)
    highest: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    name: ClassVar[str] = "full-domain"

    def __post_init__(self) -> None:
        require_number(self.name, "limit", self.limit, least=0)
        if self.limit > 1:
            raise RecipeError(f"full-domain: limit is a share of the rows, from 0 to 1, not {self.limit!r}.")
        if self.seconds is not None:
            require_number(self.name, "seconds", self.seconds, above=0)
        for column, weight in self.weights.items():
            require_number(self.name, f"the weight of {column}", weight, least=0)

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Return the best vector of levels. Deterministic unless time runs out: `rng` is not used."""
        lattice = Lattice(
            tally,
            tuple(sorted(schema.quasi)),
            tuple(sorted(schema.sensitive)),
            require,
            weights=self.weights,
            bounds=LevelLimits(self.lowest, self.highest),
        )
        search = LevelSearch(lattice, require, self.limit)
        best = search.run(progress, seconds=self.seconds)
        if best is None:
            raise Unsatisfiable(search.failure())
        return search.recode(best.levels)
