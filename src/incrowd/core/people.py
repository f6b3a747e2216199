"""People who have several rows each: who has which rows, and the table as counts of people.

A person's rows always hide together. Methods search over people, one tuple each, and what they decide of a person holds
for all of that person's rows; so no two of them can be put together to find out more than one tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import WITHHELD
from incrowd.core.schema import HOUSEHOLD
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import SchemaError
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.value_sets import number_sets
from incrowd.hierarchies.values import code_among, code_values, one_spelling
from incrowd.kernels.keys import rank_keys


@dataclass(frozen=True, eq=False)
class People:
    """Who has which rows.

    Person p has `counts[e]` rows of tuple `tuples[e]` of the tally of `rows`, for e from `offsets[p]` to
    `offsets[p + 1]`. `tally` counts people: `tuple_of[p]` is the person's tuple there. In a quasi-identifier that tuple
    has the middle one of the person's values; in a sensitive column the value, or the set of all of them.
    """

    rows: Tally
    offsets: NDArray[np.int64]
    tuples: Ints
    counts: Counts
    tally: Tally
    tuple_of: Ints
    sensitive: tuple[str, ...] = ()
    """The columns whose values people must not be found to have."""
    events: Mapping[str, tuple[Ints, Codes]] = field(default_factory=dict)
    """Values that are in other tables: the distinct pairs of a person and a code, by column."""
    found_bounds: dict[str, tuple[Codes, Codes]] = field(default_factory=dict, repr=False)
    """What `bounds` has found already."""

    def __len__(self) -> int:
        return len(self.tuple_of)

    @cached_property
    def owner(self) -> Ints:
        """Whose each entry of `tuples` is."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def rows_each(self) -> Counts:
        """How many rows each person has."""
        return np.add.reduceat(self.counts, self.offsets[:-1]) if len(self) else self.counts[:0]

    def values_of(self, name: str, among: Bools) -> tuple[Ints, Codes]:
        """Return the distinct pairs of a person and a value of a column, among some people."""
        if name in self.events:
            owner, codes = self.events[name]
            kept = among[owner]
            return owner[kept], codes[kept]
        entries = among[self.owner]
        codes = self.rows.column(name)[self.tuples[entries]]
        return distinct_values(self.owner[entries], codes, self.rows.trees[name].size)

    def bounds(self, name: str) -> tuple[Codes, Codes]:
        """Return the lowest and the highest code that each person has in a column."""
        if name not in self.found_bounds:
            self.found_bounds[name] = _bounds(self.rows.column(name)[self.tuples], self.offsets)
        return self.found_bounds[name]

    @cached_property
    def each_entry(self) -> Tally:
        """The rows of each person by themselves: as many tuples as there are pairs of a person and a tuple."""
        return replace(self.rows, codes=self.rows.codes[self.tuples], counts=self.counts)


@dataclass(frozen=True, eq=False)
class PeopleNumbers:
    """How many people there were to publish, and how many are in each published group."""

    total: int
    group_sizes: Counts

    @property
    def published(self) -> int:
        """How many are published: each is in one group."""
        return int(self.group_sizes.sum())

    @property
    def told(self) -> dict[str, int]:
        """The numbers as plain values."""
        return {"in": self.total, "published": self.published, "withheld": self.total - self.published}


@dataclass(frozen=True, eq=False)
class PlacedPeople:
    """People with their groups: `group_of[p]` is the group of person p, or `WITHHELD`.

    `part_of[p]` is the part that person p is in, of what a method decided of people. `row_groups` are the groups of the
    parts of rows that came of it.
    """

    people: People
    part_of: Ints
    group_of: Ints
    row_groups: Ints

    def seen_in(self, group_of_part: Ints) -> Ints:
        """Return each person's group as a reader sees it, given that of each part of rows that is published."""
        seen = np.full(int(self.row_groups.max(initial=WITHHELD)) + 2, WITHHELD, dtype=np.int64)
        seen[self.row_groups[self.row_groups != WITHHELD]] = group_of_part
        return np.asarray(seen[self.group_of])  # those without a group find the last entry


