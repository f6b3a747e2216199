"""What all releases of the same people tell together, and whether the models that one of them requires still hold.

The adversary has every release, and knows of everybody in which of the tables they are, which of the groups or buckets
are theirs, and whose sensitive value changed from one release to another (whoever changes is another person from then
on). The values themselves are not known to this adversary.

- *Releases whose rows can be followed* (the same pseudonym, or a column that both publish as it is) are joined row by
  row, so that they are one release, whose groups are the combinations of their groups. This is exact. Models of sizes,
  such as k-anonymity, are judged there.
- *All others* are compared by counting. People with the same groups in all releases are a class. A value that one of
  its groups lacks is ruled out. Then counts are added and subtracted, again and again: what the others of a group
  must have, somebody who left does not have. Each conclusion is true; conclusions that need several groups at once, and
  cannot be drawn step by step, are not drawn. How likely the values are that remain is the most even estimate that
  agrees with all published counts, as far as a fixed number of sweeps over the releases, in their order, comes to it.
  Models of values are judged by that.

Cost: a sort of all people's groups, and some passes over the pairs of a class and a possible value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups, Histogram, histogram
from incrowd.core.model import Model
from incrowd.core.people_memory import Placement
from incrowd.core.tally import group_tuples
from incrowd.errors import NeedsTable, SchemaError
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text, code_among
from incrowd.kernels.keys import rank_keys
from incrowd.kernels.releases_together import bounds_of_cells, cells_of_classes, likeliest_counts

ROUNDS, SWEEPS, CLOSE = 40, 60, 1e-6
_PARTS = 2**20
"""Shares are handed to models as whole numbers of so many parts."""
_ALIKE = 1e-5
"""Shares that differ by less are taken to be the same."""
NOBODY = -1


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column of the table that is to be published: its tree, and how often each value occurs."""

    tree: Tree
    counts: Counts


@dataclass(frozen=True, eq=False)
class Verdict:
    """Of whom too much is told by all releases together, by their hashes, and which groups of the new one do it."""

    affected: Ints
    groups: Ints
    """Groups of the new release without which nobody would be affected, as far as single groups tell."""
    by_model: Mapping[str, int] = field(default_factory=dict)
    """How many people each model fails for."""
    not_judged: tuple[str, ...] = ()
    """Models that speak of one release only, and are not judged over several."""

    @property
    def safe(self) -> bool:
        """Whether the models hold for everybody."""
        return not len(self.affected)


def judge_together(
    earlier: Sequence[Placement], new: Placement, models: Sequence[Model], columns: Mapping[str, SensitiveColumn]
) -> Verdict:
    """Judge a release together with all that were recorded before it."""
    releases = [*earlier, new]
    people, place = _number_people(releases)
    sets = _followed(releases)
    joined = [_joined([releases[at] for at in found], [place[at] for at in found], len(people)) for found in sets]
    (own,) = (at for at, found in enumerate(sets) if len(releases) - 1 in found)
    in_new = np.zeros(len(people), dtype=bool)
    in_new[place[-1]] = True
    before = _without_new(releases, place, sets, len(people))
    looked_at = [_Column.of(name, column, joined, own, before) for name, column in columns.items()]
    failing = {str(model): np.zeros(len(people), dtype=bool) for model in models}
    not_judged = []
    for model in models:
        try:
            if model.needs_table or model.over_matches or model.covers_all_columns or model.counts_households:
                raise NeedsTable("it speaks of one release")
            if not model.looks_at_values:
                failing[str(model)] |= _failing_by_size(model, joined[own], len(people))
                continue
            for column in looked_at:
                if model.column in (None, column.name):
                    failing[str(model)] |= column.failing(model, in_new)
        except (NeedsTable, SchemaError):
            not_judged.append(str(model))
    together = np.zeros(len(people), dtype=bool)
    for found in failing.values():
        together |= found
    counts = {name: int(found.sum()) for name, found in failing.items() if found.any()}
    return Verdict(people[together], _groups_to_withhold(releases, place, together), counts, tuple(not_judged))


