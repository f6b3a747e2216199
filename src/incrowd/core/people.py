"""People who have several rows each: who has which rows, and the table as counts of people.

A person's rows always hide together. Methods search over people, one tuple each, and what they decide of a person holds
for all of that person's rows; so no two of them can be put together to find out more than one tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.core.groups import WITHHELD
from incrowd.core.tally import Tally, group_tuples
from incrowd.errors import SchemaError
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.hierarchies.value_sets import number_sets
from incrowd.hierarchies.values import one_spelling


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

    def bounds(self, name: str) -> tuple[Codes, Codes]:
        """Return the lowest and the highest code that each person has in a column."""
        codes = self.rows.column(name)[self.tuples]
        return np.minimum.reduceat(codes, self.offsets[:-1]), np.maximum.reduceat(codes, self.offsets[:-1])

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


def number_people(raw: pl.DataFrame, columns: Sequence[str], texts: TextRules) -> Ints:
    """Number the people that some columns name, in the order of these names; return whose each row is."""
    return name_people(raw, columns, texts)[0]


def name_people(raw: pl.DataFrame, columns: Sequence[str], texts: TextRules) -> tuple[Ints, pl.DataFrame]:
    """Number people, and return beside that their names: one row for each of them, one column for each of `columns`."""
    named = {}
    for place, name in enumerate(columns):
        names = raw[name].alias("")
        names = one_spelling(texts.read(names)) if names.dtype == pl.String else names
        if names.null_count():
            raise SchemaError(
                f"column '{name}' tells whose a row is, and some rows have no value there.  "
                "Hint: give each of them a number of its own, or leave them out."
            )
        named[f"p{place}"] = names
    people = pl.DataFrame(named)
    numbered = people.unique().sort(pl.all()).with_row_index("number")
    found = people.join(numbered, on=list(named), how="left", maintain_order="left")
    return found["number"].to_numpy().astype(np.int64), numbered.drop("number")


def count_people(
    rows: Tally, person_of: Ints, tuple_of: Ints, counts: Counts, sensitive: Sequence[str]
) -> tuple[People, Ints]:
    """Find out who has which rows: `counts[i]` rows of tuple `tuple_of[i]` are person `person_of[i]`'s.

    Return also the entry of `People.tuples` that each of these is in. People are 0, 1, 2, …, and each has a row. Cost:
    a sort of the pairs of a person and a tuple.
    """
    room = max(len(rows), 1)
    keys, merged = np.unique(person_of * room + tuple_of, return_inverse=True)
    owner, tuples = keys // room, keys % room
    totals = np.bincount(merged, weights=counts, minlength=len(keys)).astype(np.int64)
    number = int(owner[-1]) + 1 if len(owner) else 0
    offsets = np.searchsorted(owner, np.arange(number + 1))
    codes = np.empty((number, len(rows.columns)), dtype=np.int32)
    trees: dict[str, Tree] = dict(rows.trees)
    for place, name in enumerate(rows.columns):
        of_rows = rows.column(name)[tuples]
        if name in sensitive:
            codes[:, place], trees[name] = _values_or_sets(owner, of_rows, number, rows.trees[name])
        else:
            codes[:, place] = _middle(owner, of_rows, offsets)
    tuple_of_person, first = group_tuples(codes, [trees[name].size for name in rows.columns])
    people = np.bincount(tuple_of_person, minlength=len(first)).astype(np.int64)
    tally = replace(rows, codes=np.ascontiguousarray(codes[first]), counts=people, trees=trees)
    return People(rows, offsets, tuples, totals, tally, tuple_of_person), merged


def _middle(owner: Ints, codes: Codes, offsets: NDArray[np.int64]) -> Codes:
    """Return the middle one of each owner's codes; a missing value only where there is no other."""
    if not len(codes):
        return codes
    lowest, highest = np.minimum.reduceat(codes, offsets[:-1]), np.maximum.reduceat(codes, offsets[:-1])
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


def _values_or_sets(owner: Ints, codes: Codes, owners: int, tree: Tree) -> tuple[Codes, Tree]:
    """Return the one value of each owner, or a code for the set of them."""
    keys = np.unique(owner * tree.size + codes)
    owner, codes = keys // tree.size, (keys % tree.size).astype(np.int32)
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
