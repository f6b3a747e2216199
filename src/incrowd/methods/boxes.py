"""Boxes of tuples that are cut in two, all open ones at once: what the partitioning methods share.

In rounds, a compiled pass proposes one cut per box, the models judge all pieces of the round together, and what they
refuse is tried with the next proposal. Cost: about rounds × distinct tuples × columns; there are some log2(rows / k)
rounds, plus one for each refusal in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.progress import Progress
from incrowd.common.threads import do_together
from incrowd.core.groups import Groups, Histogram, LazyHistograms, Regions
from incrowd.core.labelled import Shown
from incrowd.core.model import Model, satisfies_all
from incrowd.core.tally import Tally, group_tuples
from incrowd.hierarchies.tree import Tree


class Boxes:
    """The state of one search: the open boxes, and the finished ones as groups.

    `labels` is how groups will be shown. By region, a box shrinks to the nearest cuts around its own values (`trims`).
    Which cuts these are is known at the end, so models that ask what a box stands for are told of its own values alone;
    where that is too little for them, boxes may be shown whole.
    """

    def __init__(
        self,
        tally: Tally,
        columns: tuple[str, ...],
        sensitive: tuple[str, ...],
        *,
        labels: Shown = "region",
        weights: Mapping[str, float] | None = None,
    ) -> None:
        from incrowd.kernels import partition

        self._kernel = partition
        self.columns = columns
        self._tally = tally
        self._sensitive = sensitive
        self._whole = {name: tally.table_counts(name) for name in sensitive}
        self._codes = tally.codes_of(columns)
        self._pack([tally.trees[name] for name in columns])
        self.part_tuples = np.arange(len(tally), dtype=np.int64)
        self.part_counts = tally.counts.astype(np.int64)
        self.group_of = np.zeros(len(tally), dtype=np.int64)
        self._order = np.arange(len(tally), dtype=np.int64)
        self._starts = np.array([0, len(tally)], dtype=np.int64)
        self._lows = np.array([[0 if tally.has_missing(name) else 1 for name in columns]], dtype=np.int32)
        self._highs = np.array([[tally.trees[name].size for name in columns]], dtype=np.int32)
        self._bounds = self._lows, self._highs
        self._finished: list[tuple[Codes, Codes, Codes]] = []
        self._labels = labels
        self.trims = True
        self._weights = np.array([weights.get(name, 1.0) for name in columns]) if weights else None
        self._fixed: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self._starts) - 1

    def part_by(self, names: Sequence[str]) -> None:
        """Start from one box for each combination of values in some columns, which are then shown as they are."""
        self._fixed = tuple(self.columns.index(name) for name in names)
        fixed = list(self._fixed)
        box_of, member = group_tuples(self._codes[:, fixed], self._tree_sizes[fixed].tolist())
        self._order, self._starts = self._kernel.sort_by_piece(self._order, box_of, len(member))
        self._lows, self._highs = (np.repeat(bound, len(member), axis=0) for bound in (self._lows, self._highs))
        self._lows[:, fixed] = self._codes[member][:, fixed]
        self._highs[:, fixed] = self._lows[:, fixed] + 1
        self._bounds = self._lows, self._highs

    def _pack(self, trees: list[Tree]) -> None:
        """Lay the columns' trees one after the other, for the compiled code."""
        levels = [_levels_for_cutting(tree) for tree in trees]
        self._tree_sizes = np.array([tree.size for tree in trees], dtype=np.int64)
        self._heights = np.array([len(nodes) - 1 for nodes, _ in levels], dtype=np.int64)
        self._offsets = np.cumsum([0, *self._tree_sizes[:-1]])
        self._node_offsets = np.cumsum([0, *(nodes.size for nodes, _ in levels[:-1])])
        self._nodes = np.concatenate([nodes.ravel() for nodes, _ in levels])
        self._node_starts = np.concatenate([starts.ravel() for _, starts in levels])
        self._positions = np.concatenate([tree.positions for tree in trees])
        self._spans = np.array([tree.span or 1.0 for tree in trees])
        self._numeric = np.array([tree.ordered for tree in trees])

    def groups(self, boxes: Ints) -> Groups:
        """Return sizes and, when asked for, sensitive histograms of some of the open boxes."""

        def count(codes: Codes) -> Histogram:
            values = int(codes.max(initial=0)) + 1
            return Histogram(
                *self._kernel.count_values(
                    self._order, self._starts, boxes, self.part_tuples, self.part_counts, codes, values
                )
            )

        return Groups(
            self._sizes()[boxes],
            LazyHistograms(self._sensitive, lambda name: count(np.ascontiguousarray(self._tally.column(name)))),
            self._whole,
            self._tally.trees,
            joint=lambda: count(self._joint),
            table=self._tally,
            regions=lambda: self._regions_of(boxes),
        )

    def _regions_of(self, boxes: Ints) -> Regions:
        """Return what some boxes would show: whole, as nodes, or at least the range of their own values."""
        if self._labels == "region" and not self.trims:
            return Regions(self.columns, *(bound[boxes] for bound in self._bounds))
        codes = self._codes.take(self.part_tuples[self._order], axis=0)
        lows = np.minimum.reduceat(codes, self._starts[:-1], axis=0)[boxes]
        highs = np.maximum.reduceat(codes, self._starts[:-1], axis=0)[boxes] + np.int32(1)
        return Regions(
            self.columns, *(self._nodes_around(lows, highs) if self._labels == "hierarchy" else (lows, highs))
        )

    @cached_property
    def _joint(self) -> Codes:
        return self._tally.joint_codes(self._sensitive)

    def _sizes(self) -> Ints:
        return self._kernel.box_sizes(self._order, self._starts, self.part_counts)

    def cut(self, require: Sequence[Model], min_group: int, *, relaxed: bool, progress: Progress) -> None:
        """Cut all boxes, round by round, until none is open."""
        total = len(self._order)
        count, columns = len(self), len(self.columns)
        fresh = np.ones(count, dtype=bool)
        tight = np.tile(np.array([0, 1], dtype=np.int32), (count, columns, 1))  # any column may vary
        ranked = np.empty((count, columns), dtype=np.int64)
        widths = np.empty((count, columns), dtype=np.float64)
        attempts = np.zeros(count, dtype=np.int64)
        while count:
            self._kernel.rank_columns(
                self._codes, self.part_tuples, self._order, self._starts, np.flatnonzero(fresh), self._positions,
                self._spans, self._offsets, self._tree_sizes, self._numeric, tight, ranked, widths,
            )  # fmt: skip
            if self._weights is not None:
                ranked[fresh] = _rank(widths[fresh], self._weights)
            cut_columns, cuts, quotas = self.propose(tight, ranked, widths, attempts, min_group, relaxed=relaxed)
            pieces = np.where(cut_columns >= 0, 2, 1)
            first_piece = np.cumsum(pieces) - pieces
            parent = np.repeat(np.arange(count), pieces)
            lows, highs = self._piece_regions(parent, first_piece, cut_columns, cuts, quotas)
            self._bounds = lows, highs
            self._deal_out(cut_columns, cuts, quotas, first_piece, int(pieces.sum()))

            cut_boxes = cut_columns >= 0
            accepted = cut_boxes.copy()
            judged = np.flatnonzero(cut_boxes[parent])
            if judged.size:
                verdicts = np.ones(len(parent), dtype=bool)
                verdicts[judged] = satisfies_all(require, self.groups(judged))
                accepted &= np.logical_and.reduceat(verdicts, first_piece)
            self._finish(~cut_boxes, first_piece, tight)
            # An accepted box becomes its pieces, a refused one stays whole and tries its next column.
            starts_box = accepted[parent] | (np.arange(len(parent)) == first_piece[parent])
            stays = starts_box & cut_boxes[parent]
            kept = parent[stays]
            fresh = accepted[kept]
            self._lows = np.where(fresh[:, None], lows[stays], self._lows[kept])
            self._highs = np.where(fresh[:, None], highs[stays], self._highs[kept])
            attempts = np.where(fresh, 0, attempts[kept] + 1)
            tight, ranked, widths = do_together(
                [partial(np.take, array, kept, 0) for array in (tight, ranked, widths)], steps=4 * len(kept) * columns
            )
            self._keep(starts_box, stays)
            count = int(stays.sum())
            progress("cutting", 1.0 - len(self._order) / max(total, 1))
        self._settle()

    def propose(
        self, tight: Codes, ranked: Ints, widths: Floats, attempts: Ints, min_group: int, *, relaxed: bool
    ) -> tuple[Ints, Codes, Ints]:
        """Return each box's next cut: its column (-1 for none), the first code to its right, and its quota.

        `attempts` is how many proposals have been made for each box, and moves on past those not worth making.
        """
        count = len(attempts)
        cut_columns = np.empty(count, dtype=np.int64)
        cuts = np.empty(count, dtype=np.int32)
        quotas = np.empty(count, dtype=np.int64)
        self._kernel.propose_cuts(
            self._codes, self.part_tuples, self.part_counts, self._order, self._starts, self._sizes(), min_group,
            relaxed, self._node_offsets, self._tree_sizes, self._heights, self._nodes, self._node_starts, tight,
            ranked, attempts, cut_columns, cuts, quotas,
        )  # fmt: skip
        return cut_columns, cuts, quotas

    def runs(self, labels: Shown, min_group: int) -> tuple[Codes, Codes]:
        """Return the codes that every group shows in every column, in one of the three ways."""
        if labels == "hierarchy":
            return self.nodes()
        if labels == "tight":
            return self.tight_lows, self.tight_highs
        return self.regions(min_group)

    def _piece_regions(
        self, parent: Ints, first_piece: Ints, cut_columns: Ints, cuts: Codes, quotas: Ints
    ) -> tuple[Codes, Codes]:
        lows, highs = self._lows[parent], self._highs[parent]
        cut = np.flatnonzero(cut_columns >= 0)
        left, column = first_piece[cut], cut_columns[cut]
        lows[left + 1, column] = cuts[cut]
        # A relaxed cut leaves some of the median's own people on the left: its range reaches one code further.
        highs[left, column] = cuts[cut] + (quotas[cut] > 0)
        return lows, highs

    def _deal_out(self, cut_columns: Ints, cuts: Codes, quotas: Ints, first_piece: Ints, pieces: int) -> None:
        parts = len(self.part_tuples)
        room = int((quotas > 0).sum())
        if room:  # some parts may be split
            self.part_tuples = np.concatenate([self.part_tuples, np.empty(room, dtype=np.int64)])
            self.part_counts = np.concatenate([self.part_counts, np.zeros(room, dtype=np.int64)])
            self.group_of = np.concatenate([self.group_of, np.zeros(room, dtype=np.int64)])
        order, piece_of, parts = self._kernel.deal_out(
            self._codes, self.part_tuples, self.part_counts, parts, self._order, self._starts,
            cut_columns, cuts, quotas, first_piece,
        )  # fmt: skip
        self.part_tuples, self.part_counts = self.part_tuples[:parts], self.part_counts[:parts]
        self.group_of = self.group_of[:parts]
        self._order, self._starts = self._kernel.sort_by_piece(order, piece_of, pieces)

    def _finish(self, done: NDArray[np.bool_], first_piece: Ints, tight: Codes) -> None:
        """Turn boxes that cannot be cut any further into groups."""
        boxes = np.flatnonzero(done)
        groups = sum(len(lows) for lows, _, _ in self._finished) + np.arange(len(boxes))
        piece = first_piece[boxes]
        lengths = self._starts[piece + 1] - self._starts[piece]
        places = np.repeat(self._starts[piece] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        self.group_of[self._order[places]] = np.repeat(groups, lengths)
        self._finished.append((self._lows[boxes], self._highs[boxes], tight[boxes]))

    def _keep(self, starts_box: NDArray[np.bool_], stays: NDArray[np.bool_]) -> None:
        """Drop finished boxes from the order and close the gaps."""
        starts = np.append(self._starts[:-1][starts_box], self._starts[-1])
        lengths = np.diff(starts)
        kept = stays[starts_box]
        if not kept.all():
            self._order = self._order[np.repeat(kept, lengths)]
        self._starts = np.concatenate(([0], np.cumsum(lengths[kept])))

    def _settle(self) -> None:
        self.lows, self.highs, tight = (np.concatenate(arrays) for arrays in zip(*self._finished, strict=True))
        self.tight_lows = np.ascontiguousarray(tight[:, :, 0])
        self.tight_highs = np.ascontiguousarray(tight[:, :, 1]) + np.int32(1)

    def regions(self, min_group: int) -> tuple[Codes, Codes]:
        """Return every group's region, column by column."""
        free = [column for column in range(len(self.columns)) if column not in self._fixed]
        do_together([partial(self._trim, column, min_group) for column in free], steps=self.lows.size)
        return self.lows, self.highs

    def nodes(self) -> tuple[Codes, Codes]:
        """Return, for every group and column, the codes of the lowest node that holds all of the group's values."""
        return self._nodes_around(self.tight_lows, self.tight_highs)

    def _nodes_around(self, lows: Codes, highs: Codes) -> tuple[Codes, Codes]:
        runs = [
            self._tally.trees[name].common_nodes(lows[:, place], highs[:, place])
            for place, name in enumerate(self.columns)
        ]
        lows, highs = (np.stack(bounds, axis=1) for bounds in zip(*runs, strict=True))
        return lows, highs

    def _trim(self, column: int, min_group: int) -> None:
        """Shrink every group's region to the nearest cuts of the column around the group's own values.

        Boxes of a sparse table are mostly empty. Any cut made anywhere in the column will do as a border if at least
        `min_group` people are on either side of it: beyond the outermost cuts a range stays open, so nobody's extreme
        value is shown, and a group's region still holds all of its people and touches no other group's. Only a relaxed
        cut can fail this, where the people of the median are on both sides and few are beyond them. A box that is shown
        whole is not shrunk; its border moves out where it may not be shown.
        """
        borders = np.unique([self.lows[:, column], self.highs[:, column]])
        if self._numeric[column]:
            size = self._tree_sizes[column]
            rows = np.bincount(self._codes[:, column], weights=self._tally.counts, minlength=size)
            below = np.concatenate(([0], np.cumsum(rows)))[borders]
            ends = (borders <= 1) | (borders == size)  # 1 is the border of missing, and no number
            borders = borders[ends | (np.minimum(below, self._tally.rows - below) >= min_group)]
        lows, highs = (self.tight_lows, self.tight_highs) if self.trims else (self.lows, self.highs)
        first = np.searchsorted(borders, lows[:, column], side="right") - 1
        last = np.searchsorted(borders, highs[:, column], side="left")
        self.lows[:, column] = borders[first]
        self.highs[:, column] = borders[last]


def _rank(widths: Floats, weights: Floats) -> Ints:
    """Rank columns by weighted width; of those without, the ones that vary come first, since they can be cut."""
    return np.lexsort((-widths, -widths * weights))


def _levels_for_cutting(tree: Tree) -> tuple[Codes, Codes]:
    """Return the nodes and their first codes that cuts follow: the hierarchy's, or none for numbers without their own.

    Intervals that were only made up from the data have no meaning worth following: such a column is cut at its median.
    """
    if tree.ordered and tree.from_data:
        return tree.nodes[[0, -1]], tree.starts[[0, -1]]
    return tree.nodes, tree.starts