def _number_people(releases: Sequence[Placement]) -> tuple[Ints, list[Ints]]:
    """Number everybody of all releases; return their hashes, and each release's people by number."""
    people, inverse = np.unique(np.concatenate([one.people for one in releases]), return_inverse=True)
    return people, np.split(inverse, np.cumsum([len(one) for one in releases])[:-1])


def _followed(releases: Sequence[Placement]) -> list[list[int]]:
    """Return the releases in sets whose rows can be followed from one to another."""
    sets: list[tuple[list[int], set[str]]] = []
    for at, release in enumerate(releases):
        links = set(release.links)
        linked = [one for one in sets if one[1] & links]
        sets = [one for one in sets if not one[1] & links]
        sets.append(
            (sorted([at, *(each for one in linked for each in one[0])]), links.union(*(one[1] for one in linked)))
        )
    return sorted(found for found, _ in sets)  # in the order of their first releases


@dataclass(frozen=True, eq=False)
class _Joined:
    """Releases as one: person `people[i]` is in group `groups[i]`, a combination of the groups of all of them."""

    releases: tuple[Placement, ...]
    people: Ints
    groups: Ints
    number: int
    group_of: Ints
    """The group of each person of all, by number, or `NOBODY`."""
    place: tuple[Ints, ...]

    def owned(self, name: str) -> Iterator[tuple[Placement, Ints]]:
        """Yield the releases that show a column, with their people."""
        for release, place in zip(self.releases, self.place, strict=True):
            if name in release.values:
                yield release, place


def _joined(releases: Sequence[Placement], place: Sequence[Ints], everybody: int) -> _Joined:
    codes = np.zeros((everybody, len(releases)), dtype=np.int32)
    for at, (release, who) in enumerate(zip(releases, place, strict=True)):
        codes[who, at] = release.groups + 1
    there = np.flatnonzero(codes.any(axis=1))
    if len(releases) == 1:
        groups, number = codes[there, 0].astype(np.int64) - 1, int(releases[0].groups.max(initial=-1)) + 1
    else:
        sizes = [int(release.groups.max(initial=-1)) + 2 for release in releases]
        groups, first = group_tuples(codes[there], sizes)
        number = len(first)
    group_of = np.full(everybody, NOBODY, dtype=np.int64)
    group_of[there] = groups
    return _Joined(tuple(releases), there, groups, number, group_of, tuple(place))


def _without_new(
    releases: Sequence[Placement], place: Sequence[Ints], sets: Sequence[Sequence[int]], everybody: int
) -> list[_Joined]:
    left = [[at for at in found if at < len(releases) - 1] for found in sets]
    return [_joined([releases[at] for at in found], [place[at] for at in found], everybody) for found in left if found]


def _failing_by_size(model: Model, own: _Joined, everybody: int) -> Bools:
    """Return for whom a model of sizes fails among the rows that can be followed into the new release."""
    failing = np.zeros(everybody, dtype=bool)
    if len(own.releases) > 1:
        satisfied = model.satisfied(Groups(np.bincount(own.groups, minlength=own.number).astype(np.int64)))
        failing[own.people] = ~satisfied[own.groups]
    return failing


@dataclass(frozen=True, eq=False)
class _Column:
    """What all releases tell of a sensitive column, and what those told that were recorded before the new one."""

    name: str
    coded: _Coded
    own: _Joined
    units: _Units | None
    units_before: _Units | None

    @classmethod
    def of(
        cls, name: str, column: SensitiveColumn, joined: Sequence[_Joined], own: int, before: Sequence[_Joined]
    ) -> _Column:
        coded = _Coded.of(name, column, joined)
        units = _Units.of(name, joined, coded, joined[own], fewest=2)  # a single one is judged by itself
        return cls(name, coded, joined[own], units, None if units is None else _Units.of(name, before, coded, None))

    def failing(self, model: Model, in_new: Bools) -> Bools:
        """Return for whom a model fails: of the new release, or by what it adds to the others."""
        failing = np.zeros(len(in_new), dtype=bool)
        if len(self.own.releases) > 1:
            for groups, people in self.coded.as_followed(self.own):
                failing[people] |= ~model.satisfied(groups)[self.own.group_of[people]]
        if self.units is None:
            return failing
        now = self.units.failing(model, self.coded, in_new)
        if self.units_before is not None and (now & ~in_new).any():
            nobody = np.zeros(len(in_new), dtype=bool)
            now &= in_new | ~self.units_before.failing(model, self.coded, nobody)
        return failing | now


