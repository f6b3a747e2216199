"""Rows that climb their columns' hierarchies one by one: where each one is, and the groups that they make there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Floats, Ints, side_by_side
from incrowd.common.records import dataclass
from incrowd.common.threads import do_together
from incrowd.core.groups import Groups, Histogram, Regions
from incrowd.core.model import Model, histograms
from incrowd.core.recoding import WITHHELD
from incrowd.core.tally import Tally

if TYPE_CHECKING:
    from incrowd.kernels.climbing import Steps

_TOP = -1


@dataclass(frozen=True, eq=False)
class Ladder:
    """One column's hierarchy as steps: where a code stands at a level, where it comes to next, and what that costs.

    `node[level, code]` numbers the set of codes that is shown, the same for levels that show the same; `above[level,
    code]` is the next level that shows more, or -1; `nodes_left[level]` counts the nodes of that level and above it.
    """

    first: Codes
    node: Ints
    above: Codes
    lows: Codes
    highs: Codes
    loss: Floats
    climbed: Floats
    nodes_left: Ints

    @classmethod
    def of(cls, tally: Tally, column: str, *, lowest: int = 0) -> Ladder:
        """Make the ladder of a column whose values may be shown at level `lowest` at best."""
        tree = tally.trees[column]
        lows, highs = tree.starts.copy(), tree.ends
        if not tally.has_missing(column):  # the root then holds the known values only
            lows[-1, 1:] = np.maximum(lows[-1, 1:], min(1, tree.size - 1))
        levels = np.arange(tree.height + 1, dtype=np.int32)[:, None]
        same = np.zeros(lows.shape, dtype=bool)
        same[1:] = (lows[1:] == lows[:-1]) & (highs[1:] == highs[:-1])
        level = np.maximum.accumulate(np.where(same, 0, levels), axis=0)
        above = np.full(lows.shape, _TOP, dtype=np.int32)
        for step in range(tree.height - 1, -1, -1):
            above[step] = np.where(same[step + 1], above[step + 1], level[step + 1])
        shown = lows.astype(np.int64) * (tree.size + 1) + highs
        _, node = np.unique(shown, return_inverse=True)
        known = [len(np.unique(nodes[1:])) for nodes in tree.nodes]  # code 0, missing, is in no taxonomy
        return cls(
            first=level[lowest].astype(np.int32),
            node=node.reshape(lows.shape),
            above=above,
            lows=lows,
            highs=highs,
            loss=np.stack([tree.widths(low, high) for low, high in zip(lows, highs, strict=True)]),
            climbed=np.broadcast_to(level / max(tree.height, 1), lows.shape),
            nodes_left=np.cumsum(known[::-1])[::-1].astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """The groups of a round: each climber's group, their sizes, and what groups show until somebody climbs."""

    group_of: Ints
    sizes: Ints
    by_group: Ints
    offsets: Ints
    """Climbers in the order of their groups, and where each group starts in it."""
    show: Callable[[], Regions]

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def regions(self) -> Regions:
        """What groups show: to be asked for before somebody climbs."""
        return self.show()


