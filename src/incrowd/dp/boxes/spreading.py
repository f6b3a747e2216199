"""How rows are spread inside of boxes, by noisy counts of single columns and of pairs: an estimate of any count.

Inside of a box, columns are independent, and a column's values are as frequent as its single counts say. The boxes'
counts and these frequencies are raked until single columns agree with their own counts (iterative proportional
fitting). A question about several columns is a table of two cells for each, asked or not asked about. Boxes fill it,
and the pairs that were counted correct it, by raking again. What a pair's counts are worth beside what boxes tell is
estimated from their distance (empirical Bayes). Columns that were counted with two of those that are asked about link
them, and are in the table too. Cost: rounds × boxes × columns, and for a question the combinations of runs that boxes
have in its columns (`box_runs.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.dp.boxes.box_runs import BoxRuns, ColumnRuns
from incrowd.dp.boxes.consistency import non_negative, pooled_variances, rows_of_boxes, whole
from incrowd.dp.boxes.margins import Margins, Pair, Single, all_pairs
from incrowd.dp.boxes.noisy_tree import NoisyTree
from incrowd.dp.marginals.told_variance import WideNoise
from incrowd.kernels.raking import rake

_ROUNDS = 12
_PAIR_ROUNDS = 15
_MOST_STEP = 4.0
_FEW = 0.5
"""A value has at least so many rows, as far as spreading goes: a count of none may be noise."""
_TINY = 1e-9
_ROUGH = 1.15
"""What raking, and counts that are never below 0, add to the variance of noise; and its tails, which are Laplace's."""
_MOST_CELLS = 256
"""So many cells a table of a question may have, with columns that link those that are asked about."""
_TRIES, _DRAW_ROUNDS = 5, 6
_MOST_CONDITIONS = 6
"""Of so many columns a table of asked and not asked is filled; beyond, boxes alone answer."""


@dataclass(frozen=True, eq=False)
class _Axis:
    """A column of a question: the share of each run in its cells, and the share of each counted cell in these."""

    column: int
    shares: Floats | None
    parts: Floats | None


