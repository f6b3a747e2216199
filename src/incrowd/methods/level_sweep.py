"""Level sweep: local recoding by level vectors in the order of what they lose.

Each vector publishes those groups of the remaining rows that are safe at it, and the rest go on to the next, coarser
vector. So most people keep almost everything, and only those who stand out are generalized far (in the manner of the
iterated full-domain recoding of Prasser et al. 2020). Cost: vectors × remaining distinct tuples, which fall off
quickly. Of more than two million vectors, or where they do not fall off, only a part is tried, spread over the lattice
(`level_order.py`). It suits k-anonymity best: under a diversity model early groups use up the rare values that late
ones need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.parameters import require_number
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Regions
from incrowd.core.labelled import Shown
from incrowd.core.method import Method, Moves, require_possible
from incrowd.core.model import Model, satisfies_all
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.tally import Tally
from incrowd.errors import RecipeError
from incrowd.methods.deadline import Deadline
from incrowd.methods.lattice import Lattice, Levels, Rows
from incrowd.methods.level_order import UNTRIED, Patience, by_loss

_MOST_VECTORS = 2_000_000
_VECTORS_AT_ONCE = 256


@dataclass(frozen=True)
class LevelSweep(Method):
    """Every group has levels of its own, as low as its people allow; nothing is withheld.

    Parameters
    ----------
    labels : "hierarchy" or "tight": what is published of a group (default: "hierarchy"). "hierarchy" shows nodes.
        "tight" shows the smallest range of each group's own values, and so the values of extreme people: the audit
        flags it.
    weights : how much the loss in each column counts, as in `FullDomain` (default: 1 for columns that are not named).
    max_seconds : ends a long sweep (default: None). Where time is short, fewer vectors are tried; rows that have no
        group when it is over share one.

    Where there are more than two million vectors of levels, a part of them is tried: every other level of the highest
    hierarchies, and columns that lose little go up together. Where a sweep over these would still take minutes, or
    longer than `max_seconds`, it leaves out some of them, evenly, and the release tells how many.

    It suits k-anonymity best: under a diversity model, early groups use up the rare values that late ones need.
    """

    labels: Literal["hierarchy", "tight"] = "hierarchy"
    weights: Mapping[str, float] = field(default_factory=dict)
    max_seconds: float | None = None
    name: ClassVar[str] = "level-sweep"

    def __post_init__(self) -> None:
        if self.labels not in ("hierarchy", "tight"):
            raise RecipeError(f'level-sweep: labels is "hierarchy" or "tight", not {self.labels!r}.')
        for column, weight in self.weights.items():
            require_number(self.name, f"the weight of {column}", weight, at_least=0)
        if self.max_seconds is not None:
            require_number(self.name, "max_seconds", self.max_seconds, above=0)

    @property
    def moves(self) -> Moves:
        """Groups may be improved."""
        return Moves(weights=self.weights)

    @property
    def searches_parts(self) -> bool:
        """Yes: groups have levels of their own."""
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
        """Sweep from the least loss to the most. Deterministic without `max_seconds`: `rng` is not used."""
        deadline = Deadline(self.max_seconds)
        lattice = Lattice(
            tally,
            tuple(sorted(schema.quasi)),
            tuple(sorted(schema.sensitive)),
            require,
            weights=self.weights,
        )
        rows = lattice.all_rows()
        everyone = np.zeros(len(rows.counts), dtype=np.int64)
        tight = self.labels == "tight"
        require_possible(require, _as_groups(lattice, rows, everyone, np.array([tally.rows]), tight=tight))
        group_of, levels, untried = _sweep(lattice, rows, require, deadline, progress, tight=tight)
        group_of, levels = _place_leftovers(lattice, rows, require, group_of, levels, tight=tight)
        recoding = _recode(lattice, rows, group_of, len(levels), tight=tight)
        return replace(recoding, told={UNTRIED: untried}) if untried else recoding


def _as_groups(lattice: Lattice, rows: Rows, group_of: Ints, sizes: Counts, *, tight: bool) -> Groups:
    """Return groups as models see them, with the labels that will be shown: narrower than their levels, often."""

    def regions() -> Regions:
        return Regions(lattice.columns, *_runs(lattice, rows, group_of, len(sizes), tight=tight))

    return lattice.as_groups(rows, group_of, sizes, regions=regions)


def _sweep(
    lattice: Lattice, rows: Rows, require: Sequence[Model], deadline: Deadline, progress: Progress, *, tight: bool
) -> tuple[Ints, list[Levels], int]:
    """Return each row's group, -1 where no vector made one, the levels of each group, and how many were not tried."""
    nodes = by_loss(lattice, _MOST_VECTORS)
    first_keys = lattice.keys_of(nodes)
    min_group = max((model.min_group for model in require), default=1)
    found = np.full(len(rows.counts), -1, dtype=np.int64)
    levels: list[Levels] = []
    left = np.arange(len(rows.counts))
    sizes = np.empty(len(left), dtype=np.int64)
    patience = Patience(len(nodes), len(lattice.columns), deadline)
    while left.size and len(patience.untried) and not deadline.passed():
        group_of = np.empty(len(left), dtype=np.int64)
        some = patience.next(_VECTORS_AT_ONCE, len(left))  # between two looks at the clock
        at, groups = lattice.kernel.next_promising(
            rows.codes, rows.counts, left, lattice.keys, first_keys[some], 0, min_group, group_of, sizes,
            lattice.slots, lattice.slot_keys, lattice.used,
        )  # fmt: skip
        patience.looked(min(at + 1, len(some)), len(left))
        if at == len(some):
            continue
        vector = some[at]
        here = Rows(rows.codes[left], rows.sensitive[left], rows.counts[left])
        judged = _as_groups(lattice, here, group_of, sizes[:groups].copy(), tight=tight)
        safe = satisfies_all(require, judged)
        if safe.any():
            number = np.cumsum(safe) - 1 + len(levels)
            published = safe[group_of]
            found[left[published]] = number[group_of[published]]
            levels.extend([nodes[vector]] * int(safe.sum()))
            left = left[~published]
        progress("sweeping", max(vector / len(nodes), 1.0 - len(left) / len(rows.counts)))
    return found, levels, patience.not_tried(all_done=not left.size)


