"""Counts and rows from labels alone: what a reader of the files can tell, and so what the publisher is told as well.

A group's members are spread evenly over what their labels stand for, as `label_meanings.py` describes it. Cost: one
pass over a column's distinct labels for each condition, and one over the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from incrowd.common.arrays import Counts, Floats, Ints
from incrowd.core.estimate import CountBounds
from incrowd.core.labelled import Labelled
from incrowd.core.query import Query
from incrowd.core.reader import Reader
from incrowd.core.shown_weights import WeightedLines
from incrowd.errors import QueryError, did_you_mean
from incrowd.forms.column_readers import ColumnReader, SetColumn, column_of_labels, number_values
from incrowd.forms.count_errors import Asked, even_spreading
from incrowd.forms.reading.labels import number_labels

SPREAD_EVENLY = (
    "How a label's rows are spread over its values is not known: between evenly and as all labels together tell, as "
    "unevenly as values of real tables are, and alike in all groups. Conditions within a group depend on each other a "
    "little. Rows that are withheld are not counted."
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
            found = found * self._column(name).shares(condition)[self.shown[name]]
        return float(found.sum())

    def bounded(self, query: Query, *, weighted: bool = True) -> CountBounds:
        """Return the same with its error, and with bounds that hold whatever is behind the labels."""
        asked = []
        for name, condition in query.items():
            column, shown = self._column(name), self.shown[name]
            sure, possible = column.certain(condition)
            shares, others = column.shares(condition), self._likely[name].shares(condition)
            room = column.room[shown]
            asked.append(Asked(shares[shown], others[shown], sure[shown], possible[shown], room, column.ordered))
        return even_spreading(self._amounts(weighted=weighted), self.counts, asked)

    @cached_property
    def _likely(self) -> dict[str, ColumnReader]:
        rows = {name: np.bincount(shown, weights=self.counts) for name, shown in self.shown.items()}
        return {name: column.likely(rows[name].astype(np.float64)) for name, column in self.columns.items()}

    @property
    def assumes(self) -> str:
        """What errors rest on, in words."""
        return SPREAD_EVENLY

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