class Climbers:
    """Rows on their way up. Those that show the same and have the same sensitive values are one from then on.

    Whatever brought them there, they will climb alike: so there are ever fewer of them, and a round costs ever less.
    """

    def __init__(
        self, tally: Tally, columns: tuple[str, ...], ladders: Sequence[Ladder], sensitive: tuple[str, ...]
    ) -> None:
        from incrowd.kernels import climbing
        from incrowd.kernels.partition import sort_by_piece

        self._kernel, self._sort = climbing, sort_by_piece
        self._tally, self._columns, self._ladders, self._sensitive = tally, columns, ladders, sensitive
        self._whole = {name: tally.table_counts(name) for name in sensitive}
        self._codes = side_by_side([tally.column(name) for name in columns], len(tally))
        codes = [tally.column(name) for name in columns]
        levels = [ladder.first[code] for ladder, code in zip(ladders, codes, strict=True)]
        shown = [ladder.node[level, code] for ladder, level, code in zip(ladders, levels, codes, strict=True)]
        self._levels, self._nodes = side_by_side(levels, len(tally)), side_by_side(shown, len(tally))
        self._values = side_by_side([tally.column(name) for name in sensitive], len(tally))
        self._counts = tally.counts
        self._climber_of = np.arange(len(tally), dtype=np.int64)
        self._merge()

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def rows(self) -> int:
        """How many rows are still on their way or have arrived."""
        return int(self._counts.sum())

    @cached_property
    def _steps(self) -> Steps:
        ladders = self._ladders
        sizes = np.array([ladder.node.shape[1] for ladder in ladders], dtype=np.int64)
        places = [ladder.node.size for ladder in ladders]
        return self._kernel.Steps(
            offsets=np.cumsum([0, *places])[:-1],
            sizes=sizes,
            above=_in_a_row([ladder.above for ladder in ladders], np.int32),
            node=_in_a_row([ladder.node for ladder in ladders], np.int32),
            loss=_in_a_row([ladder.loss for ladder in ladders], np.float64),
            climbed=_in_a_row([ladder.climbed for ladder in ladders], np.float64),
            left=_in_a_row([ladder.nodes_left for ladder in ladders], np.float64),
            left_offsets=np.cumsum([0, *(len(ladder.nodes_left) for ladder in ladders)])[:-1],
        )

    def _merge(self) -> None:
        """Make one of those that show the same and have the same sensitive values."""
        number, distinct = self._kernel.number_rows(self._nodes, self._values)
        if distinct == len(self):
            return
        member = np.empty(distinct, dtype=np.int64)
        member[number] = np.arange(len(self))
        counts = np.bincount(number, weights=self._counts, minlength=distinct).astype(np.int64)
        arrived = self._climber_of >= 0
        self._climber_of = np.where(arrived, number[self._climber_of], WITHHELD)
        self._pick(member)
        self._counts = counts

    def _pick(self, members: Ints) -> None:
        tables = (self._codes, self._levels, self._nodes, self._values)
        taken: list[Codes] = do_together(
            [partial(np.take, array, members, axis=0) for array in tables], steps=len(tables) * len(members)
        )
        self._codes, self._levels, self._nodes, self._values = taken
        self._counts = self._counts[members]

    def groups(self) -> Judged:
        """Group what is left by what it shows."""
        group_of, groups = self._kernel.number_rows(self._nodes, self._values[:, :0].copy())
        sizes = np.bincount(group_of, weights=self._counts, minlength=groups).astype(np.int64)
        by_group, offsets = self._sort(np.arange(len(self)), group_of, groups)
        return Judged(group_of, sizes, by_group, offsets, lambda: self._shown(by_group[offsets[:-1]]))

    def _shown(self, members: Ints) -> Regions:
        """Return what some show."""
        lows, highs = np.empty((2, len(members), len(self._columns)), dtype=np.int32)
        for place, ladder in enumerate(self._ladders):
            level, code = self._levels[members, place], self._codes[members, place]
            lows[:, place], highs[:, place] = ladder.lows[level, code], ladder.highs[level, code]
        return Regions(self._columns, lows, highs)

    def group_of_tuples(self, judged: Judged) -> Ints:
        """Return the group of each of the tally's tuples, or that it is withheld."""
        return np.where(self._climber_of >= 0, judged.group_of[self._climber_of], WITHHELD)

    def unsafe(self, judged: Judged, require: Sequence[Model]) -> Bools:
        """Return which climbers break a model: a whole group, or those of its members that a model can tell apart."""
        entries = {
            name: self._entries(judged, values, self._tally.trees[name].size)
            for name, values in zip(self._sensitive, self._values.T, strict=True)
        }
        groups = Groups(
            judged.sizes,
            {name: histogram for name, (_, histogram) in entries.items()},
            self._whole,
            self._tally.trees,
            joint=lambda: self._joint(judged),
            table=self._tally,
            regions=lambda: judged.regions,
        )
        unsafe = np.zeros(len(self), dtype=bool)
        for model in require:
            if not model.judges_entries or self._several_values:
                unsafe |= ~model.satisfied(groups)[judged.group_of]
                continue
            for name, histogram in histograms(groups, model.column).items():
                entry_of, _ = entries[name]
                unsafe |= ~model.satisfied_entries(groups, name, histogram)[entry_of]
        return unsafe

    @property
    def _several_values(self) -> bool:
        """Whether somebody has several values, so that no single one of them can be withheld."""
        return any(self._tally.trees[name].sets is not None for name in self._sensitive)

    def _joint(self, judged: Judged) -> Histogram:
        combination, distinct = self._kernel.number_rows(self._values, self._values[:, :0].copy())
        return self._entries(judged, combination.astype(np.int32), distinct)[1]

    def _entries(self, judged: Judged, values: Codes, size: int) -> tuple[Ints, Histogram]:
        """Count values per group; return each climber's entry in the histogram, and the histogram."""
        if len(self._sensitive) == 1:  # then each climber is an entry of its own
            entry_of = np.empty(len(self), dtype=np.int64)
            entry_of[judged.by_group] = np.arange(len(self))
            return entry_of, Histogram(judged.offsets, values[judged.by_group], self._counts[judged.by_group])
        keys, entry_of = np.unique(judged.group_of * size + values, return_inverse=True)
        counts = np.bincount(entry_of, weights=self._counts, minlength=len(keys)).astype(np.int64)
        offsets = np.searchsorted(keys, np.arange(len(judged) + 1) * size)
        return entry_of, Histogram(offsets, (keys % size).astype(np.int32), counts)

    def distortions(self) -> Floats:
        """Return how far each has climbed, as a mean over columns."""
        return self._kernel.add_up_climbed(self._codes, self._levels, self._steps) / max(len(self._columns), 1)

    def climb(self, chosen: Bools, choose: str) -> Bools:
        """Let some climb one step in the column that the rule chooses; return those that are at the top."""
        members = np.flatnonzero(chosen)
        by_loss = choose == "least-loss"
        return self._kernel.climb(self._codes, self._levels, self._nodes, members, self._steps, by_loss=by_loss)

    def settle(self, gone: Bools) -> None:
        """Withhold some for good, and make one of those that have become the same."""
        if gone.any():
            renumbered = np.where(gone, WITHHELD, np.cumsum(~gone) - 1)
            arrived = self._climber_of >= 0
            self._climber_of = np.where(arrived, renumbered[self._climber_of], WITHHELD)
            self._pick(np.flatnonzero(~gone))
        self._merge()


def _in_a_row(tables: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Return the elements of all tables, one after the other."""
    return np.concatenate([np.empty(0, dtype=kind), *(np.ravel(table).astype(kind) for table in tables)])
