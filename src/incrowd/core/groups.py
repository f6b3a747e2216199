"""Who hides together: the sizes of groups and what their members' sensitive values are. Models look at nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role, option
from incrowd.core.schema import HIDDEN
from incrowd.core.tally import Tally
from incrowd.errors import NeedsTable, SchemaError
from incrowd.hierarchies.naming import Pieces
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.boxes_and_points import points_in_boxes
from incrowd.kernels.regions import bounds

WITHHELD = -1
"""The group of those who are in none."""
_PARTS = 2**20
"""Weights are added up as whole numbers of so many parts."""
_ROUNDING = 1e-5
"""Sums that are below a whole number by no more than what rounding them to parts may take."""


def _no_weights() -> NeedsTable:
    return NeedsTable(
        "there are no weights that tell how many people of the population a row stands for.  "
        f"Hint: name them when the table is read: {as_role('weight', 'w')}."
    )


def a_population() -> str:
    """Return how a table of the population is named."""
    return option("population", "register.csv", recipe='[population] with path = "register.csv"')


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each sensitive value occurs in each group, without the zeros.

    Group g has the entries `offsets[g]:offsets[g + 1]` of `values` (codes) and `counts` (all above 0).
    """

    offsets: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: Counts

    @cached_property
    def group_of(self) -> Ints:
        """Group of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """Number of different values in each group."""
        return np.diff(self.offsets)

    @cached_property
    def largest(self) -> Counts:
        """Count of the most frequent value in each group."""
        largest = np.zeros(len(self.offsets) - 1, dtype=np.int64)
        filled = self.distinct > 0
        if filled.any():
            largest[filled] = np.maximum.reduceat(self.counts, self.offsets[:-1][filled])
        return largest


def one_value_each(found: Histogram, sizes: Counts) -> Histogram:
    """Return counts in which each person is taken for one of their values, the frequent ones as often as can be.

    In a group of n people, the first value takes all who have it, the next as many as are left, and so on. However
    people are taken for one of their values each, its values are at least as spread, so a bound on this spread holds
    for all of these ways. Where everybody has one value, these are the counts themselves.
    """
    if int(found.counts.sum()) == int(sizes.sum()):
        return found
    order = np.lexsort((found.values, -found.counts, found.group_of))
    values, counts, group_of = found.values[order], found.counts[order], found.group_of
    summed = np.cumsum(counts)
    first = found.offsets[:-1][group_of]
    before = summed - counts - (summed[first] - counts[first])
    taken = np.clip(sizes[group_of] - before, 0, counts)
    kept = taken > 0
    lengths = np.bincount(group_of[kept], minlength=len(sizes))
    return Histogram(np.concatenate(([0], np.cumsum(lengths))), values[kept], taken[kept])


@dataclass(frozen=True, eq=False)
class Regions:
    """What the labels of each group may stand for: in `columns[j]`, the codes `lows[g, j]` to `highs[g, j] - 1`.

    While a method searches, these are the group's own values, since whatever it will show holds at least them.
    """

    columns: tuple[str, ...]
    lows: Codes
    highs: Codes

    def of(self, rows: NDArray[np.integer]) -> Regions:
        """Return the regions of some of the groups."""
        return Regions(self.columns, self.lows[rows], self.highs[rows])

    def mass(self, column: str, weights: NDArray[np.floating], groups: Ints) -> NDArray[np.float64]:
        """Return the sum of the weights of the codes that each of some groups may stand for."""
        place = self.columns.index(column)
        # Extended precision: the share of a rare value is a small difference of two large sums.
        before = np.concatenate(([0], np.cumsum(weights, dtype=np.longdouble)))
        return np.asarray(before[self.highs[groups, place]] - before[self.lows[groups, place]], dtype=np.float64)

    def mass_by_value(
        self, column: str, weights: NDArray[np.floating], groups: Ints, values: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """As `mass`, with weights of the codes (rows) that differ by sensitive value (columns)."""
        place = self.columns.index(column)
        before = np.zeros((len(weights) + 1, weights.shape[1]), dtype=np.longdouble)
        np.cumsum(weights, axis=0, dtype=np.longdouble, out=before[1:])
        lows, highs = self.lows[groups, place], self.highs[groups, place]
        return np.asarray(before[highs, values] - before[lows, values], dtype=np.float64)

    def means(self, column: str, groups: Ints, codes: Codes) -> NDArray[np.bool_]:
        """Tell of each pair of a group and a code within its run whether the group's label stands for the code."""
        return np.ones(len(groups), dtype=bool)


