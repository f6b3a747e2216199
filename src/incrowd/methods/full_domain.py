"""Full-domain generalization: every column at one level of its hierarchy, the best vector of levels found exactly.

The family of Samarati (2001), Incognito (LeFevre, DeWitt & Ramakrishnan 2005), OLA (El Emam et al. 2009) and Flash
(Kohlmayer et al. 2012). Rows whose group fails a model are withheld, as many as `max_withheld` allows, or recoded
further (Prasser et al. 2020). See `best_levels.py`, `best_first.py` and `recode_leftovers.py` for how, and the cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.common.surface import option
from incrowd.core.method import Method, Moves
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
from incrowd.methods.lattice_evaluation import LatticeEvaluation
from incrowd.methods.losses import COLUMN_LOSSES, certainty_penalty
from incrowd.methods.recode_leftovers import recode_locally
from incrowd.methods.shortfall import describe_shortfall

Leftovers = Literal["withhold", "recode"]

_MOST_VECTORS = 2_000_000
"""Of more vectors than these, not all are held in memory at once."""
_MOST_DIMENSIONS = 32
"""Of NumPy's arrays, in all of its functions: a grid of vectors has one for each column, also if its level is given."""
_SHOWN_BY_NODE = ("gcp", "loss", "precision")
"""Losses that follow from a group's nodes alone, whatever its rows are: what local recoding goes by."""


@renamed(limit="max_withheld", lowest="min_levels", highest="max_levels", seconds="max_seconds")
@dataclass(frozen=True)
class FullDomain(Method):
    """The level of each column, the same for every row, that loses least.

    Parameters
    ----------
    max_withheld : the share of rows that may be withheld, from 0 to 1 (default: 0).
    loss : what is minimized: "gcp", "loss", "precision", "non-uniform-entropy", "ambiguity", "discernibility" or
        "average-group-size" (default: "gcp").
    leftovers : "withhold" or "recode": what happens to rows whose group fails a model (default: "withhold").
    weights : how much the loss in each column counts (default: 1 for columns that are not named). Only for losses that
        are sums over columns.
    min_levels : the lowest level that a column may have (default: 0 for columns that are not named).
    max_levels : the highest level that a column may have: `{"sex": 0}` publishes sex unchanged (default: the top).
    levels : a vector of levels to publish without a search, such as another one from a release's `solutions`; it names
        all quasi-identifiers (default: none, search).
    max_seconds : ends a long search with the best vector found so far (default: None, search to the end). With
        `leftovers="recode"`, fewer vectors are tried where time is short.

    An interrupt also ends the search with the best found so far, if you call it from Python.

    `leftovers="recode"` gives up the one vector for all rows: every group has levels of its own, and rows are withheld
    only where that loses less than to recode them.

    Reference: Samarati (2001); LeFevre, DeWitt & Ramakrishnan (2005); El Emam et al. (2009); Kohlmayer et al. (2012);
    for `leftovers="recode"`, Prasser et al. (2020).
    """

    max_withheld: float = 0.0
    loss: str = "gcp"
    leftovers: Leftovers = "withhold"
    weights: Mapping[str, float] = field(default_factory=dict)
    min_levels: Mapping[str, int] = field(default_factory=dict)
    max_levels: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    max_seconds: float | None = None
    name: ClassVar[str] = "full-domain"
    looks_at_values: ClassVar[bool] = False
    judges_all_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "max_withheld", self.max_withheld, at_least=0)
        if self.max_withheld > 1:
            raise RecipeError(
                f"full-domain: max_withheld is a share of the rows, from 0 to 1, not {self.max_withheld!r}."
            )
        if self.max_seconds is not None:
            require_number(self.name, "max_seconds", self.max_seconds, above=0)
        for column, weight in self.weights.items():
            require_number(self.name, f"the weight of {column}", weight, at_least=0)
        for given in (self.min_levels, self.max_levels, self.levels):
            for column, level in given.items():
                require_whole(self.name, f"the level of {column}", level, at_least=0)
        if self.loss not in (*COLUMN_LOSSES, *GROUP_LOSSES):
            known = sorted([*COLUMN_LOSSES, *GROUP_LOSSES])
            raise RecipeError(f"full-domain: there is no loss {self.loss!r}.{did_you_mean(str(self.loss), known)}")
        if self.weights and self.loss in GROUP_LOSSES:
            raise RecipeError(
                f"full-domain: weights need a loss that is a sum over columns, and {self.loss} is not one."
            )
        if self.leftovers not in ("withhold", "recode"):
            raise RecipeError(f'full-domain: leftovers is "withhold" or "recode", not {self.leftovers!r}.')
        if self.leftovers == "recode" and self.loss not in _SHOWN_BY_NODE:
            raise RecipeError(f"full-domain: leftovers are recoded by {', '.join(_SHOWN_BY_NODE)}, not {self.loss}.")
        if self.leftovers == "recode" and self.levels:
            raise RecipeError(
                f"full-domain: give either levels, or {option('leftovers', 'recode')}, which finds levels of its own."
            )

    @property
    def moves(self) -> Moves | None:
        """Groups with levels of their own may be improved; where all share one vector, they would lose it."""
        if self.leftovers != "recode":
            return None
        return Moves(cast("Any", self.loss), self.weights, self.min_levels, self.max_levels)

    @property
    def searches_parts(self) -> bool:
        """Only where groups have levels of their own."""
        return self.leftovers == "recode"

    @property
    def least_levels(self) -> Mapping[str, int]:
        """What was asked for."""
        return {**self.min_levels, **self.levels}

    def not_below(self, levels: Mapping[str, int]) -> Self:
        """Return it with these levels as the lowest ones, unless all are given."""
        return self if self.levels else replace(self, min_levels={**self.min_levels, **levels})

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Return the best vector of levels. Deterministic without `max_seconds`: `rng` is not used."""
        columns = tuple(sorted(schema.quasi))
        lattice = Lattice(
            tally,
            columns,
            tuple(sorted(schema.sensitive)),
            require,
            weights=self.weights,
            bounds=LevelLimits({**self.min_levels, **self.levels}, {**self.max_levels, **self.levels}),
            cells=COLUMN_LOSSES.get(self.loss, certainty_penalty),
        )
        if self.levels and set(self.levels) != set(columns):
            missing = ", ".join(name for name in columns if name not in self.levels)
            raise SchemaError(f"full-domain: levels name some quasi-identifiers, but not {missing}.")
        deadline = Deadline(self.max_seconds)
        search = LatticeEvaluation(lattice, require, self.max_withheld, self.loss)
        if self.leftovers == "recode":
            each = for_each_group(require)  # groups join a few at a time
            return recode_locally(
                lattice, each, most_withheld=search.most_withheld, deadline=deadline, progress=progress
            )
        vectors = np.prod([float(len(allowed)) for allowed in lattice.levels])
        try:
            in_one_array = vectors <= _MOST_VECTORS and len(lattice.columns) <= _MOST_DIMENSIONS
            run = search_all if in_one_array else search_best_first
            proven = run(search, deadline, progress)
        except KeyboardInterrupt:
            if search.best is None:
                raise
            proven = False
        if search.best is None:
            raise Unsatisfiable(failure(search, proven=proven))
        verdict = CHOSEN if self.levels else OPTIMAL if proven else BEST_FOUND
        return search.recode(search.best.levels, verdict=verdict)


def failure(search: LatticeEvaluation, *, proven: bool) -> str:
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