@dataclass(frozen=True, eq=False)
class Spreading:
    """Boxes with the rows of each class, how frequent codes are, and tables of pairs."""

    boxes: BoxRuns
    frequencies: tuple[Floats, ...]
    """How frequent each code of a column is, up to a factor that is the same for a box's codes."""
    singles: tuple[Floats, ...]
    """About how many rows have each code of a column."""
    noises: tuple[WideNoise, ...]
    """What noise there is in these: of wide cells,"""
    variances: tuple[float, ...]
    """and of the codes inside of them, next to each other."""
    pairs: Mapping[tuple[int, int], tuple[tuple[Ints, Ints], Floats]]
    """The cells and about how many rows are in them, of pairs that were counted."""
    total: float
    total_variance: float

    @classmethod
    def of(
        cls, tree: NoisyTree, starts: Sequence[int], singles: Sequence[Single], rows: Floats | None = None
    ) -> Spreading:
        """Rake boxes and single columns; a column's codes begin at `starts`, 1 where nothing may be missing.

        `rows` are those of all boxes, where the caller has worked them out.
        """
        spread = pooled_variances(tree.parents, tree.variances)
        leaves = tree.leaves
        runs = BoxRuns.of_boxes(tree.lows[leaves], tree.highs[leaves])
        rows = (rows_of_boxes(tree) if rows is None else rows)[leaves]
        noises = tuple(one.noise(start) for one, start in zip(singles, starts, strict=True))
        total, total_variance = _total(tree, spread, starts, singles, noises)
        known = [_not_negative(one.counts, start, total) for one, start in zip(singles, starts, strict=True)]
        there = rows.sum()
        rows = rows * (total / there) if there > 0 else np.full(rows.shape, total / max(rows.size, 1))
        roots = tree.parents < 0
        classes = _shared(tree.estimates[roots].sum(axis=0), total)
        rows, frequencies = _raked(rows, runs, classes, known, starts)
        rows = rows * (total / max(float(rows.sum()), _TINY))
        variances = tuple(one.variance for one in singles)
        boxes = BoxRuns(runs, rows)
        return cls(boxes, tuple(frequencies), tuple(known), noises, variances, {}, total, total_variance)

    def with_pairs(self, pairs: Sequence[Pair]) -> Spreading:
        """Return the same with what was counted of pairs, as far as it is worth more than what is expected."""
        found = {}
        for pair in pairs:
            expected = self.expected(pair.columns, pair.cells)
            found[pair.columns] = (pair.cells, _improved(expected, pair))
        return replace(self, pairs=found)

    @classmethod
    def of_margins(
        cls, tree: NoisyTree, starts: Sequence[int], margins: Margins, rows: Floats | None = None
    ) -> Spreading:
        """Rake everything that was counted."""
        return cls.of(tree, starts, margins.pooled(starts), rows).with_pairs(margins.pairs)

    @property
    def columns(self) -> int:
        """How many quasi-identifiers there are; the class comes after them."""
        return len(self.boxes.columns)

    def share(self, column: int, matches: Floats | Bools) -> Floats:
        """Return the share of each run of a column that a condition is about."""
        runs, whole_run = self.boxes.columns[column], self._whole_runs[column]
        part = runs.inside(self.frequencies[column] * matches)
        even = runs.inside(np.asarray(matches, dtype=np.float64))
        found = np.where(whole_run > _TINY, part / np.maximum(whole_run, _TINY), even / (runs.highs - runs.lows))
        return np.clip(found, 0.0, 1.0)

    @cached_property
    def _whole_runs(self) -> list[Floats]:
        """What the codes of each run add up to, by column."""
        return [runs.inside(each) for runs, each in zip(self.boxes.columns, self.frequencies, strict=True)]

    def expected(self, pair: tuple[int, int], cells: tuple[Ints, Ints]) -> Floats:
        """Return how many rows boxes and single columns let one expect in a pair's cells."""
        first = self._shares_of_cells(pair[0], cells[0])
        if pair[1] == self.columns:
            lines, rows = self.boxes.together((pair[0],), classes=True)
            return np.asarray(first[lines[:, 0]].T @ rows)
        second = self._shares_of_cells(pair[1], cells[1])
        lines, rows = self.boxes.together(pair, classes=False)
        return np.asarray(first[lines[:, 0]].T @ (rows * second[lines[:, 1]]))

    def all_expected(self, cells: Sequence[Ints]) -> dict[tuple[int, int], Floats]:
        """Return the same of all pairs."""
        return {pair: self.expected(pair, (cells[pair[0]], cells[pair[1]])) for pair in all_pairs(self.columns)}

    def _shares_of_cells(self, column: int, cells: Ints) -> Floats:
        """Return the share of each run in some cells."""
        number = int(cells.max(initial=0)) + 1
        before = np.zeros((len(cells) + 1, number))
        before[np.arange(len(cells)) + 1, cells] = self.frequencies[column]
        before = np.cumsum(before, axis=0)
        runs = self.boxes.columns[column]
        inside = before[runs.highs] - before[runs.lows]
        return np.asarray(inside / np.maximum(inside.sum(axis=1, keepdims=True), _TINY))

    def count(self, asked: Mapping[int, Bools], classes: Bools) -> float:
        """Return about how many rows have an asked code in each column, and are of one of some classes."""
        if self.total <= 0:
            return 0.0
        axes = [self._asked_axis(column, matches) for column, matches in asked.items()]
        if not classes.all():
            axes.append(self._asked_axis(self.columns, classes))
        if len(axes) > _MOST_CONDITIONS:
            inside = self.boxes.rows[:, classes].sum(axis=1)
            for column, matches in asked.items():
                inside = inside * self.share(column, matches)[self.boxes.columns[column].of_box]
            return float(inside.sum())
        several = len(axes)
        if several > 1:
            axes += self._linking(axes)
        table, corrections = self._table(axes), dict(self._corrections(axes))
        if corrections:
            rounds = _PAIR_ROUNDS if len(corrections) > 1 else 1
            table = rake(table, list(corrections), list(corrections.values()), rounds, _TINY)
        return float(table[(0,) * several].sum())

    def _asked_axis(self, column: int, matches: Bools) -> _Axis:
        """Return the axis of a condition: 0 for who satisfies it, 1 for others."""
        if column == self.columns:
            return _Axis(column, None, np.stack([matches, ~matches]).astype(np.float64))
        cells = self._cells.get(column)
        parts = None if cells is None else self._asked_of_cells(column, cells, matches)
        share = self.share(column, matches)
        both = None if parts is None else np.stack([parts, 1 - parts])
        return _Axis(column, np.stack([share, 1 - share], axis=1), both)

    @cached_property
    def _cells(self) -> dict[int, Ints]:
        """The cells of each column that is in a counted pair."""
        return {
            column: cells for pair, (both, _) in self.pairs.items() for column, cells in zip(pair, both, strict=True)
        }

    def _linking(self, axes: Sequence[_Axis]) -> list[_Axis]:
        """Return axes of columns that are not asked about, but were counted together with two that are."""
        asked = {axis.column for axis in axes}
        room = _MOST_CELLS // 2 ** len(axes)
        worth: dict[int, list[float]] = {}
        for pair in self.pairs:
            for one, other in (pair, pair[::-1]):
                if one in asked and other not in asked:
                    worth.setdefault(other, []).append(self.strength[pair])
        found = []
        for column in sorted((one for one in worth if len(worth[one]) > 1), key=lambda one: -sum(worth[one])):
            cells = self._cells[column]
            number = int(cells.max(initial=0)) + 1
            if number > room:
                continue
            room //= number
            shares = None if column == self.columns else self._linking_shares[column]
            found.append(_Axis(column, shares, np.eye(number)))
        return found

    @cached_property
    def _linking_shares(self) -> dict[int, Floats]:
        """The share of each run in the cells of each column that may link others."""
        return {
            column: self._shares_of_cells(column, cells)
            for column, cells in self._cells.items()
            if column != self.columns and int(cells.max(initial=0)) < _MOST_CELLS
        }

    @cached_property
    def strength(self) -> dict[tuple[int, int], float]:
        """How far each counted pair is from what is expected of it."""
        return {
            pair: float(np.abs(rows - self.expected(pair, cells)).sum()) for pair, (cells, rows) in self.pairs.items()
        }

    def _table(self, axes: Sequence[_Axis]) -> Floats:
        """Return how many rows are in each combination of the axes' cells, as boxes tell."""
        by_class = next((axis.parts for axis in axes if axis.column == self.columns), None)
        inside = [place for place, axis in enumerate(axes) if axis.shares is not None]
        columns = tuple(axes[place].column for place in inside)
        lines, parts = self.boxes.together(columns, classes=by_class is not None)
        parts = parts if by_class is None else parts @ by_class.T
        order = [place for place, axis in enumerate(axes) if axis.column == self.columns]
        for place, runs in zip(inside, lines.T, strict=True):
            shares = axes[place].shares
            assert shares is not None
            parts = (parts[:, :, None] * shares[runs][:, None, :]).reshape(len(parts), -1)
            order.append(place)
        sizes = [self._size(axes[place]) for place in order]
        table = np.maximum(parts.sum(axis=0), _TINY).reshape(sizes)
        return np.transpose(table, np.argsort(order)) if sizes else table.reshape(())

    @staticmethod
    def _size(axis: _Axis) -> int:
        if axis.shares is not None:
            return int(axis.shares.shape[1])
        assert axis.parts is not None
        return len(axis.parts)

    def _corrections(self, axes: Sequence[_Axis]) -> Iterator[tuple[tuple[int, int], Floats]]:
        """Yield what counted pairs say of two axes each."""
        for one, other in combinations(range(len(axes)), 2):
            first, second = (one, other) if axes[one].column < axes[other].column else (other, one)
            pair = axes[first].column, axes[second].column
            if pair in self.pairs:
                ours, theirs = axes[first].parts, axes[second].parts
                assert ours is not None
                assert theirs is not None
                wanted = ours @ self.pairs[pair][1] @ theirs.T
                yield (one, other), wanted if first == one else wanted.T

    def _asked_of_cells(self, column: int, cells: Ints, matches: Bools) -> Floats:
        """Return the share of each cell's rows that a condition is about."""
        rows = self.singles[column]
        number = int(cells.max(initial=0)) + 1
        inside = np.bincount(cells, weights=rows, minlength=number)
        part = np.bincount(cells, weights=rows * matches, minlength=number)
        return np.asarray(part / np.maximum(inside, _TINY))

    def draw(self, lows: Codes, highs: Codes, classes: Ints, rng: np.random.Generator) -> Codes:
        """Return a value of each column for rows whose boxes and classes are given.

        Of several values that are drawn for a row by single columns, one is taken such that counted pairs come out.
        """
        boxes, tries = len(lows), _TRIES if self.pairs else 1
        lows, highs = np.repeat(lows, tries, axis=0), np.repeat(highs, tries, axis=0)
        codes = np.stack(
            [_drawn(self.frequencies[j], lows[:, j], highs[:, j], rng) for j in range(self.columns)], axis=1
        )
        if tries == 1 or not boxes:
            return codes
        weights = np.full((boxes, tries), 1 / tries)
        every = [*codes.T, np.repeat(classes, tries)]
        places = {}
        for pair, (cells, rows) in self.pairs.items():
            first, second = (cell[every[column]] for column, cell in zip(pair, cells, strict=True))
            places[pair] = first * rows.shape[1] + second
        scale = boxes / max(self.total, 1.0)
        for _ in range(_DRAW_ROUNDS):
            for pair, (_, rows) in self.pairs.items():
                now = np.bincount(places[pair], weights=weights.ravel(), minlength=rows.size)
                step = np.clip(rows.ravel() * scale / np.maximum(now, _TINY), 1 / _MOST_STEP, _MOST_STEP)
                weights = weights * step[places[pair]].reshape(weights.shape)
            weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        at = rng.random(boxes)[:, None]
        chosen = np.minimum((np.cumsum(weights, axis=1) < at).sum(axis=1), tries - 1)
        return np.asarray(codes[np.arange(boxes) * tries + chosen])

    def noise(self, column: int, matches: Bools) -> float:
        """Return the variance that noise gives to a count of one condition."""
        wide = self.noises[column]
        asked = matches[len(matches) - len(wide.wide_of) :].astype(np.float64)[None, :]
        # Counts agree with all rows: each cell is moved to these by its share of the noise.
        moved = np.bincount(wide.wide_of, weights=asked[0]) / np.bincount(wide.wide_of) @ wide.variances
        of_all = self.total_variance * (moved / max(float(wide.variances.sum()), _TINY)) ** 2
        return (float(wide.of(asked, self.variances[column])[0]) + float(of_all)) * _ROUGH

    def share_of_rows(self, column: int, matches: Bools) -> float:
        """Return about which share of all rows satisfies a condition."""
        return min(float(self.singles[column] @ matches) / max(self.total, 1.0), 1.0)

    def share_of_classes(self, classes: Bools) -> float:
        """Return about which share of all rows is of one of some classes."""
        return min(float(self.boxes.by_class[classes].sum()) / max(self.total, 1.0), 1.0)

    def published(self) -> Counts:
        """Return whole counts of the boxes by class that add up to the total."""
        rows, (boxes, classes) = self.boxes.rows, self.boxes.rows.shape
        parents = np.concatenate([[-1], np.zeros(classes, dtype=np.int64), 1 + np.tile(np.arange(classes), boxes)])
        counts = np.concatenate([[rows.sum()], self.boxes.by_class, rows.ravel()])[:, None]
        return whole(parents, counts)[1 + classes :, 0].reshape(boxes, classes)