@dataclass(frozen=True, eq=False)
class _Coded:
    """The values of a column in all releases, in the codes of one tree; those that it lacks come behind them."""

    name: str
    column: SensitiveColumn
    size: int
    code_of: Mapping[int, Codes]
    """The code of each value of a placement, by the placement's identity."""

    @classmethod
    def of(cls, name: str, column: SensitiveColumn, joined: Sequence[_Joined]) -> _Coded:
        known = as_text(column.tree.values.slice(1, column.tree.leaves - 1))
        tables = {id(one): one.values[name].names for each in joined for one in each.releases if name in one.values}
        told = pl.Series([text for names in tables.values() for text in names if text is not None], dtype=pl.String)
        more = told.filter(~told.is_in(known.implode())).unique().sort() if len(told) else told
        spelt = pl.concat([known, more])
        return cls(
            name,
            column,
            1 + len(spelt),
            {key: code_among(pl.Series(names, dtype=pl.String), spelt) for key, names in tables.items()},
        )

    @property
    def tree(self) -> Tree:
        """The tree, for people who are counted by single values."""
        return replace(self.column.tree, sets=None)

    @property
    def whole(self) -> Counts:
        """How often each value occurs in the table."""
        found = np.zeros(self.size, dtype=np.int64)
        known = self.column.counts[: self.column.tree.leaves]
        found[: len(known)] = known
        return found

    def pairs(self, release: Placement, place: Ints) -> Ints:
        """Return the people of a release with their values, each pair as one number."""
        found = release.values[self.name]
        return np.asarray(place[found.owner] * self.size + self.code_of[id(release)][found.codes])

    def groups(self, sizes: Counts, found: Histogram) -> Groups:
        """Return groups for a model to judge."""
        return Groups(sizes, {self.name: found}, {self.name: self.whole}, {self.name: self.tree})

    def as_followed(self, own: _Joined) -> Iterator[tuple[Groups, Ints]]:
        """Yield the groups of followed rows with the values that one of the releases shows of them."""
        for release, place in own.owned(self.name):
            values = release.values[self.name]
            groups = own.group_of[place]
            code = self.code_of[id(release)][values.codes]
            ones = np.ones(len(values.owner), dtype=np.int64)
            found = histogram(groups[values.owner], code, ones, own.number)
            sizes = np.bincount(groups, minlength=own.number).astype(np.int64)
            # Nobody of the other groups is in this release: they are not judged by it.
            yield self.groups(sizes, found), place


@dataclass(frozen=True, eq=False)
class _Told:
    """What a release shows of a column: how often each value is in each group, and how many of these are nobody's."""

    histogram: Histogram
    made_up: Counts

    @classmethod
    def by(cls, one: _Joined, coded: _Coded, groups: Ints, codes: Codes) -> _Told:
        made_up = [
            (coded.code_of[id(release)], *release.values[coded.name].made_up) for release, _ in one.owned(coded.name)
        ]
        of_nobody = np.concatenate([np.empty(0, dtype=np.int64), *(groups for _, groups, _, _ in made_up)])
        counts = np.concatenate([np.empty(0, dtype=np.int64), *(counts for _, _, _, counts in made_up)])
        found = histogram(
            np.concatenate([groups, of_nobody]),
            np.concatenate([codes, *(code_of[codes] for code_of, _, codes, _ in made_up)]),
            np.concatenate([np.ones(len(groups), dtype=np.int64), counts]),
            one.number,
        )
        return cls(found, np.bincount(of_nobody, weights=counts, minlength=one.number).astype(np.int64))

    def nobodys(self, at: int, base: int, releases: int) -> tuple[NDArray[np.int64], Counts]:
        """Return the counterfeits of each group as a class of their own: its groups, and how many they are."""
        there = np.flatnonzero(self.made_up)
        groups = np.full((len(there), releases), NOBODY, dtype=np.int64)
        groups[:, at] = base + there
        return groups, self.made_up[there]