def with_values(
    people: People, found: Mapping[str, tuple[Ints, Codes]], trees: Mapping[str, Tree], *, values: bool
) -> People:
    """Return people with values that are in none of their rows: the distinct pairs of a person and a code, by column.

    Where nobody looks at `values`, people are not told apart by them.
    """
    tally, tuple_of = people.tally, people.tuple_of
    if found and values:
        number = len(people)
        every = {name: tally.column(name)[tuple_of] for name in tally.columns}
        searched = dict(tally.trees)
        for name, pairs in found.items():
            every[name], searched[name] = values_or_sets(*pairs, number, trees[name])
        names = tuple(sorted(every))
        codes = np.stack([every[name] for name in names], axis=1).astype(np.int32)
        tuple_of, first = group_tuples(codes, [searched[name].size for name in names])
        counts = np.bincount(tuple_of, minlength=len(first)).astype(np.int64)
        tally = replace(tally, columns=names, codes=np.ascontiguousarray(codes[first]), counts=counts, trees=searched)
    return replace(
        people,
        rows=replace(people.rows, trees={**people.rows.trees, **trees}),
        tally=tally,
        tuple_of=tuple_of,
        sensitive=(*people.sensitive, *found),
        events={**people.events, **found},
    )


def with_households(people: People, household_of: Ints, *, values: bool) -> People:
    """Return people who are known to live in households: `household_of[p]` is the number of person p's."""
    tree, codes = Exact().build(HOUSEHOLD, pl.Series(household_of))
    return with_values(people, {HOUSEHOLD: (np.arange(len(people)), codes)}, {HOUSEHOLD: tree}, values=values)


def households_of_people(person_of: Ints, household: Ints) -> Ints:
    """Return the household of each person, given those of rows; refuse people who have several."""
    found = np.empty(int(person_of.max(initial=-1)) + 1, dtype=np.int64)
    found[person_of] = household
    if (found[person_of] != household).any():
        raise SchemaError(
            "somebody's rows are of several households.  Hint: give everybody one, such as that of the last row."
        )
    return found


def number_households(raw: pl.DataFrame, columns: Sequence[str], texts: TextRules) -> Ints:
    """Number the households that some columns name; return that of each row."""
    return name_people(raw, columns, texts, tells="who lives together")[0]


def number_people(raw: pl.DataFrame, columns: Sequence[str], texts: TextRules, *, allow_nameless: bool = False) -> Ints:
    """Number the people that some columns name, in the order of these names; return whose each row is.

    A row that lacks a name is refused; with `allow_nameless`, it is that of person -1, and numbers may be left out.
    """
    return name_people(raw, columns, texts, allow_nameless=allow_nameless)[0]


def name_people(
    raw: pl.DataFrame,
    columns: Sequence[str],
    texts: TextRules,
    *,
    allow_nameless: bool = False,
    tells: str = "whose a row is",
) -> tuple[Ints, pl.DataFrame]:
    """Number people, and return beside that their names: one row for each of them, one column for each of `columns`."""
    nameless = np.zeros(raw.height, dtype=bool)
    codes = np.empty((raw.height, len(columns)), dtype=np.int32)
    sizes, lists = [], []
    for place, name in enumerate(columns):
        names, codes[:, place] = _code_names(raw[name].alias(""), texts)
        sizes.append(len(names) + 1)
        nameless |= codes[:, place] == MISSING
        if not allow_nameless and nameless.any():
            raise without_name(name, tells)
        lists.append(names)
    if len(columns) == 1:
        return codes[:, 0].astype(np.int64) - 1, lists[0].alias("p0").to_frame()
    number, first = group_tuples(codes, sizes)
    of_each = [names.gather(codes[first, place] - 1).alias(f"p{place}") for place, names in enumerate(lists)]
    number[nameless] = -1
    return number, pl.DataFrame(of_each)


def without_name(name: str, tells: str = "whose a row is") -> SchemaError:
    """Return the error that says that some rows are nobody's."""
    return SchemaError(
        f"column '{name}' tells {tells}, and some rows have no value there.  "
        "Hint: give each of them a number of its own, or leave them out."
    )


