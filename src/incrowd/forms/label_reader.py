"""Counts and rows from labels alone: what a reader of the files can tell, and so what the publisher is told as well.

A group's members are spread evenly over what their labels stand for, as `label_meanings.py` describes it. Cost: one
pass over a column's distinct labels for each condition, and one over the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.changed import ChangeFacts
from incrowd.core.estimate import CountBounds
from incrowd.core.labelled import Labelled
from incrowd.core.query import Condition, Query
from incrowd.core.reader import Reader
from incrowd.core.shown_weights import WeightedLines
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.column_readers import ColumnReader, SetColumn, ValueColumn, column_of_labels, number_values
from incrowd.forms.count_errors import Asked, even_spreading
from incrowd.forms.reading.labels import number_labels
from incrowd.hierarchies.values import as_text

SPREAD_EVENLY = (
    "How a label's rows are spread over its values is not known: between evenly and as all labels together tell, as "
    "unevenly as values of real tables are, and alike in all groups. Conditions within a group depend on each other a "
    "little. Rows that are withheld are not counted."
)

CORRECTED = (
    "Where its probabilities are known (PRAM), counts are corrected for it; elsewhere, they are those of published "
    "values."
)


@dataclass(frozen=True, eq=False)
class LabelReader(Reader):
    """A release as its labels tell it: line i is `counts[i]` rows that show `shown[name][i]` in each column, by number.

    Lines are in an order that depends on nothing but what they show, so that chance and rounding are the same for
    whoever reads them.
    """

    columns: Mapping[str, ColumnReader]
    shown: Mapping[str, Ints]
    counts: Counts
    names: tuple[str, ...]
    """The columns in the order in which they are written."""
    weighted: WeightedLines | None = None
    """What its lines weigh, where there are survey weights."""
    changes: ChangeFacts = field(default_factory=ChangeFacts)
    """What was done to values before they were published: counts correct for chance of known probabilities."""

    @classmethod
    def of(cls, form: Labelled, described: Mapping[str, Any]) -> LabelReader:
        """Read the labels of a form as they are described."""
        columns: dict[str, ColumnReader] = {}
        shown: dict[str, Ints] = {}
        for name in form.shown.columns:
            numbers, labels = number_labels(form.shown.labels[name])
            columns[name] = column_of_labels(name, labels, described["columns"][name])
            shown[name] = numbers[form.groups]
        for place, name in enumerate(form.schema.sensitive):
            there, codes = np.unique(form.sensitive[:, place], return_inverse=True)
            numbers, columns[name] = number_values(name, form.tally.trees[name].values.gather(there))
            shown[name] = numbers[codes]
        lines = np.lexsort([shown[name] for name in sorted(shown)]) if shown else np.arange(len(form.counts))
        return cls(
            columns,
            {name: numbers[lines] for name, numbers in shown.items()},
            form.counts[lines],
            form.schema.tallied,
            None if form.weighted is None else form.weighted.reordered(lines),
        )

    @classmethod
    def of_rows(
        cls, rows: pl.DataFrame, labelled: Sequence[str], items: str, weight: str | None, described: Mapping[str, Any]
    ) -> LabelReader:
        """Read published rows with a column of sets of items, which no form holds as labels."""
        columns: dict[str, ColumnReader] = {}
        shown: dict[str, Ints] = {}
        for name in rows.columns:
            if name == items:
                lists = rows[name].fill_null([]).list.sort()
                shown[name], texts = number_labels(lists.list.join("\0"))
                first = np.zeros(len(texts), dtype=np.int64)
                first[shown[name]] = np.arange(len(lists))
                columns[name] = SetColumn.of(name, lists.gather(first), described["columns"][name])
            elif name in labelled:
                shown[name], labels = number_labels(rows[name].cast(pl.String))
                columns[name] = column_of_labels(name, labels, described["columns"][name])
            elif name != weight:
                shown[name], columns[name] = number_values(name, rows[name])
        order = np.lexsort([shown[name] for name in sorted(shown)])
        counts = np.ones(rows.height, dtype=np.int64)
        weights = None if weight is None else rows[weight].cast(pl.Float64).to_numpy()[order]
        return cls(
            columns,
            {name: numbers[order] for name, numbers in shown.items()},
            counts,
            tuple(name for name in rows.columns if name not in (items, weight)),
            None if weights is None else WeightedLines.of(np.arange(rows.height), weights, counts),
        )

    def count(self, query: Query, *, weighted: bool = True) -> float:
        """Estimate how many published rows satisfy every condition, or what they weigh, where there are weights."""
        found = self._amounts(weighted=weighted)
        for name, condition in query.items():
            column = self._column(name)
            corrected = self._corrected(name, condition)
            shares = column.shares(condition) if corrected is None else corrected
            found = found * shares[self.shown[name]]
        return float(found.sum())

    def _corrected(self, name: str, condition: Condition) -> Floats | None:
        """Return what rows count for by what they show, where chance of known probabilities changed a column."""
        changes = self.changes.columns.get(name, ())
        column = self.columns[name]
        if not changes or sum(change.by_chance for change in changes) != 1 or not isinstance(column, ValueColumn):
            return None
        told = self.changes.told.get(name, ())
        rows = np.bincount(self.shown[name], weights=self.counts, minlength=len(column.values)).astype(np.float64)
        values = as_text(column.values).to_list()
        return changes[-1].corrected(told[-1] if told else {}, values, rows, column.shares(condition))

    def bounded(self, query: Query, *, weighted: bool = True) -> CountBounds:
        """Return the same with its error, and with bounds that hold whatever is behind the labels."""
        asked = []
        amounts, by_chance, every = self._amounts(weighted=weighted), 0.0, np.ones(len(self.counts))
        for name, condition in query.items():
            column, shown = self._column(name), self.shown[name]
            if (corrected := self._corrected(name, condition)) is not None:
                every = every * corrected[shown]
                continue
            sure, possible = column.certain(condition)
            shares, others = column.shares(condition), self._likely[name].shares(condition)
            room = column.room[shown]
            asked.append(Asked(shares[shown], others[shown], sure[shown], possible[shown], room, column.ordered))
        found = even_spreading(amounts, self.counts, asked)
        if len(asked) == len(query):
            return found
        # Chance adds the variance of what rows count for, whose mean is 1 for those who are counted and 0 for others.
        shares = amounts.copy()
        for one in asked:
            shares = shares * one.shares
        each = np.divide(amounts, self.counts, out=np.zeros(len(amounts)), where=self.counts > 0)
        by_chance = float((shares * each * (every**2 - every)).sum())
        value = float((shares * every).sum())
        spread = even_spreading(amounts * np.abs(every), self.counts, asked).variance
        return CountBounds(value, min(0.0, value), max(found.most, value), spread + max(by_chance, 0.0), value)

    @cached_property
    def _likely(self) -> dict[str, ColumnReader]:
        rows = {name: np.bincount(shown, weights=self.counts) for name, shown in self.shown.items()}
        return {name: column.likely(rows[name].astype(np.float64)) for name, column in self.columns.items()}

    def corrected_for(self, changes: ChangeFacts) -> LabelReader:
        """Return the same, which knows what was done to values."""
        return replace(self, changes=changes) if changes.columns else self

    @property
    def assumes(self) -> str:
        """What errors rest on, in words."""
        drawn = [name for name in self.changes.by_chance if name in self.columns]
        if not drawn:
            return SPREAD_EVENLY
        return f"{SPREAD_EVENLY} Chance changed values before they were published: {', '.join(drawn)}. {CORRECTED}"

    def _amounts(self, *, weighted: bool) -> Floats:
        if weighted and self.weighted is not None:
            return self.weighted.totals(len(self.counts))
        return self.counts.astype(np.float64)

    def _column(self, name: str) -> ColumnReader:
        if name not in self.columns:
            raise QueryError(
                f"'{name}' is not a quasi-identifier or sensitive column of the release."
                + did_you_mean(name, self.columns)
            )
        return self.columns[name]

    def rows(self, rng: np.random.Generator) -> pl.DataFrame:
        """Return one row for each published one, drawn from what its labels stand for."""
        lines = np.repeat(np.arange(len(self.counts)), self.counts)
        return pl.DataFrame([self.columns[name].draw(self.shown[name][lines], rng) for name in self.names])

    def row_weights(self) -> Floats | None:
        """Return the published weight of each of these rows, which come line by line."""
        return None if self.weighted is None else np.repeat(self.weighted.weights, self.weighted.counts)
