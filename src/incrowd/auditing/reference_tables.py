"""Tables that are brought to an audit, in the codes of the release's own trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Codes, Counts, Floats
from incrowd.common.records import dataclass
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.core.tally import Population, Tally, group_tuples
from incrowd.core.weights import read_weights
from incrowd.errors import SchemaError, UncoveredValue
from incrowd.hierarchies.coding import as_held, code_values, exact_codes
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text
from incrowd.sources import open_table, reading

_COUNT = "\0count"


@dataclass(frozen=True, eq=False)
class OutsidePeople:
    """People of an external table, by distinct rows: what they have in the quasi-identifiers, and how many they are.

    `unlisted` are the values that the release's trees lack, as these would hold them.
    """

    columns: tuple[str, ...]
    rows: pl.DataFrame
    counts: Counts
    unlisted: Mapping[str, pl.Series]

    def population(self, trees: Mapping[str, Tree]) -> tuple[Population, int]:
        """Return the people by the codes of some trees, and how many have values that no tree could hold.

        Such a value, a word in a column of numbers, is -1; so is one that the trees lack.
        """
        codes = np.stack([exact_codes(trees[name], self.rows[name]) for name in self.columns], axis=1)
        index, first = group_tuples(codes + 1, [trees[name].size + 1 for name in self.columns])
        totals = np.bincount(index, weights=self.counts, minlength=len(first)).astype(np.int64)
        strangers = int(self.counts[(codes < 0).any(axis=1)].sum())
        return Population(self.columns, codes.take(first, axis=0), totals), strangers


def read_people(source: object, columns: Sequence[str], trees: Mapping[str, Tree]) -> OutsidePeople:
    """Read an external table in those of the quasi-identifiers that it has, of which it needs at least one."""
    opened = open_table(source, ReadOptions(lists=None))
    known = tuple(name for name in sorted(columns) if name in opened.columns)
    if not known:
        raise SchemaError(
            f"the external table has none of the quasi-identifiers ({', '.join(sorted(columns))}).  "
            "Hint: name its columns as those of the release."
        )
    with reading(opened):
        counted = opened.frame.group_by(cs.by_name(*known)).agg(pl.len().alias(_COUNT)).collect(engine="streaming")
    rows = counted.with_columns([opened.texts.read(counted[name]) for name in known])
    unlisted = {}
    for name in known:
        missing = rows[name].alias("").filter(pl.Series(exact_codes(trees[name], rows[name]) < 0)).unique()
        held = as_held(trees[name], missing).drop_nulls()
        if len(held):
            unlisted[name] = held.unique().sort()
    return OutsidePeople(known, rows, rows[_COUNT].to_numpy().astype(np.int64), unlisted)


def read_truth(source: object, columns: Sequence[str], trees: Mapping[str, Tree], also: Sequence[str] = ()) -> Tally:
    """Read the table before, all of whose columns and values the release's trees must know.

    Columns that are named in `also` are read where the table has them and the trees know all their values.
    """
    return _truth(open_table(source, ReadOptions(lists=None)), columns, trees, also)


def read_weighted_truth(
    source: object, columns: Sequence[str], trees: Mapping[str, Tree], also: Sequence[str], weight: str | None
) -> tuple[Tally, Floats | None]:
    """Read the same, and what the rows of each tuple weigh together, where the table has the column `weight`."""
    opened = open_table(source, ReadOptions(lists=None))
    truth = _truth(opened, columns, trees, also)
    if weight is None or weight not in opened.columns:
        return truth, None
    names = truth.columns
    with reading(opened):
        by_weight = cs.by_name(*names, weight)
        counted = opened.frame.group_by(by_weight).agg(pl.len().alias(_COUNT)).collect(engine="streaming")
    weights = read_weights(weight, counted[weight], opened.texts)
    codes = np.stack([code_values(trees[name], counted[name]) for name in names], axis=1)
    index, first = group_tuples(codes, [trees[name].size for name in names])
    assert len(first) == len(truth)
    totals = np.bincount(index, weights=weights * counted[_COUNT].to_numpy(), minlength=len(first))
    return truth, totals.astype(np.float64)


def _truth(opened: OpenedTable, columns: Sequence[str], trees: Mapping[str, Tree], also: Sequence[str]) -> Tally:
    names = tuple(sorted({*columns, *(name for name in also if name in opened.columns)}))
    for name in names:
        if name not in opened.columns:
            raise SchemaError(f"the original lacks the column '{name}'.")
    codes, counts = _coded(opened, names, trees, strict=columns)
    # Another release may know a column without knowing all of its values here.
    covered = np.asarray((codes >= 0).all(axis=0))
    names = tuple(name for name, known in zip(names, covered, strict=True) if known)
    kept, totals = _distinct(codes[:, covered], counts, names, trees)
    return Tally(names, kept, totals, trees)


def _coded(
    opened: OpenedTable, names: Sequence[str], trees: Mapping[str, Tree], *, strict: Sequence[str]
) -> tuple[Codes, Counts]:
    with reading(opened):
        counted = opened.frame.group_by(cs.by_name(*names)).agg(pl.len().alias(_COUNT)).collect(engine="streaming")
    codes = np.empty((counted.height, len(names)), dtype=np.int32)
    for place, name in enumerate(names):
        codes[:, place] = code_values(trees[name], counted[name])
        unknown = codes[:, place] < 0
        if name in strict and unknown.any():
            values = as_text(counted[name].alias("").filter(pl.Series(unknown)).unique().sort()).to_list()
            raise UncoveredValue(name, values[:5], len(values))
    return codes, counted[_COUNT].to_numpy().astype(np.int64)


def _distinct(codes: Codes, counts: Counts, names: Sequence[str], trees: Mapping[str, Tree]) -> tuple[Codes, Counts]:
    index, first = group_tuples(codes, [trees[name].size for name in names])
    totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
    return codes.take(first, axis=0), totals