def _code_names(raw: pl.Series, texts: TextRules) -> tuple[pl.Series, Codes]:
    """Return the sorted names and each row's code among them, from 1; missing is 0."""
    if raw.dtype != pl.String:
        return code_values(raw)
    # By their hashes, which is several times faster than by the texts themselves; as long as can be sorted with places.
    spare = len(raw).bit_length() + 2
    place, first = rank_keys((raw.hash().to_numpy() >> np.uint64(spare)).view(np.int64), 1 << (64 - spare))
    distinct = raw.gather(first)
    if not distinct.gather(place).eq_missing(raw).all():  # two texts with one hash
        distinct = raw.unique()
        place = (code_among(raw.fill_null(""), distinct.fill_null("")) - 1).astype(np.int64)
    found, of_distinct = code_values(_names(distinct, texts))
    return found, of_distinct[place]


def _names(distinct: pl.Series, texts: TextRules) -> pl.Series:
    """Return one name for each value, however it is written."""
    numbers = distinct.cast(pl.Int64, strict=False)
    if not numbers.null_count() and not distinct.str.contains("^[+-]|^0.").any():
        return numbers
    names = texts.read(distinct)
    # Without any of these, no number can be written in two ways.
    return one_spelling(names) if names.str.contains("[.eE+]").any() else names


def names_as_read(names: pl.Series, texts: TextRules) -> pl.Series:
    """Return one text for each person whom a column names, however the name is spelt."""
    return one_spelling(texts.read(names)) if names.dtype == pl.String else names


def count_people(
    rows: Tally,
    person_of: Ints,
    tuple_of: Ints,
    counts: Counts,
    sensitive: Sequence[str],
    *,
    values: bool = True,
) -> tuple[People, Ints]:
    """Find out who has which rows: `counts[i]` rows of tuple `tuple_of[i]` are person `person_of[i]`'s.

    Return also the entry of `People.tuples` that each of these is in. People are 0, 1, 2, …, and each has a row. Where
    nobody looks at `values`, people are told apart by their quasi-identifiers alone. Cost: a sort of the pairs of a
    person and a tuple.
    """
    number = int(person_of.max(initial=-1)) + 1
    owner, tuples, totals, merged = entries_of_people(rows, person_of, tuple_of, counts)
    offsets = np.searchsorted(owner, np.arange(number + 1))
    columns = rows.columns if values else tuple(name for name in rows.columns if name not in sensitive)
    codes = np.empty((number, len(columns)), dtype=np.int32)
    trees: dict[str, Tree] = dict(rows.trees)
    bounds: dict[str, tuple[Codes, Codes]] = {}
    for place, name in enumerate(columns):
        of_rows = rows.column(name)[tuples]
        if name in sensitive:
            codes[:, place], trees[name] = values_or_sets(owner, of_rows, number, rows.trees[name])
        else:
            bounds[name] = _bounds(of_rows, offsets)
            codes[:, place] = _middle(owner, of_rows, *bounds[name])
    tuple_of_person, first = group_tuples(codes, [trees[name].size for name in columns])
    people = np.bincount(tuple_of_person, minlength=len(first)).astype(np.int64)
    tally = replace(rows, columns=columns, codes=np.ascontiguousarray(codes[first]), counts=people, trees=trees)
    found = People(rows, offsets, tuples, totals, tally, tuple_of_person, tuple(sensitive), found_bounds=bounds)
    return found, merged


def entries_of_people(rows: Tally, person_of: Ints, tuple_of: Ints, counts: Counts) -> tuple[Ints, Ints, Counts, Ints]:
    """Return the distinct pairs of a person and a tuple, sorted by both, how many rows have each, and each one's place.

    Pairs are returned as two arrays: people, and tuples.
    """
    number, room = int(person_of.max(initial=-1)) + 1, max(len(rows), 1)
    merged, first = rank_keys(person_of * room + tuple_of, number * room)
    totals = np.bincount(merged, weights=counts, minlength=len(first)).astype(np.int64)
    return person_of[first], tuple_of[first], totals, merged


def _bounds(codes: Codes, offsets: NDArray[np.int64]) -> tuple[Codes, Codes]:
    """Return the lowest and the highest code of each run."""
    if not len(codes):
        return codes, codes
    return np.minimum.reduceat(codes, offsets[:-1]), np.maximum.reduceat(codes, offsets[:-1])


