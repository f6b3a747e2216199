"""The table as counts of distinct coded tuples: all that methods and models ever see."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints, side_by_side
from incrowd.common.records import dataclass
from incrowd.common.taking import take_rows
from incrowd.common.threads import do_together
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.texts import AS_THEY_LOOK, TextRules
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.keys import pack_codes, rank_keys


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody whom a row could be: distinct tuples of the quasi-identifiers, and how many people have each.

    Codes are those of the table's own trees, which hold the population's values too.
    """

    columns: tuple[str, ...]
    codes: Codes
    counts: Counts
    by_weight: tuple[Counts, Floats] | None = None
    """Where nobody counted the population and weights tell of it: how many people of the table have each tuple, and
    the sum of their weights, which `counts` are rounded down from."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Distinct tuples of coded values and how many rows have each.

    `codes[i, j]` is the code of tuple i in `columns[j]`, a leaf of `trees[columns[j]]`. Tuples are sorted by the codes
    of their columns in the order of the columns' names: neither the rows' order nor the columns' order leaves a trace.
    `rate` is the probability with which a row of the table was counted, where the tally is that of a sample, and
    `drawn_from` the tally of all rows.
    """

    columns: tuple[str, ...]
    codes: Codes
    counts: Counts
    trees: Mapping[str, Tree]
    rate: Fraction = Fraction(1)
    population: Population | None = None
    drawn_from: Tally | None = None

    @property
    def rows(self) -> int:
        """Number of rows that were counted."""
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.counts)

    def column(self, name: str) -> Codes:
        """Return one column's codes."""
        codes: Codes = self.codes[:, self.columns.index(name)]
        return codes

    def codes_of(self, names: Sequence[str]) -> Codes:
        """Return the codes of some columns side by side; of none, as many rows without any."""
        return self.codes.take([self.columns.index(name) for name in names], axis=1)

    def project(self, columns: Sequence[str]) -> tuple[Tally, NDArray[np.int64]]:
        """Return the tally of some columns alone, and for each tuple its place in it."""
        names = tuple(sorted(columns))
        codes = self.codes_of(names)
        index, first = group_tuples(codes, [self.trees[name].size for name in names])
        counts = np.bincount(index, weights=self.counts, minlength=len(first)).astype(np.int64)
        return replace(self, columns=names, codes=codes.take(first, axis=0), counts=counts), index

    def joint_codes(self, names: Sequence[str]) -> Codes:
        """Number the combinations of some columns; return each tuple's number."""
        codes = self.codes_of(names)
        return group_tuples(codes, [self.trees[name].size for name in names])[0].astype(np.int32)

    def single_values(self, name: str) -> tuple[Ints, Codes]:
        """Return the values of a column with the tuples that have them: one each, unless people have several."""
        tree, codes = self.trees[name], self.column(name)
        return (np.arange(len(codes)), codes) if tree.sets is None else tree.sets.unfold(codes, tree.leaves)

    def value_counts(self, name: str) -> Counts:
        """Return how many rows have each value of a column."""
        if name not in self._value_counts:
            place, codes = self.single_values(name)
            counts = np.bincount(codes, weights=self.counts[place], minlength=self.trees[name].leaves)
            self._value_counts[name] = counts.astype(np.int64)
            self._value_counts[name].setflags(write=False)  # shared by all who ask
        return self._value_counts[name]

    def table_counts(self, name: str) -> Counts:
        """Return the same of the whole table, where this is a sample of it: what is known of everybody."""
        return (self.drawn_from or self).value_counts(name)

    @cached_property
    def _value_counts(self) -> dict[str, Counts]:
        return {}

    def has_missing(self, name: str) -> bool:
        """Whether any row misses a value in the column."""
        return bool((self.column(name) == 0).any())