def _split(numbers: Ints, like: Sequence[Ints]) -> list[Ints]:
    return np.split(numbers, np.cumsum([len(each) for each in like])[:-1])


@dataclass(frozen=True, eq=False)
class _Units:
    """People with one of their values each, in classes of those who have the same groups in all releases.

    Entries, cells and classes are as in `kernels/releases_together.py`; classes from `classes` on are counterfeits.
    """

    people: Ints
    class_of: Ints
    classes: int
    sizes: Counts
    """Units of each class."""
    persons: Counts
    """People of each class, who are fewer where somebody has several values."""
    groups: NDArray[np.int64]
    starts: Ints
    values: Codes
    counts: Counts
    own: int | None
    """The place of the new release among those that show the column, if it does."""

    @classmethod
    def of(
        cls, name: str, joined: Sequence[_Joined], coded: _Coded, new: _Joined | None, *, fewest: int = 1
    ) -> _Units | None:
        shown = [one for one in joined if any(True for _ in one.owned(name))]
        if len(shown) < fewest:
            return None
        keys = [np.concatenate([coded.pairs(release, place) for release, place in one.owned(name)]) for one in shown]
        everybody = len(shown[0].group_of)
        number_of, first = rank_keys(np.concatenate(keys), everybody * coded.size)
        people, code = np.divmod(np.concatenate(keys)[first], coded.size)
        vectors = np.zeros((len(first), len(shown)), dtype=np.int32)
        starts, base, entries = [np.zeros(1, dtype=np.int64)], [0], 0
        told: list[_Told] = []
        for at, (one, units) in enumerate(zip(shown, _split(number_of, keys), strict=True)):
            units = units if len(one.releases) == 1 else np.unique(units)
            groups = one.group_of[people[units]]
            vectors[units, at] = groups + 1
            told.append(_Told.by(one, coded, groups, code[units].astype(np.int32)))
            starts.append(entries + told[-1].histogram.offsets[1:])
            base, entries = [*base, base[-1] + one.number], entries + len(told[-1].histogram.values)
        class_of, first = group_tuples(vectors, [one.number + 1 for one in shown])
        sizes = np.bincount(class_of, minlength=len(first)).astype(np.int64)
        # The same person may be in a class with several values.
        _, once = rank_keys(class_of * everybody + people, len(first) * everybody)
        persons = np.bincount(class_of[once], minlength=len(first)).astype(np.int64)
        groups = vectors[first].astype(np.int64) - 1
        groups = np.where(groups < 0, NOBODY, groups + np.array(base[:-1]))
        extra = [one.nobodys(at, base[at], len(shown)) for at, one in enumerate(told)]
        return cls(
            people,
            class_of,
            len(first),
            np.concatenate([sizes, *(number for _, number in extra)]),
            persons,
            np.ascontiguousarray(np.concatenate([groups, *(rows for rows, _ in extra)])),
            np.concatenate(starts),
            np.concatenate([one.histogram.values for one in told]),
            np.concatenate([one.histogram.counts for one in told]),
            next((at for at, one in enumerate(shown) if one is new), None),
        )

    def failing(self, model: Model, coded: _Coded, in_new: Bools) -> Bools:
        """Return for whom a model fails, by what remains possible and how likely it is."""
        cells, cell_values, _, most, likely = self.learnt
        everybody = len(in_new)
        cell_class = np.repeat(np.arange(len(self.sizes)), np.diff(cells))
        kept = (most > 0) & (cell_class < self.classes)
        group_of, values = cell_class[kept], cell_values[kept]
        parts = _whole_parts(likely[kept], group_of, self.persons)
        found = Histogram(
            np.concatenate(([0], np.cumsum(np.bincount(group_of, minlength=self.classes)))), values, parts
        )
        several = self.sizes[: self.classes] > self.persons
        sizes = np.where(several, _PARTS, _sums(parts, group_of, self.classes))
        failing_class = ~model.satisfied(coded.groups(sizes, found)) & ~self._told_nothing(found, likely[kept])
        # Values that the new table lacks are known by their texts alone; nobody of the new table can have one.
        gone = np.zeros(self.classes, dtype=bool)
        gone[self.class_of[~in_new[self.people]]] = True
        if model.compares_with_table:
            failing_class &= ~gone
        elif model.knows_values:
            strange = np.zeros(self.classes, dtype=bool)
            strange[group_of[values >= coded.column.tree.leaves]] = True
            failing_class &= ~strange
        found_people = np.zeros(everybody, dtype=bool)
        found_people[self.people[failing_class[self.class_of]]] = True
        return found_people

    def _told_nothing(self, found: Histogram, likely: NDArray[np.float64]) -> Bools:
        """Return of which classes no more is known than their group of the new release says, which was verified."""
        if self.own is None:
            return np.zeros(self.classes, dtype=bool)
        group = self.groups[: self.classes, self.own]
        there = np.maximum(group, 0)
        shown = np.diff(self.starts)
        room = int(self.values.max(initial=0)) + 1
        keys = np.repeat(np.arange(len(shown)), shown) * room + self.values
        totals = np.diff(np.concatenate(([0], np.cumsum(self.counts)))[self.starts])
        entry = np.searchsorted(keys, there[found.group_of] * room + found.values)
        entry = np.minimum(entry, max(len(keys) - 1, 0))
        told = self.counts[entry] / totals[there[found.group_of]]
        differs = np.abs(likely / self.sizes[found.group_of] - told) > _ALIKE
        same: Bools = (group >= 0) & (found.distinct == shown[there])
        same[found.group_of[differs]] = False
        return same

    @cached_property
    def learnt(self) -> tuple[Ints, Codes, Counts, Counts, NDArray[np.float64]]:
        """Cells, their values, the least and the most people who have them, and how many it most likely are."""
        shown = (self.groups, self.starts, self.values)
        cells, cell_values = cells_of_classes(*shown)
        least, most = bounds_of_cells(*shown, self.counts, cells, cell_values, self.sizes, ROUNDS)
        likely = likeliest_counts(*shown, self.counts, cells, cell_values, self.sizes, least, most, SWEEPS, CLOSE)
        return cells, cell_values, least, most, likely