def _middle(owner: Ints, codes: Codes, lowest: Codes, highest: Codes) -> Codes:
    """Return the middle one of each owner's codes; a missing value only where there is no other."""
    found = highest.copy()
    differing = lowest != highest
    if not differing.any():
        return found
    known = differing[owner] & (codes != MISSING)
    owners, of_rows = owner[known], codes[known]
    order = np.lexsort((of_rows, owners))
    owners, of_rows = owners[order], of_rows[order]
    one, first, length = np.unique(owners, return_index=True, return_counts=True)
    found[one] = of_rows[first + (length - 1) // 2]
    return found


def distinct_pairs(owner: Ints, codes: Codes | Ints, size: int) -> tuple[Ints, Codes]:
    """Return the distinct pairs of an owner and a code below `size`, sorted by both."""
    keys = np.sort(owner * size + codes)
    if len(keys):
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
    return keys // size, (keys % size).astype(np.int32)


def distinct_values(owner: Ints, codes: Codes, size: int) -> tuple[Ints, Codes]:
    """Return the distinct pairs of an owner and a value, sorted by both; a missing value only where there is no other.

    Who has a value has it, whatever is missing beside it.
    """
    owner, codes = distinct_pairs(owner, codes, size)
    beside_others = np.zeros(len(owner), dtype=bool)
    beside_others[:-1] = (codes[:-1] == MISSING) & (owner[:-1] == owner[1:])
    return owner[~beside_others], codes[~beside_others]


def lacks_beside_others(owner: Ints, codes: Codes, size: int) -> bool:
    """Whether somebody lacks a value in one row and has one in another."""
    return len(distinct_values(owner, codes, size)[0]) < len(distinct_pairs(owner, codes, size)[0])


def values_or_sets(owner: Ints, codes: Codes, owners: int, tree: Tree) -> tuple[Codes, Tree]:
    """Return the one value of each owner, or a code for the set of them, in a tree that knows these sets.

    Who has no value has the missing one.
    """
    owner, codes = distinct_values(owner, codes, tree.size)
    number = np.bincount(owner, minlength=owners)
    found = np.zeros(owners, dtype=np.int32)
    found[owner] = codes
    several = number > 1
    if not several.any():
        return found, tree
    in_sets = several[owner]
    renumbered = np.cumsum(several) - 1
    set_of, sets = number_sets(renumbered[owner[in_sets]], codes[in_sets], tree.size)
    found[several] = tree.size + set_of
    return found, replace(tree, sets=sets)


def with_nobody_left_out(owner: Ints, codes: Codes, number: int, size: int) -> tuple[Ints, Codes]:
    """Return distinct pairs of a person and a value; who has none has the missing one."""
    without = np.ones(number, dtype=bool)
    without[owner] = False
    lacking = np.flatnonzero(without)
    return distinct_values(
        np.concatenate([owner, lacking]), np.concatenate([codes, np.full(len(lacking), MISSING, dtype=np.int32)]), size
    )


def number_in_all(tables: Mapping[str, pl.DataFrame], person: Sequence[str], texts: TextRules) -> dict[str, Ints]:
    """Number the people of several tables, the first of which has everybody; who is not in that one is -1."""
    of_people = next(iter(tables.values()))
    together = {}
    for name in person:
        kind = of_people[name].dtype
        try:
            columns = [table[name].cast(kind).alias(name) for table in tables.values()]
        except pl.exceptions.PolarsError:
            raise SchemaError(f"the key '{name}' is not of the same kind in all tables.") from None
        together[name] = pl.concat(columns)
    numbers = number_people(pl.DataFrame(together), person, texts)
    ends = np.cumsum([table.height for table in tables.values()])
    # People come first, each with one row: the others are numbered as these are.
    first = numbers[: ends[0]]
    distinct = np.unique(first)
    place = np.searchsorted(distinct, numbers)
    known = distinct[np.minimum(place, len(distinct) - 1)] == numbers
    place = np.where(known, place, -1)
    return dict(zip(tables, np.split(place, ends[:-1]), strict=True))
