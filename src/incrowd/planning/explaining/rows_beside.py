"""The rows of a table beside what is published of each.

A method decides on counts of equal rows, so rows that are equal in every column it looked at are interchangeable: they
take the places of their kind in the order in which they are read. Cost: one pass over the rows, and a sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import Regions
from incrowd.core.labelled import Labelled
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.source import OpenedTable
from incrowd.core.tally import Tally, group_tuples
from incrowd.core.tuple_lookup import TupleLookup
from incrowd.errors import QueryError, SourceChanged
from incrowd.hierarchies.coding import exact_codes
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text
from incrowd.publishing.release import Release
from incrowd.sources import reading

MOST_ROWS = 5_000_000
"""Tables with more rows are not looked at row by row."""


@dataclass(frozen=True, eq=False)
class RowsBeside:
    """Rows of a table in the order in which they are read, and the group that each is published in.

    `group_of[i]` is a group of the release's labels, or `WITHHELD`. `sure[i]` is false where equal rows of several
    people went to different groups, so that this row may be in another of them.
    """

    release: Release
    labelled: Labelled
    rows: pl.DataFrame
    tuple_of: Ints
    """The tuple of the table's counts that each row is one of."""
    group_of: Ints
    sure: Bools
    _written: dict[str, pl.Series] = field(default_factory=dict, repr=False)

    @cached_property
    def withheld(self) -> Bools:
        """Rows that are not published."""
        return np.equal(self.group_of, WITHHELD)

    @cached_property
    def regions(self) -> Regions:
        """What the labels of each group stand for."""
        return self.labelled.group_regions()

    def before(self, name: str, places: Ints | None = None) -> pl.Series:
        """Return a column of some rows, or of all, as text."""
        values = self.rows[name].alias("")
        return as_text(values if places is None else values.gather(places))

    def after(self, name: str, places: Ints | None = None) -> pl.Series | None:
        """Return what is published in place of that; None for a column that is not published."""
        schema = self.release.schema
        groups = self.group_of if places is None else self.group_of[places]
        if name in schema.quasi:
            labels = self._labels(name)
            return labels.gather(np.where(groups == WITHHELD, len(labels) - 1, groups))
        if name in schema.weights and self.labelled.weights is not None:
            return self._shown_weights(groups, self.tuple_of if places is None else self.tuple_of[places])
        if name not in (*schema.sensitive, *schema.kept):
            return None
        text = self.before(name, places)
        return pl.select(pl.when(pl.Series(groups != WITHHELD)).then(text)).to_series()

    def _labels(self, name: str) -> pl.Series:
        """Return what each group shows in a column, written out once; and one label more, for rows in no group."""
        if name not in self._written:
            labels = _written(self.labelled.shown.written([name]))
            self._written[name] = pl.concat([labels, pl.Series([None], dtype=pl.String)])
        return self._written[name]

    def _shown_weights(self, groups: Ints, tuples: Ints) -> pl.Series:
        """Return the weights that are written: those of their class, not people's own."""
        weights = self.labelled.weights
        assert weights is not None
        published = groups != WITHHELD
        shown = np.full(len(groups), np.nan)
        shown[published] = weights.of(groups[published], tuples[published])
        return as_text(pl.Series(shown, nan_to_null=True))

    def changed(self, name: str, places: Ints | None = None) -> Bools:
        """Return which cells are published as something else, or not at all."""
        text = self.after(name, places)
        if text is None:
            return np.ones(len(self.group_of) if places is None else len(places), dtype=bool)
        return ~text.eq_missing(self.before(name, places)).to_numpy()

    @cached_property
    def changed_rows(self) -> Ints:
        """The places of rows whose quasi-identifiers are published as something else, or not at all."""
        quasi = [self.changed(name) for name in self.release.schema.quasi]
        return np.flatnonzero(np.logical_or.reduce(quasi)) if quasi else np.empty(0, dtype=np.int64)

    def chosen(self, show: str) -> Ints:
        """Return the places of all rows, of the changed ones, or of those that are withheld."""
        if show == "withheld":
            return np.flatnonzero(self.withheld)
        if show == "changed":
            return self.changed_rows
        return np.arange(len(self.group_of))

    def page(self, offset: int, limit: int, *, show: str = "all") -> dict[str, Any]:
        """Return some rows as plain values."""
        chosen = self.chosen(show)
        places, names = chosen[offset : offset + limit], self.rows.columns
        before = [self.before(name, places).to_list() for name in names]
        shown = [self.after(name, places) for name in names]
        after = [[None] * len(places) if text is None else text.to_list() for text in shown]
        changed = [self.changed(name, places).tolist() for name in names]
        sizes = self.labelled.group_sizes
        rows = [
            {
                "row": place,
                "before": [column[at] for column in before],
                "after": None if self.withheld[place] else [column[at] for column in after],
                "changed": [column[at] for column in changed],
                "withheld": bool(self.withheld[place]),
                "crowd": 0 if self.withheld[place] else int(sizes[self.group_of[place]]),
                "sure": bool(self.sure[place]),
            }
            for at, place in enumerate(places.tolist())
        ]
        return {"columns": list(names), "total": len(chosen), "offset": offset, "rows": rows}


