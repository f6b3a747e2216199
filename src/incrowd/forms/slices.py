"""Sliced columns: attributes that belong together stay together, and columns are permuted within each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar

import numpy as np

from incrowd.errors import RecipeError, SchemaError, did_you_mean
from incrowd.randomness import permutation
from incrowd.recoding import WITHHELD, Recoding
from incrowd.releases.sliced import Columns, SlicedTable
from incrowd.schema import Schema
from incrowd.slicing.permutation import permute_columns
from incrowd.slicing.sliced import Buckets
from incrowd.tally import Tally

Sliced = TypeVar("Sliced", bound=SlicedTable)


@dataclass(frozen=True)
class ShowSlices:
    """Groups become buckets, and `columns` says which attributes stay together; all others are columns of their own.

    `levels` shows an attribute at a level of its hierarchy in place of its values. With `overlapping`, an attribute may
    be in several columns: it then tells more about each, and is published once in every one of them.
    """

    columns: Columns = ()
    levels: Mapping[str, int] = field(default_factory=dict, hash=False)
    overlapping: bool = False
    name: ClassVar[str] = "sliced"

    def __post_init__(self) -> None:
        if any(isinstance(column, str) for column in self.columns):
            raise RecipeError("sliced: columns is a list of lists of attributes.")
        object.__setattr__(self, "columns", tuple(tuple(column) for column in self.columns))

    def show(
        self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator
    ) -> SlicedTable:
        """Permute every column within groups."""
        columns = all_columns(self.columns, schema, overlapping=self.overlapping)
        return sliced(SlicedTable, tally, schema, recoding, columns, rows_in=rows_in, rng=rng, levels=self.levels)


def all_columns(columns: Sequence[Sequence[str]], schema: Schema, *, overlapping: bool = False) -> Columns:
    """Return columns of attributes, completed by those that are not mentioned."""
    seen: set[str] = set()
    for name in (name for column in columns for name in column):
        if name not in schema.tallied:
            raise SchemaError(f"sliced: '{name}' is no attribute.{did_you_mean(name, schema.tallied)}")
        if name in seen and not overlapping:
            raise SchemaError(f"sliced: '{name}' is in two columns.  Hint: say overlapping=True if that is meant.")
        seen.add(name)
    for column in columns:
        if len(set(column)) < len(column):
            raise SchemaError("sliced: a column names an attribute twice.")
    return (*(tuple(column) for column in columns if column), *((name,) for name in schema.tallied if name not in seen))


def sliced(
    kind: type[Sliced],
    tally: Tally,
    schema: Schema,
    recoding: Recoding,
    columns: Columns,
    *,
    rows_in: int,
    rng: np.random.Generator,
    levels: Mapping[str, int] | None = None,
) -> Sliced:
    """Make a sliced table of a kind; buckets get numbers by chance, so that these tell nothing."""
    for name in (*schema.kept, *schema.pseudonyms):
        raise SchemaError(
            f"column '{name}' is kept as it is and would link what slicing takes apart.  "
            "Hint: drop it, or make it a quasi-identifier or sensitive."
        )
    published = recoding.groups != WITHHELD
    groups = recoding.groups[published]
    is_bucket = np.zeros(int(groups.max(initial=-1)) + 1, dtype=bool)
    is_bucket[groups] = True
    numbers = np.zeros(len(is_bucket), dtype=np.int64)
    numbers[is_bucket] = permutation(rng, int(is_bucket.sum()))
    buckets = Buckets(recoding.tuples[published], recoding.counts[published], numbers[groups])
    levels = dict(levels or {})
    return kind(
        schema=schema,
        tally=tally,
        shown=at_levels(tally, levels),
        levels=levels,
        columns=columns,
        buckets=buckets,
        permuted=permute_columns(rng, buckets, len(columns)),
        rows_in=rows_in,
    )


def at_levels(tally: Tally, levels: Mapping[str, int]) -> Tally:
    """Return a tally whose codes are those of the first value of each node that is shown."""
    codes = tally.codes
    for name, level in levels.items():
        if name not in tally.columns:
            raise SchemaError(f"sliced: '{name}' is no attribute.{did_you_mean(name, tally.columns)}")
        tree, place = tally.trees[name], tally.columns.index(name)
        if not 0 <= level <= tree.height:
            raise SchemaError(f"column '{name}': levels go from 0 to {tree.height}; {level} was asked for.")
        codes = codes.copy()
        codes[:, place] = tree.starts[level, codes[:, place]]
    return replace(tally, codes=codes)
