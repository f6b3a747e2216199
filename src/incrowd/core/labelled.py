"""Groups with labels, as every part that looks at labels sees them: loss metrics, views, engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import Regions
from incrowd.core.schema import Schema
from incrowd.core.shown_weights import ShownWeights, WeightedLines
from incrowd.core.tally import Tally
from incrowd.hierarchies.labels import ANY
from incrowd.hierarchies.naming import Pieces

Shown = Literal["region", "hierarchy", "level", "tight"]
"""How a run of codes is written: as the region between cuts, as the lowest nodes of the hierarchy, as nodes of a level
that all groups share, or as the tight range of the group's own values."""


def shows_anything(labels: pl.Series) -> Bools:
    """Tell which labels are `*`."""
    anything = labels == ANY
    return (anything.fill_null(value=False) if anything.null_count() else anything).to_numpy()


@dataclass(frozen=True, eq=False)
class ShownGroups:
    """Groups as a reader can tell them apart: two groups of the method that show the same labels are one.

    `labels[name][g]` is what group g shows in a column, `lows`/`highs` the codes behind it. Groups are numbered in the
    order of what they show, so that listing them in order says nothing more. `group_of` is each part's group.
    """

    columns: tuple[str, ...]
    labels: Mapping[str, pl.Series]
    lows: Codes
    highs: Codes
    group_of: Ints
    torn: Mapping[str, tuple[Ints, Pieces]] = field(default_factory=dict)
    """Of columns whose labels leave out codes between: each group's label by number, and what labels stand for."""
    less: bool = False
    """Whether a label stands for less than the run that the method gave its group."""
    stand_ins: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Of columns that show numbers in place of labels: what is written, group by group, one column or two."""
    split: bool = False
    """Whether these tell groups apart that have the same labels."""
    levels: tuple[int, ...] | None = None
    """The level of each column, where all groups share it."""

    def __len__(self) -> int:
        return len(self.lows)

    def stands_for_anything(self, name: str) -> Bools:
        """Return which groups show `*` in a column."""
        found = self._anything.get(name)
        if found is None:
            found = self._anything[name] = shows_anything(self.labels[name])
        return found

    def codes_each(self, name: str) -> Ints:
        """Return how many codes each group's label stands for in a column: of its run, some may be left out."""
        place = self.columns.index(name)
        each: Ints = (self.highs[:, place] - self.lows[:, place]).astype(np.int64)
        if name in self.torn:
            label_of, pieces = self.torn[name]
            before = np.concatenate(([0], np.cumsum(pieces.highs - pieces.lows)))
            each = np.where(self.stands_for_anything(name), each, np.diff(before[pieces.offsets])[label_of])
        return each

    @cached_property
    def _anything(self) -> dict[str, Bools]:
        """Every metric of an audit asks for each column."""
        return {}

    def written(self, names: Iterable[str]) -> pl.DataFrame:
        """Return what groups show in some columns, as it is written."""
        found: dict[str, pl.Series] = {}  # by name, since Polars gives another one to a series that is called ""
        for name in names:
            stand_in = self.stand_ins.get(name)
            found |= {name: self.labels[name]} if stand_in is None else stand_in.to_dict()
        return pl.DataFrame(found)


class Labelled(Protocol):
    """Groups of rows with labels, as counts of distinct published rows.

    Line i is `counts[i]` rows of group `groups[i]` with the sensitive codes `sensitive[i]`.
    """

    @property
    def schema(self) -> Schema:
        """The role of every column of the table."""
        ...

    @property
    def tally(self) -> Tally:
        """The table before."""
        ...

    @property
    def shown(self) -> ShownGroups:
        """The groups and their labels."""
        ...

    @property
    def groups(self) -> Ints:
        """The group of each line."""
        ...

    @property
    def sensitive(self) -> Codes:
        """The sensitive codes of each line."""
        ...

    @property
    def written(self) -> Shown:
        """How its labels are written."""
        ...

    @property
    def counts(self) -> Counts:
        """The rows of each line."""
        ...

    @property
    def weights(self) -> ShownWeights | None:
        """What its rows show as their weights, where there are any."""
        ...

    @property
    def weighted(self) -> WeightedLines | None:
        """What the rows of each line weigh, as published."""
        ...

    @property
    def rows_in(self) -> int:
        """Rows that were to be published."""
        ...

    @property
    def rows(self) -> int:
        """Rows that are published."""
        ...

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        ...

    @property
    def group_sizes(self) -> Counts:
        """Rows in each group."""
        ...

    def group_regions(self) -> Regions:
        """Return the codes that the labels of each group stand for."""
        ...

    def stands_for(self) -> Regions:
        """Return the codes that the labels of each line stand for."""
        ...

    def lines(self) -> pl.DataFrame:
        """Return the distinct published rows (labels and sensitive values) with their counts."""
        ...

    def lines_at(self, places: Ints) -> pl.DataFrame:
        """Return some of them."""
        ...

    def written_lines(self) -> pl.DataFrame:
        """Return the same with weights, where there are any: all that is written of what the form counts."""
        ...
