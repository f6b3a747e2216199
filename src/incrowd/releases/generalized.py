"""A release in generalized form: every row shows its group's labels, its own sensitive values, and what was kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import QueryError, did_you_mean
from incrowd.groups import Regions
from incrowd.hierarchies import labels
from incrowd.hierarchies.tree import MISSING
from incrowd.models.model import Guarantee, Model
from incrowd.recoding import Recoding, Shown
from incrowd.releases.query import Query, matching_codes
from incrowd.releases.showing import ShownGroups, show_groups
from incrowd.schema import Schema
from incrowd.tally import Counts, Tally, group_tuples
from incrowd.verification import COUNT, verify


@dataclass(frozen=True, eq=False)
class Generalized:
    """What a recoding publishes, as counts of distinct published rows.

    Line i of the published tally is `counts[i]` rows of group `groups[i]` with the sensitive codes `sensitive[i]`;
    lines are sorted by what they show.
    """

    schema: Schema
    tally: Tally
    shown: ShownGroups
    groups: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    counts: Counts
    rows_in: int
    written: Shown = "region"
    name: ClassVar[str] = "generalized"

    @classmethod
    def of(cls, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int | None = None) -> Generalized:
        """Count what a recoding of a tally publishes; `rows_in` is how many rows there were to publish, if not all."""
        shown = show_groups(tally, recoding)
        published = recoding.published
        group_of = shown.group_of[published]
        names = tuple(schema.sensitive)
        sensitive = np.stack(
            [group_of, *(tally.column(name)[recoding.tuples[published]] for name in names)], axis=1
        ).astype(np.int32)
        index, first = group_tuples(sensitive, [max(len(shown), 1), *(tally.trees[name].size for name in names)])
        counts = np.bincount(index, weights=recoding.counts[published], minlength=len(first)).astype(np.int64)
        lines = sensitive[first]
        rows = tally.rows if rows_in is None else rows_in
        groups = lines[:, 0].astype(np.int64)
        return cls(schema, tally, shown, groups, lines[:, 1:], counts, rows, recoding.shown)

    @property
    def rows(self) -> int:
        """Number of rows that are published."""
        return int(self.counts.sum())

    @property
    def withheld(self) -> int:
        """Number of rows that are not."""
        return self.rows_in - self.rows

    @cached_property
    def group_sizes(self) -> Counts:
        """Rows in each published group."""
        return np.bincount(self.groups, weights=self.counts, minlength=len(self.shown)).astype(np.int64)

    def verify(self, require: Sequence[Model], before: Tally) -> list[Guarantee]:
        """Check every model on the labels that are published; return the guarantees, or refuse the release."""
        quasi, sensitive = tuple(self.schema.quasi), tuple(self.schema.sensitive)
        return verify(self.lines(), quasi, sensitive, require, before=before, stands_for=self.stands_for())

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return what is published besides the rows: nothing."""
        return {}

    def losses(self) -> dict[str, Any]:
        """Return the certainty penalties, in total and by column, and what the groups' sizes cost."""
        from incrowd.metrics import AverageGroupSize, Discernibility, GlobalCertaintyPenalty, certainty_penalties

        return {
            "gcp": GlobalCertaintyPenalty().measure(self.tally, self),
            "ncp": certainty_penalties(self.tally, self),
            "discernibility": Discernibility().measure(self.tally, self),
            "average group size": AverageGroupSize().measure(self.tally, self),
        }

    def warnings(self) -> list[str]:
        """Return what the labels show beyond their groups."""
        found = []
        if self.written == "tight":
            found.append(
                "Labels are tight ranges: a range's bounds are values of people in the group, which shows extreme ones."
            )
        made_up = sorted(name for name in self.schema.quasi if self.tally.trees[name].from_data)
        if made_up and self.written in ("hierarchy", "level"):
            found.append(f"Hierarchies made from the data itself: {', '.join(made_up)}.")
        return found

    def group_regions(self) -> Regions:
        """Return the codes that the labels of each group stand for."""
        lows, highs = self.shown.lows.copy(), self.shown.highs.copy()
        for place, name in enumerate(self.shown.columns):
            anything = self.shown.labels[name].eq_missing(labels.ANY).to_numpy()  # missing included, for all one sees
            lows[anything, place], highs[anything, place] = MISSING, self.tally.trees[name].size
        return Regions(self.shown.columns, lows, highs)

    def stands_for(self) -> Regions:
        """Return the codes that the labels of each distinct published row stand for."""
        return self.group_regions().of(self.groups)

    def lines(self) -> pl.DataFrame:
        """Return the distinct published rows (labels and sensitive values) with their counts."""
        return self._rows_of(np.arange(len(self.counts))).with_columns(pl.Series(COUNT, self.counts))

    def _rows_of(self, lines: NDArray[np.int64]) -> pl.DataFrame:
        groups = self.groups[lines]
        quasi = {name: self.shown.labels[name].gather(groups) for name in self.schema.quasi}
        sensitive = {
            name: self.tally.trees[name].values.gather(self.sensitive[lines, place])
            for place, name in enumerate(self.schema.sensitive)
        }
        return pl.DataFrame({**quasi, **sensitive})

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the published rows, quasi-identifiers and sensitive values only, sorted by what they show."""
        ends = np.cumsum(self.counts)
        for first in range(0, self.rows, rows_per_batch):
            last = min(first + rows_per_batch, self.rows)
            lines = np.arange(np.searchsorted(ends, first, side="right"), np.searchsorted(ends, last, side="left") + 1)
            repeats = np.minimum(ends[lines], last) - np.maximum(ends[lines] - self.counts[lines], first)
            yield self._rows_of(np.repeat(lines, repeats))

    def count(self, query: Query) -> float:
        """Estimate how many published rows satisfy every condition, as if a group's members were spread evenly."""
        share = np.ones(len(self.shown))
        exact = np.ones(len(self.counts), dtype=bool)
        for name, condition in query.items():
            if name in self.schema.quasi:
                share *= self._matching_share(name, condition)
            elif name in self.schema.sensitive:
                matches = matching_codes(name, self.tally.trees[name], condition)
                exact &= matches[self.sensitive[:, list(self.schema.sensitive).index(name)]]
            else:
                raise QueryError(
                    f"'{name}' is not a quasi-identifier or sensitive column of the release."
                    + did_you_mean(name, self.schema.tallied)
                )
        return float((self.counts * exact * share[self.groups]).sum()) if len(self.shown) else 0.0

    def _matching_share(self, name: str, condition: object) -> NDArray[np.float64]:
        matches = matching_codes(name, self.tally.trees[name], condition)
        before = np.concatenate(([0], np.cumsum(matches)))
        place = self.shown.columns.index(name)
        lows, highs = self.shown.lows[:, place], self.shown.highs[:, place]
        return np.asarray((before[highs] - before[lows]) / (highs - lows))
