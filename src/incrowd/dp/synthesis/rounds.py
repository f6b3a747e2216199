"""Count single columns, then choose and count sets of columns until the budget is spent, and make rows.

In the manner of AIM (McKenna, Mullins, Sheldon & Miklau 2022), with some differences: single columns are counted once,
and by class where there are few classes, with shares of the budget by their cells; sets of columns are counted by
wider cells where the noise is large; how many are counted follows from the noisy number of rows, so that a small ε is
spent on single columns alone. All that decides, apart from the choices, comes from noisy counts: it costs no privacy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from incrowd.common.arrays import Floats, Ints
from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.dp.boxes.made_rows import require_rows
from incrowd.dp.boxes.noisy_tree import require_room
from incrowd.dp.marginals.cells import Column, share_out, total_rows
from incrowd.dp.marginals.told_variance import ColumnNoise, WideNoise, told_noise
from incrowd.dp.synthesis.candidates import UNIT, Candidate, Candidates, sets_of, that_fit
from incrowd.dp.synthesis.columns import Cells, ModelColumn, count_together
from incrowd.dp.synthesis.joint import Joint
from incrowd.dp.synthesis.junction_tree import Columns
from incrowd.dp.synthesis.maximum_entropy import Fitted, fit
from incrowd.dp.synthesis.measurement import Measurement, grouped
from incrowd.dp.synthesis.paying import Payment
from incrowd.dp.synthesis.rows import draw, narrowed
from incrowd.dp.synthesis.smoothing import smoothed


@dataclass(frozen=True)
class Plan:
    """What can be set; none of it depends on the table."""

    singles: Fraction = Fraction(1, 4)
    """The share of the budget for single columns."""
    by_class: Fraction = Fraction(1, 6)
    """The share for each column by class, where there is one."""
    levels: tuple[int, ...] = (24, 10, 5)
    most_cells: int = 131_072
    """Of the junction tree."""
    rounds_per_column: float = 2.0
    most_choices: int | None = None
    class_weight: int = 1
    trust: float = 0.005
    """What of the variance of noise keeps a count from being met: little, for none of it is fitted exactly."""
    penalty: float = 0.7
    """How much of the noise of counting is taken off a score: cells that nobody is in lose most of theirs."""
    most_cells_paid: int = 16
    """Columns are paid for by their cells, but no more than so many."""
    smallest_set: int = 16
    noise_share: float = 0.3
    """Of so many cells, noise may be so large a share of all rows: else a set is not worth counting."""
    steps: int = 60
    last_steps: int = 300


_FEW_CLASSES = 8
"""Up to so many classes, every column is counted by class."""
_NEAR, _NEAR_AT_LAST = 0.1, 0.02
_COLUMNS_PER_CHOICE = 10
"""One choice for so many columns is made before the model is fitted anew: with few columns, one."""
_MOST_ROUNDS = 60
_ROUGH = 1.15
"""Counts weigh in the model about as they should, and it is fitted to them nearly: variances are larger by so much."""
_TINY = 1e-12


class Synthesis:
    """One run on a table: its columns, the last of them the class where there is one, and the counts of its tuples."""

    def __init__(
        self,
        columns: Sequence[Cells],
        counts: Ints,
        payment: Payment,
        rng: np.random.Generator,
        progress: Progress,
        plan: Plan,
        *,
        with_class: bool,
    ) -> None:
        self._cells, self._counts, self._payment, self._rng = list(columns), counts, payment, rng
        self._progress, self._plan = progress, plan
        self._class = len(columns) - 1 if with_class else None
        self._by_class = with_class and len(columns) > 1 and columns[-1].size <= _FEW_CLASSES

    def run(self) -> tuple[list[Ints], list[ColumnNoise], float]:
        """Return the cell of every made row in each column, the noise of its cells, and the variance of all rows."""
        singles = self._count_singles()
        total = max(float(total_rows(singles)[0]), 0.0)
        columns = self._columns(singles, total)
        model, sizes, taken = self._model(columns, singles, total)
        rows = round(total)
        require_rows(rows)
        self._progress("making rows", 0.0)
        made = [
            narrowed(column, wide, self._rng)
            for column, wide in zip(columns, draw(model, sizes, rows, self._rng), strict=True)
        ]
        self._progress("making rows", 1.0)
        noise = [
            told_noise(
                single.noisy,
                np.bincount(values, minlength=cells.size),
                single.variance,
                self._wide_noise(place, columns[place], single, taken),
                ordered=cells.ordered_from is not None,
            ).larger(_ROUGH)
            for place, (single, values, cells) in enumerate(zip(singles, made, self._cells, strict=True))
        ]
        return made, noise, 1 / sum(1 / max(len(one.noisy) * one.variance, _TINY) for one in singles)

    def _wide_noise(self, place: int, column: ModelColumn, single: Column, taken: Sequence[Measurement]) -> WideNoise:
        """Return the noise of the model's cells, by what was counted of a column alone and with others.

        What was counted of a group of cells tells a part of each. For ranges, it is taken to tell as much of each, for
        a range holds whole groups.
        """
        variances = np.maximum(column.joined * single.variance, _TINY)
        for one in taken:
            if place in one.columns and len(one.columns) > 1:
                axis = one.columns.index(place)
                groups = np.diff(one.starts[axis], append=len(column))
                spread = float(one.ridge.flat[0]) / self._plan.trust * one.noisy.size / one.noisy.shape[axis]
                if column.cells.ordered_from is None:
                    together = np.add.reduceat(variances, one.starts[axis]) + spread
                    variances = np.maximum(variances - variances**2 / np.repeat(together, groups), _TINY)
                else:
                    variances = 1 / (1 / variances + np.repeat(groups / max(spread, _TINY), groups))
        return WideNoise(np.repeat(np.arange(len(column)), column.joined), variances)

    # --- single columns ---

    def _count_singles(self) -> list[Column]:
        """Count every column, with everything where nothing else can be counted."""
        columns = [
            Column(one.name, one.cell_of, np.zeros((one.size, 1), dtype=np.int64), np.inf) for one in self._cells
        ]
        columns = self._count_each(columns, self._plan.singles if len(columns) > 1 else Fraction(1))
        rows = max(float(total_rows(columns)[0]), 0.0)
        self._rounds = self._affordable(rows)
        if not self._rounds and self._payment.left:
            share = Fraction(1, 3) if self._by_class else Fraction(1)
            columns = self._count_each(columns, self._payment.left * share)
        return columns

    def _count_each(self, columns: list[Column], share: Fraction) -> list[Column]:
        """Count every column; what was counted before is made better."""
        weights = self._weights([len(one.noisy) for one in columns])
        found = []
        for number, (column, weight) in enumerate(zip(columns, weights, strict=True)):
            self._progress("counting", 0.3 * number / len(columns))
            require_room(len(column.noisy))
            true = count_together([column.cell_of], [len(column.noisy)], self._counts)
            noisy, spread = self._payment.count(f"counts of {column.name}", true, share * weight)
            found.append(_pooled(column, noisy[:, None], spread))
        return found

    def _weights(self, cells: Sequence[int]) -> list[Fraction]:
        """Return shares that make the sum of all noise small; together they are one."""
        exact = [
            Fraction(round(1000 * min(one, self._plan.most_cells_paid) ** self._payment.evenness)) for one in cells
        ]
        return [one / sum(exact) for one in exact]

    def _columns(self, singles: list[Column], total: float) -> list[ModelColumn]:
        found = []
        for place, (column, cells) in enumerate(zip(singles, self._cells, strict=True)):
            noisy = column.noisy.astype(np.float64)
            if cells.ordered_from is not None:
                first = cells.ordered_from
                noisy = np.concatenate([noisy[:first], smoothed(noisy[first:], column.variance)])
            counts = share_out(noisy, np.array([total]))[:, 0]
            found.append(
                ModelColumn.of(cells, counts, self._plan.levels, whole=self._by_class and place == self._class)
            )
        return found

    def _affordable(self, rows: float) -> int:
        """Return how many sets of columns can be counted so that noise does not drown them."""
        plan = self._plan
        if len(self._cells) < 2:
            return 0
        most = min(max(1, int(plan.rounds_per_column * len(self._cells))), _MOST_ROUNDS)
        most = most if plan.most_choices is None else min(most, plan.most_choices)
        left = self._payment.left - (plan.by_class if self._by_class else 0)
        classes = self._cells[-1].size if self._by_class else 1
        for rounds in range(most, 0, -1):
            noise = self._payment.mean_noise(left / rounds * (1 - self._payment.choices))
            if noise * plan.smallest_set * classes <= plan.noise_share * rows:
                return rounds
        return 0

    # --- sets of columns ---

    def _model(
        self, columns: list[ModelColumn], singles: list[Column], total: float
    ) -> tuple[Fitted, Ints, list[Measurement]]:
        plan = self._plan
        sizes = np.array([len(column) for column in columns], dtype=np.int64)
        taken = []
        for place, (column, single) in enumerate(zip(columns, singles, strict=True)):
            wide = np.add.reduceat(column.counts, column.starts)
            ridge = column.joined.astype(np.float64) * (single.variance * plan.trust)
            taken.append(Measurement((place,), column.levels[:1], wide, ridge))
        candidates = Candidates(columns, self._counts)
        if self._by_class and self._payment.left:
            taken += self._count_by_class(candidates)
        model = fit(sizes, taken, total, most_steps=plan.last_steps, near=_NEAR_AT_LAST)
        if self._rounds:
            model = self._choose_and_count(candidates, taken, model, total)
        return model, sizes, taken

    def _count_by_class(self, candidates: Candidates) -> list[Measurement]:
        """Count every column by class: that is what a classifier needs first."""
        assert self._class is not None
        pairs = [candidates.finest((place, self._class)) for place in range(len(self._cells) - 1)]
        share = self._plan.by_class if self._rounds else self._payment.left
        return [
            self._count(candidates, one, share * weight)
            for one, weight in zip(pairs, self._weights([one.cells for one in pairs]), strict=True)
        ]

    def _count(self, candidates: Candidates, chosen: Candidate, share: Fraction) -> Measurement:
        names = " and ".join(self._cells[one].name for one in chosen.columns)
        noisy, spread = self._payment.count(f"counts of {names}", candidates.true_counts(chosen), share)
        return Measurement(
            chosen.columns, chosen.starts, noisy.astype(np.float64), np.full(noisy.shape, spread * self._plan.trust)
        )

    def _choose_and_count(
        self, candidates: Candidates, taken: list[Measurement], model: Fitted, total: float
    ) -> Fitted:
        """Choose and count until the budget is spent; fit the model anew after each."""
        plan, payment, sizes = self._plan, self._payment, candidates.sizes
        carried = self._class if self._by_class else None
        weight = plan.class_weight if self._class is not None else 1
        open_ones = candidates.of(sets_of(len(sizes), carried), self._class, weight)
        share, before = payment.left / self._rounds, len(taken)
        at_once = max(1, len(sizes) // _COLUMNS_PER_CHOICE)
        while payment.left:
            self._progress("counting", 0.3 + 0.7 * float(1 - payment.left))
            fits = that_fit(open_ones, sizes, [one.columns for one in taken], plan.most_cells)
            open_ones = [one for one, fit_too in zip(open_ones, fits, strict=True) if fit_too]
            if not open_ones:  # then what is in the model already is counted better
                open_ones = [candidates.finest(one.columns) for one in taken]
            said = Joint(model, carried).tables({one.columns for one in open_ones})
            waiting, new = list(open_ones), len(taken)
            if payment.left < 2 * share:
                share = payment.left
            noise = payment.mean_noise(share * (1 - payment.choices))
            scores = candidates.scores(waiting, said, total, noise * plan.penalty)
            while payment.left and waiting and len(taken) - new < at_once:
                if payment.left < 2 * share:
                    share = payment.left
                place = payment.choose(
                    f"which columns to count, choice {len(taken) - before + 1}",
                    scores,
                    share * payment.choices,
                    sensitivity=Fraction(weight),
                    unit=UNIT,
                )
                chosen, scores = waiting.pop(place), np.delete(scores, place)
                if len(taken) > new:  # what was chosen just before may leave no room for it
                    counted = [one.columns for one in taken]
                    if not that_fit([chosen], sizes, counted, plan.most_cells)[0]:
                        chosen = candidates.finest(taken[-1].columns)
                taken.append(self._count(candidates, chosen, share * (1 - payment.choices)))
            model = fit(
                sizes,
                taken,
                total,
                model.potentials,
                most_steps=plan.steps if payment.left else plan.last_steps,
                near=_NEAR if payment.left else _NEAR_AT_LAST,
            )
            if not any(_tells(one, model, said, total, noise) for one in taken[new:]):
                share *= 2  # it was nothing but noise: ask fewer questions, with less of it
        return model


def _tells(one: Measurement, model: Fitted, said: Mapping[Columns, Floats], total: float, noise: float) -> bool:
    """Whether a count has moved the model by more than its noise."""
    moved = np.abs(model.expected(one) - grouped(said[one.columns], one.starts)).sum() * total
    return bool(moved > noise * one.noisy.size)


def _pooled(column: Column, noisy: Ints, spread: float) -> Column:
    """Return the best mean of what was counted before and now."""
    if not np.isfinite(column.variance):
        return Column(column.name, column.cell_of, noisy, spread)
    weight = column.variance / (column.variance + spread) if column.variance + spread > 0 else 0.5
    mean = np.rint(column.noisy + weight * (noisy - column.noisy)).astype(np.int64)
    return Column(column.name, column.cell_of, mean, weight * spread)
