"""Full-domain generalization: every column at one level of its hierarchy, the best vector of levels found exactly.

The family of Samarati (2001), Incognito (LeFevre, DeWitt & Ramakrishnan 2005), OLA (El Emam et al. 2009) and Flash
(Kohlmayer et al. 2012). Rows whose group fails a model are withheld, as many as `limit` allows, or recoded further
(Prasser et al. 2020). See `best_levels.py`, `best_first.py` and `local_levels.py` for how, and what it costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.progress import Progress
from incrowd.core.method import Method
from incrowd.core.model import Model, for_each_group
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.solutions import BEST_FOUND, CHOSEN, OPTIMAL
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable, did_you_mean
from incrowd.methods.best_first import search_best_first
from incrowd.methods.best_levels import search_all
from incrowd.methods.deadline import Deadline
from incrowd.methods.group_losses import GROUP_LOSSES
from incrowd.methods.lattice import Lattice, LevelLimits
from incrowd.methods.lattice_evaluation import NodeLooks
from incrowd.methods.losses import COLUMN_LOSSES, certainty_penalty
from incrowd.methods.recode_leftovers import recode_locally
from incrowd.methods.shortfall import describe_shortfall

Leftovers = Literal["withhold", "recode"]

_MOST_VECTORS = 2_000_000
"""Of more vectors than these, not all are held in memory at once."""
_SHOWN_BY_NODE = ("gcp", "loss", "precision")
"""Losses that follow from a group's nodes alone, whatever its rows are: what local recoding goes by."""


@dataclass(frozen=True)
class FullDomain(Method):
    """The level of each column, the same for every row, that loses least.

    `limit` is the share of rows that may be withheld, from 0 to 1. `loss` names what is minimized: "gcp", "loss",
    "precision", "non-uniform-entropy", "ambiguity", "discernibility" or "average-group-size". `weights` make some
    columns dearer than others, where the loss is a sum over columns; `lowest` and `highest` bound the levels of some
    (`highest={"sex": 0}`: sex must not change). `seconds` ends a long search with the best found so far; so does an
    interrupt, where the search is called from Python. `levels` skips the search and publishes the vector given, such
    as another one from a release's `solutions`.

    `leftovers="recode"` gives up the one vector for all: every group has levels of its own, and rows are withheld only
    where that loses less than to recode them.
    """

    limit: float = 0.0
    loss: str = "gcp"
    leftovers: Leftovers = "withhold"
    weights: Mapping[str, float] = field(default_factory=dict)
    lowest: Mapping[str, int] = field(default_factory=dict)
    highest: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    name: ClassVar[str] = "full-domain"
    judges_all_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "limit", self.limit, least=0)
        if self.limit > 1:
            raise RecipeError(f"full-domain: limit is a share of the rows, from 0 to 1, not {self.limit!r}.")
        if self.seconds is not None:
            require_number(self.name, "seconds", self.seconds, above=0)
        for column, weight in self.weights.items():
            require_number(self.name, f"the weight of {column}", weight, least=0)
        for given in (self.lowest, self.highest, self.levels):
            for column, level in given.items():
                require_whole(self.name, f"the level of {column}", level, at_least=0)
        if self.loss not in (*COLUMN_LOSSES, *GROUP_LOSSES):
            known = sorted([*COLUMN_LOSSES, *GROUP_LOSSES])
            raise RecipeError(f"full-domain: there is no loss {self.loss!r}.{did_you_mean(str(self.loss), known)}")
        if self.weights and self.loss in GROUP_LOSSES:
            raise RecipeError(f"full-domain: {self.loss} is no sum over columns, so that they cannot be weighted.")
        if self.leftovers not in ("withhold", "recode"):
            raise RecipeError(f'full-domain: leftovers is "withhold" or "recode", not {self.leftovers!r}.')
        if self.leftovers == "recode" and self.loss not in _SHOWN_BY_NODE:
            raise RecipeError(f"full-domain: leftovers are recoded by {', '.join(_SHOWN_BY_NODE)}, not {self.loss}.")
        if self.leftovers == "recode" and self.levels:
            raise RecipeError("full-domain: either levels are given, or leftovers are recoded at levels of their own.")

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
        columns = tuple(sorted(schema.quasi))
        lattice = Lattice(
            tally,
            columns,
            tuple(sorted(schema.sensitive)),
            require,
            weights=self.weights,
            bounds=LevelLimits({**self.lowest, **self.levels}, {**self.highest, **self.levels}),
            cells=COLUMN_LOSSES.get(self.loss, certainty_penalty),
        )
        if self.levels and set(self.levels) != set(columns):
            missing = ", ".join(name for name in columns if name not in self.levels)
            raise SchemaError(f"full-domain: levels are given for some quasi-identifiers, and not for {missing}.")
        deadline = Deadline(self.seconds)
        search = NodeLooks(lattice, require, self.limit, self.loss)
        if self.leftovers == "recode":
            each = for_each_group(require)  # groups join a few at a time
            return recode_locally(
                lattice, each, most_withheld=search.most_withheld, deadline=deadline, progress=progress
            )
        vectors = np.prod([float(len(allowed)) for allowed in lattice.levels])
        try:
            run = search_all if vectors <= _MOST_VECTORS else search_best_first
            proven = run(search, deadline, progress)
        except KeyboardInterrupt:
            if search.best is None:
                raise
            proven = False
        if search.best is None:
            raise Unsatisfiable(failure(search, proven=proven))
        verdict = CHOSEN if self.levels else OPTIMAL if proven else BEST_FOUND
        return search.recode(search.best.levels, verdict=verdict)


def failure(search: NodeLooks, *, proven: bool) -> str:
    """Say why no vector is good enough, and how far the best attempt got."""
    nearest = min(search.looks.values(), key=lambda look: (look.withheld, look.cost))
    return describe_shortfall(
        "no vector of levels satisfies" if proven else "time ran out before any vector of levels was found to satisfy",
        search.require,
        search.groups_at(nearest.levels),
        withheld=nearest.withheld,
        most_withheld=search.most_withheld,
        rows=search.rows,
    )