def can_be_linked(release: Release) -> bool:
    """Whether it can be told which published row is whose: not of buckets, slices, noisy counts and sets of items."""
    decided, form = release.decided, release.shown.counted
    labelled = None if form is None else form.labelled
    return bool(
        decided is not None
        and labelled is not None
        and not release.shown.private
        and len(labelled.shown.group_of) == len(decided.tuples)
        and isinstance(release.source, OpenedTable)
        and not release.linked
        and not release.schema.changes  # rows are told apart by values that are no longer there
        and len(labelled.tally.columns) == len(release.schema.tallied)
    )


def rows_beside(release: Release) -> RowsBeside:
    """Read the rows of a release's table again, and find what is published of each.

    >>> import incrowd as ic
    >>> table = ic.read(ic.datasets.census(50), quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    >>> beside = rows_beside(ic.publish(table, ic.KAnonymity(5)))
    >>> len(beside.group_of), bool(beside.withheld.any())
    (50, False)
    """
    if not can_be_linked(release):
        raise QueryError("no published row of this release is anybody's own.  Hint: look at its rows by themselves.")
    labelled, decided, source = release.generalized, release.decided, release.source
    assert decided is not None
    assert isinstance(source, OpenedTable)
    schema = release.schema
    names = [name for name in source.columns if name not in schema.removed]
    with reading(source):
        rows = source.frame.select(cs.by_name(*names)).collect(engine="streaming")
    if rows.height > MOST_ROWS:
        raise QueryError(f"rows are shown one by one up to {MOST_ROWS:,} of them, and this table has more.")
    kinds, first = group_tuples(
        labelled.tally.codes, [labelled.tally.trees[name].size for name in labelled.tally.columns]
    )
    kind_of_row = _kinds(rows, labelled.tally, first, source)
    part = _dealt(kind_of_row, kinds, decided)
    if part is None:
        raise SourceChanged(source.description.get("path", "the table"))
    group_of = labelled.shown.group_of[part]
    sure = _sure(release, kinds, decided, labelled)[kind_of_row]
    return RowsBeside(release, labelled, rows, decided.tuples[part], group_of, sure)


def _written(frame: pl.DataFrame) -> pl.Series:
    """Return what groups show in one column as text; bounds, which are two columns, as one range."""
    columns = [as_text(frame[name].alias("")) for name in frame.columns]
    if len(columns) == 1:
        return columns[0]
    return pl.select(pl.concat_str([*columns], separator=" to ", ignore_nulls=True)).to_series()


def _kinds(rows: pl.DataFrame, tally: Tally, first: Ints, source: OpenedTable) -> Ints:
    """Return which distinct tuple of the tally each row is; -1 where it is none."""
    codes = np.stack([_codes(tally.trees[name], rows[name].alias(""), source) for name in tally.columns], axis=1)
    lookup = TupleLookup.of(tally.codes[first], [tally.trees[name].size for name in tally.columns])
    return np.where((codes >= 0).all(axis=1), lookup.places(np.maximum(codes, 0)), -1)


def _codes(tree: Tree, raw: pl.Series, source: OpenedTable) -> Codes:
    """Return the code of each value; texts are looked up once per distinct value, since that is slow."""
    values = raw.unique(maintain_order=True)
    known = exact_codes(tree, source.texts.read(values))
    numbered = pl.DataFrame({"value": values, "code": known})
    joined = pl.DataFrame({"value": raw}).join(
        numbered, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["code"].to_numpy()


def _dealt(kind_of_row: Ints, kinds: Ints, decided: Recoding) -> Ints | None:
    """Return the part of the recoding that each row takes; None where rows and counts do not agree."""
    number = int(kinds.max(initial=-1)) + 1
    kind_of_part = kinds[decided.tuples]
    rows_of_kind = np.bincount(kind_of_part, weights=decided.counts, minlength=number).astype(np.int64)
    if (kind_of_row < 0).any() or not np.array_equal(np.bincount(kind_of_row, minlength=number), rows_of_kind):
        return None
    order = np.argsort(kind_of_part, kind="stable")
    slots = np.repeat(order, decided.counts[order])
    part = np.empty(len(kind_of_row), dtype=np.int64)
    part[np.argsort(kind_of_row, kind="stable")] = slots
    return part


def _sure(release: Release, kinds: Ints, decided: Recoding, labelled: Labelled) -> Bools:
    """Return, kind by kind, whether all its rows are in one group, or nothing tells them apart but their place."""
    number = int(kinds.max(initial=-1)) + 1
    if release.people is None and not release.schema.found_again and release.schema.weight is None:
        return np.ones(number, dtype=bool)
    kind_of_part, groups = kinds[decided.tuples], labelled.shown.group_of
    lowest = np.full(number, np.iinfo(np.int64).max)
    highest = np.full(number, np.iinfo(np.int64).min)
    np.minimum.at(lowest, kind_of_part, groups)
    np.maximum.at(highest, kind_of_part, groups)
    same = np.asarray(lowest == highest)
    if release.schema.weight is None:
        return same
    # Rows of a kind that weigh different amounts may show another weight than the one that is beside them.
    return np.asarray(same & (np.bincount(kinds, minlength=number) == 1))


def columns_by_role(release: Release, columns: list[str]) -> Mapping[str, str]:
    """Return the role of each column that is shown, as recipes call them."""
    roles = release.roles
    found = {}
    for role, one in (("quasi", "quasi"), ("sensitive", "sensitive"), ("keep", "keep"), ("person", "person")):
        for name in roles.get(role, ()):
            found[name] = one
    return {name: found.get(name, "other") for name in columns}