def _sums(amounts: Counts, group_of: Ints, number: int) -> Counts:
    return np.bincount(group_of, weights=amounts, minlength=number).astype(np.int64)


def _whole_parts(likely: NDArray[np.float64], group_of: Ints, persons: Counts) -> Counts:
    """Return shares as whole numbers of parts; the largest of a class rounded down, so that rounding fails nobody."""
    shares = likely / persons[group_of] * _PARTS
    largest = np.zeros(len(persons))
    np.maximum.at(largest, group_of, shares)
    at_top = shares >= largest[group_of] * (1 - 1e-5)
    parts = np.where(at_top, np.floor(largest[group_of] * (1 - 1e-5)), np.ceil(shares))
    return np.maximum(parts.astype(np.int64), 1)


def _groups_to_withhold(releases: Sequence[Placement], place: Sequence[Ints], affected: Bools) -> Ints:
    """Return the groups of the new release that affected people are in, or people who were in a group with them."""
    new, who = releases[-1], place[-1]
    near = affected.copy()
    gone = affected.copy()
    gone[who] = False
    if gone.any():
        for release, people in zip(releases[:-1], place[:-1], strict=True):
            shared = np.unique(release.groups[gone[people]])
            near[people[np.isin(release.groups, shared)]] = True
    return np.unique(new.groups[near[who]])
