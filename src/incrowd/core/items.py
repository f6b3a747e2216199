"""What people have of a column of sets: which items are whose, and how such sets are written."""

from __future__ import annotations

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Bools, Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.core.item_sets import ItemSets
from incrowd.core.query import Condition, listed, matching_codes
from incrowd.errors import OutputError, SchemaError
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.item_groups import group_items
from incrowd.hierarchies.texts import TextRules
from incrowd.hierarchies.tree import MISSING, Tree

SEPARATOR = ";"
"""What stands between items in a text, unless somebody says otherwise."""


@dataclass(frozen=True, eq=False)
class ItemsOfPeople:
    """Person `owner[i]` has the item with the code `codes[i]` of a tree."""

    column: str
    owner: Ints
    codes: Codes
    tree: Tree

    def sets(self, people: int, parts: Ints | None = None, sensitive: Codes | None = None) -> tuple[ItemSets, Ints]:
        """Return the sets that people have, and the entry of each person; those with part -1 are left out.

        The entry of somebody who is left out is -1. `sensitive` is the code of each person's sensitive value.
        """
        if parts is None:
            return ItemSets.from_pairs(self.owner, self.codes, people=people, sensitive=sensitive)
        there = parts >= 0
        number = np.cumsum(there) - 1
        kept = there[self.owner]
        sets, entry = ItemSets.from_pairs(
            number[self.owner[kept]],
            self.codes[kept],
            people=int(there.sum()),
            parts=parts[there],
            sensitive=None if sensitive is None else sensitive[there],
        )
        found = np.full(people, -1, dtype=np.int64)
        found[there] = entry
        return sets, found


def split_items(column: str, raw: pl.Series, separator: str | None) -> pl.Series:
    """Return sets as lists of texts; a text is a list of items with a separator between them."""
    if raw.dtype == pl.List(pl.String):
        if separator is not None:
            raise SchemaError(f"column '{column}' holds lists, so {option('item_separator')} cannot be used.")
        return raw
    if raw.dtype != pl.String:
        raise SchemaError(
            f"column '{column}' is of items, and holds {raw.dtype}.  Hint: items are lists, or texts with "
            f'"{SEPARATOR}" or another item_separator between them.'
        )
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise SchemaError("item_separator is a text.")
    return raw.alias("").str.split(separator or SEPARATOR)


def read_lists(column: str, raw: pl.Series, separator: str | None) -> pl.Series:
    """Return published sets as lists of texts, without missing and empty ones."""
    lists = (
        split_items(column, raw.alias(""), separator if raw.dtype == pl.String else None)
        .list.drop_nulls()
        .fill_null([])
    )
    return pl.select(lists.list.eval(pl.element().filter(pl.element() != ""))).to_series()


def lists_as_text(frame: pl.DataFrame, separator: str | None) -> pl.DataFrame:
    """Return a frame with its lists written as texts, for files that hold none."""
    between = separator or SEPARATOR
    lists = [column for column in frame.get_columns() if column.dtype == pl.List]
    for column in lists:
        if column.alias("").explode().str.contains(between, literal=True).any():
            raise holds_separator(column.name, between)
    return frame.with_columns(cs.list().list.join(between)) if lists else frame


def holds_separator(column: str, between: str) -> OutputError:
    """Return the error that says why sets cannot be written as texts."""
    return OutputError(
        f"column '{column}' has items that hold \"{between}\", which stands between items in a text.  "
        "Hint: write Parquet, or choose another item_separator."
    )


def code_items(
    column: str, lists: pl.Series, owner: Ints, hierarchy: Hierarchy | None, texts: TextRules
) -> ItemsOfPeople:
    """Code the items of lists, list i being that of person `owner[i]`; empty and missing items are left out."""
    lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    whose = np.repeat(owner, lengths)
    items = lists.filter(pl.Series(lengths > 0)).explode().alias("")
    distinct = items.unique()
    place = items.cast(pl.Enum(distinct.drop_nulls())).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    known = distinct.drop_nulls()
    names = texts.read(known.str.strip_chars())  # also exact texts: a blank after a separator is none of the item's
    if hierarchy is None:
        tree, codes = _by_frequency(column, names, place, len(known))
    else:
        tree, codes = hierarchy.build(column, names)
    of_items = np.append(codes, np.int32(MISSING))[place]
    there = of_items != MISSING
    return ItemsOfPeople(column, whose[there], of_items[there], tree)


def _by_frequency(column: str, names: pl.Series, place: Ints, number: int) -> tuple[Tree, Codes]:
    """Group items that are about as frequent, where the owner gives no hierarchy."""
    counts = np.bincount(place[place >= 0], minlength=number).astype(np.int64)
    by_name = pl.DataFrame({"name": names, "n": counts}).drop_nulls()
    by_name = by_name.group_by("name").agg(pl.col("n").sum()).sort("name")
    tree, codes = group_items(column, by_name["name"], by_name["n"].to_numpy())
    by_name = by_name.with_columns(code=pl.Series(codes))
    found = pl.DataFrame({"name": names}).join(by_name, on="name", how="left", maintain_order="left")["code"]
    return tree, found.fill_null(MISSING).to_numpy().astype(np.int32)


def written_sets(names: pl.Series, sets: ItemSets) -> pl.Series:
    """Return sets of nodes as lists of names, `names[n]` being that of node n, in the order of their nodes."""
    of_places = names.gather(sets.items)
    frame = pl.DataFrame({"set": sets.owners, "name": of_places})
    lists = frame.group_by("set", maintain_order=True).agg("name")
    every = pl.DataFrame({"set": np.arange(len(sets))}).join(lists, on="set", how="left", maintain_order="left")
    return every["name"].fill_null([])


@dataclass(frozen=True, eq=False)
class ShownSets:
    """Published sets, by the nodes of a tree that they show: node n of `sets` stands for the codes from `lows[n]` to
    `highs[n]`, the latter not included, of which some may be `present` in nobody.
    """

    tree: Tree
    sets: ItemSets
    lows: Codes
    highs: Codes
    present: Bools

    def shares(self, column: str, condition: Condition) -> Floats:
        """Return for each set how likely it holds all items of a condition, each node standing for any of its items."""
        wanted = [condition] if isinstance(condition, tuple) else listed(condition)
        before = np.concatenate(([0], np.cumsum(self.present)))
        standing_for = np.maximum(before[self.highs] - before[self.lows], 1)
        found = np.ones(len(self.sets))
        for item in wanted:
            asked = np.concatenate(([0], np.cumsum(matching_codes(column, self.tree, item) & self.present)))
            by_node = np.minimum((asked[self.highs] - asked[self.lows]) / standing_for, 1.0)
            best = np.zeros(len(self.sets))
            np.maximum.at(best, self.sets.owners, by_node[self.sets.items])
            found *= best
        return found