def _drawn(frequencies: Floats, lows: Codes, highs: Codes, rng: np.random.Generator) -> Codes:
    """Return a code of each run, drawn by how frequent codes are."""
    before = np.concatenate(([0.0], np.cumsum(frequencies)))
    at = before[lows] + rng.random(len(lows)) * (before[highs] - before[lows])
    return np.asarray(np.clip(np.searchsorted(before, at, side="right") - 1, lows, highs - 1), dtype=np.int32)


def _raked(
    rows: Floats, runs: Sequence[ColumnRuns], classes: Floats, known: Sequence[Floats], starts: Sequence[int]
) -> tuple[Floats, list[Floats]]:
    """Return boxes' rows by class, and how frequent codes are, such that classes and columns come to what is known.

    A column moves a whole box, and a class is moved in all boxes: what each box and each class is moved by is enough.
    """
    frequencies = [one.copy() for one in known]
    by_box, by_class = np.ones(len(rows)), np.ones(len(classes))
    for _ in range(_ROUNDS):
        by_class = by_class * (classes / np.maximum(np.einsum("bc,b->c", rows, by_box) * by_class, _TINY))
        inside = np.einsum("bc,c->b", rows, by_class) * by_box
        for column, (own, wanted) in enumerate(zip(runs, known, strict=True)):
            now = own.spread(inside, frequencies[column])
            step = np.where(now > _TINY, wanted / np.maximum(now, _TINY), 1.0)
            changed = np.clip(frequencies[column] * np.clip(step, 1 / _MOST_STEP, _MOST_STEP), _TINY, 1 / _TINY)
            changed[: starts[column]] = 0.0
            moved = (own.inside(changed) / np.maximum(own.inside(frequencies[column]), _TINY))[own.of_box]
            inside, by_box, frequencies[column] = inside * moved, by_box * moved, changed
    by_class = by_class * (classes / np.maximum(np.einsum("bc,b->c", rows, by_box) * by_class, _TINY))
    return rows * by_box[:, None] * by_class[None, :], frequencies