def _place_leftovers(
    lattice: Lattice, rows: Rows, require: Sequence[Model], group_of: Ints, levels: list[Levels], *, tight: bool
) -> tuple[Ints, list[Levels]]:
    """Put the rows that no vector could publish together with the groups that lose most, as many as it takes."""
    left = group_of < 0
    if not left.any():
        return group_of, levels
    top = np.array([allowed[-1] for allowed in lattice.levels], dtype=np.int8)
    losses = np.zeros(len(levels))
    if levels:
        np.maximum.at(losses, group_of[~left], _losses_at(lattice, rows, np.array(levels), group_of, left))
    dearest = np.argsort(-losses, kind="stable")
    rank = np.full(len(levels) + 1, len(levels))  # the last is for rows without a group
    rank[dearest] = np.arange(len(levels))

    def joined(groups: int) -> NDArray[np.bool_]:
        return left | ((group_of >= 0) & (rank[group_of] < groups))

    def safe(groups: int) -> bool:
        chosen = joined(groups)
        here = Rows(rows.codes[chosen], rows.sensitive[chosen], rows.counts[chosen])
        one = np.zeros(len(here.counts), dtype=np.int64)
        everybody = _as_groups(lattice, here, one, np.array([here.counts.sum()]), tight=tight)
        return bool(satisfies_all(require, everybody).all())

    # All groups together are safe: halve the number as long as what is left of them is.
    too_few, enough = -1, len(levels)
    while enough - too_few > 1:
        half = (too_few + enough) // 2
        too_few, enough = (too_few, half) if safe(half) else (half, enough)
    chosen, gone = joined(enough), dearest[:enough]
    keep = np.setdiff1d(np.arange(len(levels)), gone)
    renumber = np.full(len(levels) + 1, len(keep))
    renumber[keep] = np.arange(len(keep))
    renumbered = np.where(chosen, len(keep), renumber[group_of])
    return renumbered, [levels[group] for group in keep] + [top]


def _losses_at(lattice: Lattice, rows: Rows, levels: Levels, group_of: Ints, left: NDArray[np.bool_]) -> Floats:
    total = np.zeros(int((~left).sum()))
    for place in range(levels.shape[1]):
        total += lattice.losses[place][levels[group_of[~left], place], rows.codes[~left, place]]
    return total


def _runs(lattice: Lattice, rows: Rows, group_of: Ints, groups: int, *, tight: bool) -> tuple[Codes, Codes]:
    """Return what each group shows: the range of its own values, or the lowest nodes that hold them."""
    lows = np.full((groups, len(lattice.columns)), np.iinfo(np.int32).max, dtype=np.int32)
    highs = np.zeros_like(lows)
    np.minimum.at(lows, group_of, rows.codes)
    np.maximum.at(highs, group_of, rows.codes + 1)
    if not tight:
        runs = [tree.common_nodes(lows[:, place], highs[:, place]) for place, tree in enumerate(lattice.trees)]
        lows, highs = (np.stack(bounds, axis=1) for bounds in zip(*runs, strict=True))
    return lows, highs


def _recode(lattice: Lattice, rows: Rows, group_of: Ints, groups: int, *, tight: bool) -> Recoding:
    lows, highs = _runs(lattice, rows, group_of, groups, tight=tight)
    shown: Shown = "tight" if tight else "hierarchy"
    return Recoding(np.arange(len(rows.counts)), rows.counts, group_of, lattice.columns, lows, highs, shown)