def code_table(
    distinct: pl.DataFrame,
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    *,
    people: pl.DataFrame | None = None,
    people_counts: Counts | None = None,
    texts: TextRules = AS_THEY_LOOK,
) -> tuple[Tally, NDArray[np.int64]]:
    """Code a table of distinct raw tuples; return the tally and, for each raw tuple, its place in it.

    Two raw tuples may be one: the texts `39` and `39.0` are the same number, and `texts` says which others are one
    value. `people` are the distinct tuples of a population that the rows were drawn from, in some of the table's
    columns.
    """
    columns = tuple(sorted(hierarchies))
    known = () if people is None else tuple(name for name in columns if name in people.columns)

    def code(name: str) -> tuple[Tree, Codes]:
        raw = distinct[name].alias("")  # without its name, since Polars takes "*" and "^a.*$" for patterns
        if people is not None and name in known:
            raw = raw.cast(pl.String) if raw.dtype == pl.Enum else raw
            raw = pl.concat([raw, people[name].alias("")])
        return code_column(name, raw, hierarchies[name], texts)

    rows = len(counts)  # a frame without columns has no height
    coded = do_together([partial(code, name) for name in columns], steps=rows * len(columns))
    # Each in memory of its own until now: threads that write into the same lines of it wait for each other.
    codes = side_by_side([column[:rows] for _, column in coded], rows)
    trees = {name: tree for name, (tree, _) in zip(columns, coded, strict=True)}
    population = None
    if people is not None and people_counts is not None:
        theirs = [column[rows:] for name, (_, column) in zip(columns, coded, strict=True) if name in known]
        people_codes = side_by_side(theirs, people.height)
        index, first = group_tuples(people_codes, [trees[name].size for name in known])
        totals = np.bincount(index, weights=people_counts, minlength=len(first)).astype(np.int64)
        population = Population(known, people_codes.take(first, axis=0), totals)
    index, first = group_tuples(codes, [trees[name].size for name in columns])
    totals = np.bincount(index, weights=counts, minlength=len(first)).astype(np.int64)
    return Tally(columns, take_rows(codes, first), totals, trees, population=population), index


_FEW = 500
"""So few texts are looked up one by one in less time than Polars takes for an Enum of them."""


def code_column(name: str, raw: pl.Series, hierarchy: Hierarchy, texts: TextRules) -> tuple[Tree, Codes]:
    """Build a column's tree and code its values; text is parsed once per distinct value, since that is slow.

    Text may be an Enum whose categories are all there.
    """
    if raw.dtype not in (pl.String, pl.Enum):
        return hierarchy.build(name, raw)
    if len(raw) <= _FEW and raw.dtype == pl.String:
        place_of = {text: place for place, text in enumerate(dict.fromkeys(raw.to_list()))}
        tree, value_codes = hierarchy.build(name, texts.read(pl.Series("", list(place_of), dtype=pl.String)))
        return tree, value_codes[[place_of[text] for text in raw.to_list()]]
    if isinstance(raw.dtype, pl.Enum):
        missing = pl.Series([None] if raw.has_nulls() else [], dtype=pl.String)
        values = pl.concat([raw.dtype.categories.alias(""), missing])
    else:
        values = raw.unique()
    tree, value_codes = hierarchy.build(name, texts.read(values))
    # Polars numbers the values of an Enum in the order given, which is faster than a join.
    known = values.is_not_null() if values.has_nulls() else None
    numbered = raw if raw.dtype == pl.Enum else raw.cast(pl.Enum(values if known is None else values.filter(known)))
    place = numbered.to_physical().cast(pl.Int64)
    if known is None:
        return tree, value_codes.take(place.to_numpy())  # which lets other threads run
    codes = np.append(value_codes[known.to_numpy()], np.int32(MISSING))  # -1 is the last
    return tree, codes.take(place.fill_null(-1).to_numpy())


_WORTH_A_LOOP = 1 << 14
"""So many tuples are packed by a compiled loop, which reads each of them once."""


def group_tuples(codes: Codes, sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows of `codes` in sorted order; return each row's number and one row of each kind.

    `sizes[j]` bounds the codes of column j.
    """
    if codes.flags.c_contiguous and codes.dtype == np.int32 and codes.shape[0] >= _WORTH_A_LOOP:
        room = math.prod(max(size, 1) for size in sizes)
        if room <= _most_keys(codes.shape[0]):
            return rank_keys(pack_codes(codes, np.maximum(np.array(sizes, dtype=np.int64), 1)), room)
    return group_columns([codes[:, place] for place in range(len(sizes))], sizes, codes.shape[0])


def group_columns(
    columns: Sequence[NDArray[np.integer]], sizes: Sequence[int], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Do the same of columns of their own.

    They are packed into one key while it fits, together with a row's number, 63 bits; then the key so far is renumbered
    to as few values as there are distinct ones. Where each row has one of its own, all other columns change nothing.
    """
    key, room, most = np.zeros(rows, dtype=np.int64), 1, _most_keys(rows)
    for column, size in zip(columns, sizes, strict=True):
        if room * max(size, 1) > most and room > 1:
            key, first = rank_keys(key, room)
            room = len(first)
            if room == rows:
                return key, first
        key = key * max(size, 1) + column
        room *= max(size, 1)
    return rank_keys(key, room)


def _most_keys(rows: int) -> int:
    """Return how many keys there may be, so that a key and a row's number fit 62 bits together."""
    return int(2 ** (62 - max(rows - 1, 0).bit_length()))