def _total(
    tree: NoisyTree, spread: Floats, starts: Sequence[int], singles: Sequence[Single], noises: Sequence[WideNoise]
) -> tuple[float, float]:
    """Return the best estimate of all rows, and its variance: fewer counts have less noise."""
    roots = tree.parents < 0
    totals = [float(tree.estimates[roots].sum())]
    variances = [max(float(spread[roots].sum()) * tree.noisy.shape[1], _TINY)]
    for one, start, noise in zip(singles, starts, noises, strict=True):
        totals.append(float(one.counts[start:].sum()))
        variances.append(max(float(noise.variances.sum()), _TINY))
    weights = 1 / np.array(variances)
    return max(float(weights @ np.array(totals) / weights.sum()), 0.0), 1 / float(weights.sum())


def _not_negative(counts: Ints | Floats, start: int, total: float) -> Floats:
    """Return the nearest counts with this sum, none of them below a few."""
    shared = np.maximum(_shared(counts[start:].astype(np.float64), total), _FEW)
    return np.concatenate((np.zeros(start), shared * (total / shared.sum())))


def _shared(values: Floats, total: float) -> Floats:
    """Return the nearest numbers with this sum, none of them negative."""
    parents = np.concatenate(([-1], np.zeros(len(values), dtype=np.int64)))
    estimate = np.concatenate(([total], values))[:, None]
    return np.asarray(non_negative(parents, estimate, np.ones(len(parents)))[1:, 0])


def _improved(expected: Floats, pair: Pair) -> Floats:
    """Return what is likely of a pair's cells: nearer to its counts, the further these are from what is expected."""
    away = pair.counts - expected
    unlike = max(0.0, float((away**2 - pair.variance).sum()) / max(float(expected.sum()), 1.0))
    own = unlike * (expected + 1)
    found = np.maximum(expected + own / np.maximum(own + pair.variance, _TINY) * away, _TINY)
    for _ in range(_PAIR_ROUNDS):  # single columns are better known by themselves
        found = found * (expected.sum(axis=1) / np.maximum(found.sum(axis=1), _TINY))[:, None]
        found = found * (expected.sum(axis=0) / np.maximum(found.sum(axis=0), _TINY))[None, :]
    return found