@dataclass(frozen=True, eq=False)
class LabelledRegions(Regions):
    """Regions that are read off labels, which may stand for any codes: `masks[j][label_of[g, j]]` in `columns[j]`."""

    label_of: NDArray[np.int64]
    masks: tuple[NDArray[np.bool_], ...]

    def mass(self, column: str, weights: NDArray[np.floating], groups: Ints) -> NDArray[np.float64]:
        """Return the sum of the weights of the codes that each of some groups may stand for."""
        place = self.columns.index(column)
        return np.asarray((self.masks[place] @ weights)[self.label_of[groups, place]], dtype=np.float64)

    def mass_by_value(
        self, column: str, weights: NDArray[np.floating], groups: Ints, values: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """As `mass`, with weights of the codes (rows) that differ by sensitive value (columns)."""
        place = self.columns.index(column)
        return np.asarray((self.masks[place] @ weights)[self.label_of[groups, place], values], dtype=np.float64)

    def means(self, column: str, groups: Ints, codes: Codes) -> NDArray[np.bool_]:
        """Tell of each pair of a group and a code within its run whether the group's label stands for the code."""
        place = self.columns.index(column)
        return np.asarray(self.masks[place][self.label_of[groups, place], codes])

    def of(self, rows: NDArray[np.integer]) -> LabelledRegions:
        """Return the regions of some of the groups."""
        return replace(self, lows=self.lows[rows], highs=self.highs[rows], label_of=self.label_of[rows])


@dataclass(frozen=True, eq=False)
class TornRegions(Regions):
    """Regions of labels that leave out codes between the first and the last, in some columns.

    There, group g stands for the runs of label `torn[name][0][g]` of `torn[name][1]`.
    """

    torn: Mapping[str, tuple[Ints, Pieces]]

    def mass(self, column: str, weights: NDArray[np.floating], groups: Ints) -> NDArray[np.float64]:
        """Return the sum of the weights of the codes that each of some groups may stand for."""
        if column not in self.torn:
            return super().mass(column, weights, groups)
        label_of, pieces = self.torn[column]
        before = np.concatenate(([0], np.cumsum(weights, dtype=np.longdouble)))
        of_pieces = np.concatenate(([0], np.cumsum(before[pieces.highs] - before[pieces.lows])))
        by_label = of_pieces[pieces.offsets[1:]] - of_pieces[pieces.offsets[:-1]]
        return np.asarray(by_label[label_of[groups]], dtype=np.float64)

    def mass_by_value(
        self, column: str, weights: NDArray[np.floating], groups: Ints, values: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """As `mass`, with weights of the codes (rows) that differ by sensitive value (columns)."""
        if column not in self.torn:
            return super().mass_by_value(column, weights, groups, values)
        label_of, pieces = self.torn[column]
        before = np.zeros((len(weights) + 1, weights.shape[1]), dtype=np.longdouble)
        np.cumsum(weights, axis=0, dtype=np.longdouble, out=before[1:])
        by_label = np.add.reduceat(before[pieces.highs] - before[pieces.lows], pieces.offsets[:-1], axis=0)
        return np.asarray(by_label[label_of[groups], values], dtype=np.float64)

    def means(self, column: str, groups: Ints, codes: Codes) -> NDArray[np.bool_]:
        """Tell of each pair of a group and a code within its run whether the group's label stands for the code."""
        if column not in self.torn:
            return np.ones(len(groups), dtype=bool)
        label_of, pieces = self.torn[column]
        size = int(pieces.highs.max(initial=0)) + 1
        label_of_piece = np.repeat(np.arange(len(pieces.offsets) - 1), np.diff(pieces.offsets))
        labels = label_of[groups]
        last = np.searchsorted(label_of_piece * size + pieces.lows, labels * size + codes, side="right") - 1
        return np.asarray((last >= pieces.offsets[labels]) & (codes < pieces.highs[last]))

    def of(self, rows: NDArray[np.integer]) -> TornRegions:
        """Return the regions of some of the groups."""
        torn = {name: (label_of[rows], pieces) for name, (label_of, pieces) in self.torn.items()}
        return replace(self, lows=self.lows[rows], highs=self.highs[rows], torn=torn)


def own_regions(columns: tuple[str, ...], codes: Codes, group_of: Ints, groups: int) -> Regions:
    """Return the smallest regions that hold the codes of each group's tuples."""
    return Regions(columns, *bounds(codes, np.arange(len(codes)), group_of, groups))


@dataclass(frozen=True, eq=False)
class Groups:
    """Sizes of groups, and a histogram of each sensitive column over them.

    `whole[name]` counts the rows of the whole table by the column's codes, withheld ones included; where it is not
    given, the groups are the whole table. `trees` are the sensitive columns' hierarchies, for distances between values.
    Where people have several rows, people are counted: sizes are people, and a histogram's entries are the people of
    the group who have the value, so that somebody with three values is in three of them. The missing value is counted
    only of those who have no other.
    `joint` counts the combinations of all sensitive columns together, each by any number of its own. `table` is the
    tally that the groups are made of, and `regions` what their labels stand for, for models that know more than sizes.
    """

    sizes: Counts
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    whole: Mapping[str, Counts] = field(default_factory=dict)
    trees: Mapping[str, Tree] = field(default_factory=dict)
    joint: Callable[[], Histogram] | None = None
    table: Tally | None = None
    regions: Callable[[], Regions] | None = None
    everybody: int | None = None
    """People of the whole table, where some have several values, so that their number is not that of the values."""

    def __post_init__(self) -> None:
        if not any(tree.sets is not None for tree in self.trees.values()):
            return
        object.__setattr__(self, "sensitive", _of_single_values(self.sensitive, self.trees))
        if self.everybody is None and self.table is not None:
            object.__setattr__(self, "everybody", (self.table.drawn_from or self.table).rows)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive columns: what must not be learnt of anybody. Households are none of it."""
        return tuple(name for name in self.sensitive if name not in HIDDEN)

    def several_values(self, name: str) -> bool:
        """Whether somebody has several values in a column."""
        return int(self.sensitive[name].counts.sum()) > int(self.sizes.sum())

    def recorded(self, name: str) -> Groups:
        """Return the same groups without the people whose value in a column is missing, for models that ignore these.

        They are left out of sizes, histogram and whole table alike. Where nobody of a group has a value, nothing tells
        how many different ones they have: the missing value stays, as one that all of them share.
        """
        if name not in self._recorded:
            self._recorded[name] = self._without_missing(name)
        found = self._recorded[name]
        return self if found is None else found

    @cached_property
    def _recorded(self) -> dict[str, Groups | None]:
        """None where nobody is left out: groups that hold themselves would not be let go at once."""
        return {}

    def _without_missing(self, name: str) -> Groups | None:
        found = self.sensitive[name]
        whole = self.whole.get(name)
        missing = found.values == MISSING
        if not missing.any() and (whole is None or not whole[:1].any()):
            return None
        nobody = np.zeros(len(self), dtype=np.int64)
        np.add.at(nobody, found.group_of[missing], found.counts[missing])
        kept = ~missing | (nobody == self.sizes)[found.group_of]
        if whole is None:
            whole = np.bincount(found.values, weights=found.counts, minlength=1).astype(np.int64)
        everybody = self.everybody
        if whole[MISSING + 1 :].any():
            everybody = None if everybody is None else everybody - int(whole[MISSING])
            whole = whole.copy()
            whole[MISSING] = 0
        lengths = np.bincount(found.group_of[kept], minlength=len(self))
        entries = Histogram(np.concatenate(([0], np.cumsum(lengths))), found.values[kept], found.counts[kept])
        sizes = np.where(nobody == self.sizes, self.sizes, self.sizes - nobody)
        return replace(self, sizes=sizes, sensitive={name: entries}, whole={name: whole}, everybody=everybody)

    def shares(self, name: str) -> NDArray[np.float64]:
        """Return the share of the whole table's rows, or people, that have each value, by code."""
        if name in self.whole:
            counts = self.whole[name].astype(np.float64)
        else:
            entries = self.sensitive[name]
            counts = np.bincount(entries.values, weights=entries.counts).astype(np.float64)
        total = counts.sum() if self.everybody is None else self.everybody
        return counts / total if total else counts

    @cached_property
    def population(self) -> Counts:
        """How many people of the population each group's labels may stand for."""
        if self.table is None or self.table.population is None or self.regions is None:
            raise NeedsTable(
                "there is no population to compare the table with.  "
                f"Hint: name one when the table is read: {a_population()}."
            )
        people = self.table.population
        if people.by_weight is not None:  # rounded down: nobody is half a person
            return np.floor(self.estimated_population[1] + _ROUNDING).astype(np.int64)
        lows, highs = _bounds_in(self.regions(), people.columns)
        return np.asarray(points_in_boxes(lows, highs, people.codes, people.counts), dtype=np.int64)

    @property
    def population_is_estimated(self) -> bool:
        """Whether weights alone tell of the population."""
        return self.table is not None and _by_weight(self.table) is not None

    @property
    def people_by_weight(self) -> tuple[int, float]:
        """How many people are in the table, and how many in the population, by their weights."""
        found = None if self.table is None else _by_weight(self.table)
        if found is None:
            raise _no_weights()
        sampled, people = int(found[0].sum()), float(found[1].sum())
        if people < sampled:
            raise SchemaError(
                "the weights add up to fewer people than the table has, so that they do not tell how large the "
                "population is.  Hint: scale them so that they add up to the number of people in the population."
            )
        return sampled, people

    @cached_property
    def estimated_population(self) -> tuple[Counts, Floats]:
        """How many people of the table each group's labels hold for, and the sum of their weights.

        The latter estimates how many people of the population the labels hold for.
        """
        found = None if self.table is None else _by_weight(self.table)
        if found is None or self.table is None or self.table.population is None or self.regions is None:
            raise _no_weights()
        _ = self.people_by_weight  # which refuses weights that tell of no population
        sampled, weights = found
        people = self.table.population
        lows, highs = _bounds_in(self.regions(), people.columns)
        # Whole numbers of small parts: sums are then exact, whatever their order.
        parts = _PARTS if float(weights.sum()) < 2**40 else 1
        sums = points_in_boxes(lows, highs, people.codes, np.rint(weights * parts).astype(np.int64)) / parts
        return points_in_boxes(lows, highs, people.codes, sampled), np.asarray(sums, dtype=np.float64)


def _bounds_in(regions: Regions, columns: tuple[str, ...]) -> tuple[Codes, Codes]:
    order = [regions.columns.index(name) for name in columns]
    return np.ascontiguousarray(regions.lows[:, order]), np.ascontiguousarray(regions.highs[:, order])


def _by_weight(table: Tally) -> tuple[Counts, Floats] | None:
    return None if table.population is None else table.population.by_weight


class LazyHistograms(Mapping[str, Histogram]):
    """Histograms that are counted when a model first asks for one: k-anonymity alone never does."""

    def __init__(self, names: tuple[str, ...], count: Callable[[str], Histogram]) -> None:
        self._names = names
        self._count = count
        self._counted: dict[str, Histogram] = {}

    def __getitem__(self, name: str) -> Histogram:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._counted:
            self._counted[name] = self._count(name)
        return self._counted[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _of_single_values(found: Mapping[str, Histogram], trees: Mapping[str, Tree]) -> Mapping[str, Histogram]:
    """Count single values where histograms count sets of them."""

    def count(name: str) -> Histogram:
        entries, tree = found[name], trees[name]
        if tree.sets is None or (entries.values < tree.leaves).all():
            return entries
        place, values = tree.sets.unfold(entries.values, tree.leaves)
        return histogram(entries.group_of[place], values, entries.counts[place], len(entries.offsets) - 1)

    return LazyHistograms(tuple(found), count)


def histogram(group_of: Ints, codes: NDArray[np.int32], counts: Counts, groups: int) -> Histogram:
    """Count values per group; `group_of`, `codes` and `counts` are aligned, one entry per tuple."""
    from incrowd.kernels.histograms import count_values

    return Histogram(*count_values(group_of, codes, counts, groups))
