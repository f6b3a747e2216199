"""Category trees: from a nested dict, from TOML, or from the `;`-separated files that ARX reads and writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import polars as pl

from incrowd.common.arrays import Codes
from incrowd.common.parameters import shown_value
from incrowd.common.records import dataclass
from incrowd.common.writing import new_file
from incrowd.errors import HierarchyError, RecipeError, SchemaError
from incrowd.hierarchies import labels
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy, require_covered
from incrowd.hierarchies.texts import code_names
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_text

TakenFrom = Literal["data", "release"]


@dataclass(frozen=True, repr=False)
class Categories(Hierarchy):
    """Values in groups, groups in larger groups.

    Parameters
    ----------
    rows : each value with its ancestors, most specific first.
    taken_from : None where the owner declares the values: they are public, and labels and recipes may name all of them.
        "data" where they were read off the table: labels, and the recipe of a release, then name only those of
        published people. "release" in such a recipe: a value that it does not list is by itself, under the root
        (default: None).

    >>> places = Categories.from_tree({"Europe": ["Italy", "Spain"], "Asia": ["Japan"]})
    >>> places.rows[0]
    ('Italy', 'Europe')
    >>> tree, codes = places.build("country", pl.Series(["Japan", "Italy", None]))
    >>> codes.tolist()
    [3, 1, 0]
    """

    rows: tuple[tuple[str, ...], ...]
    taken_from: TakenFrom | None = None
    name: ClassVar[str] = "categories"
    declares_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.taken_from not in (None, *get_args(TakenFrom)):
            raise HierarchyError(f'a category tree is taken_from "data" or "release", not {self.taken_from!r}.')
        object.__setattr__(self, "rows", tuple(tuple(row) for row in self.rows))
        if not self.rows:
            raise HierarchyError("a category tree needs at least one value.")
        if not all(self.rows):
            raise HierarchyError("a category tree needs a value in every row.")
        if len({len(row) for row in self.rows}) > 1:
            raise HierarchyError("a category tree needs the same number of levels for every value.")
        seen: set[str] = set()
        for value, *_ in self.rows:
            if value in seen:
                named = f"'{value}'" if self.taken_from is None else "a value"
                raise HierarchyError(f"a category tree lists {named} twice.  Hint: keep one of the two.")
            seen.add(value)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any] | Sequence[str], *, taken_from: TakenFrom | None = None) -> Categories:
        """Take a nested dict: keys are groups, lists are values. Shallow branches repeat their last group."""
        paths = list(_walk(tree, ()))
        depth = max((len(path) for path in paths), default=0)
        rows = []
        for value, *above in paths:
            padding = [above[0] if above else value] * (depth - 1 - len(above))
            rows.append((value, *padding, *above))
        return cls(tuple(rows), taken_from)

    def to_tree(self) -> dict[str, Any] | list[str]:
        """Return the nested dict that `from_tree` takes."""
        height = len(self.rows[0]) - 1
        if height == 0:
            return [row[0] for row in self.rows]
        root: dict[str, Any] = {}
        for value, *above in self._walking_order():
            place = root
            for group in above[:0:-1]:
                place = place.setdefault(group, {})
            place.setdefault(above[0], []).append(value)
        return root

    @classmethod
    def read_csv(cls, path: str | Path, *, separator: str = ";") -> Categories:
        """Read one line per value, most specific first; a last column that is one name throughout is the root."""
        try:
            with Path(path).open(newline="", encoding="utf-8-sig") as file:
                return cls._from_lines(file, f"hierarchy file {path}", separator)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise HierarchyError(f"hierarchy file {path} cannot be read: {reason}.") from error

    @classmethod
    def from_csv(cls, text: str, *, separator: str = ";") -> Categories:
        """Read the text of such a file.

        >>> Categories.from_csv("Italy;Europe;*\\nJapan;Asia;*").rows
        (('Italy', 'Europe'), ('Japan', 'Asia'))
        """
        return cls._from_lines(io.StringIO(text.removeprefix("\ufeff"), newline=""), "the hierarchy's file", separator)

    @classmethod
    def _from_lines(cls, lines: Iterable[str], where: str, separator: str) -> Categories:
        try:
            rows = [tuple(row) for row in csv.reader(lines, delimiter=separator) if row]
        except TypeError as error:
            raise HierarchyError(f"{where}: its separator is one character, not '{separator}'.") from error
        except csv.Error as error:
            raise HierarchyError(f"{where} cannot be read: {error}.") from error
        for number, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise HierarchyError(
                    f"{where}: row {number} has {len(row)} levels, the first has {len(rows[0])}.  "
                    f"Hint: is '{separator}' the separator?"
                )
        rows = list(dict.fromkeys(rows))  # the same line twice says nothing new
        if rows and len(rows[0]) > 1 and len({row[-1] for row in rows}) == 1:
            rows = [row[:-1] for row in rows]
        while rows and len(rows[0]) > 1 and all(row[-1] == labels.ANY for row in rows):
            rows = [row[:-1] for row in rows]
        try:
            return cls(tuple(rows))
        except HierarchyError as error:
            raise HierarchyError(f"{where}: {error}") from error

    def write_csv(self, path: str | Path, *, separator: str = ";") -> None:
        """Write one line per value, most specific first, the root last."""
        with new_file(path) as new, new.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            writer.writerows((*row, labels.ANY) for row in self.rows)

    @classmethod
    def examples(cls) -> tuple[Categories, ...]:
        """Plain names, and names that look like labels."""
        return (
            cls((("Italy", "Europe"), ("Spain", "Europe"), ("Japan", "Asia"))),
            cls((("a, b", "{a}", "x"), ("a-b", "{a}", "x"), ("-5", "-", "x"), ('"q"', "-", "x"))),
        )

    @classmethod
    def recipe_keys(cls) -> Mapping[str, bool]:
        """A recipe gives a tree, or a file with its separator; and where the values were taken from."""
        return {"tree": False, "file": False, "separator": False, "taken_from": False}

    @classmethod
    def from_recipe(cls, given: Mapping[str, Any], base: Path) -> Categories:
        """Take a tree, or read the file that is named."""
        if ("tree" in given) == ("file" in given):
            raise RecipeError("a hierarchy of categories needs either a tree or a file.")
        if "tree" in given:
            return cls.from_tree(given["tree"], taken_from=given.get("taken_from"))
        for key, value in given.items():
            if not isinstance(value, str):
                raise RecipeError(f"a hierarchy of categories: {key} is a text, not {value!r}.")
        found = cls.read_csv(base / given["file"], separator=given.get("separator", ";"))
        return replace(found, taken_from=given.get("taken_from"))

    def to_recipe(self) -> dict[str, Any]:
        """Return the tree, and where its values were taken from."""
        return {**({} if self.taken_from is None else {"taken_from": self.taken_from}), "tree": self.to_tree()}

    def declared_values(self, column: str) -> pl.Series:
        """Return none, since the tree lists them; refuse values that were taken from a table."""
        if self.taken_from is not None:
            raise SchemaError(
                f"column '{column}': its values were taken from the {self.taken_from}, and differential privacy must "
                "not depend on which are there.  Hint: list all values that are publicly known, and remove taken_from."
            )
        return pl.Series([], dtype=pl.String)

    def as_published(self, values: pl.Series) -> Hierarchy:
        """Leave out, where the values were taken from the table, those that no published row has."""
        if self.taken_from is None:
            return self
        published = set(as_text(values).to_list())
        rows = tuple(row for row in self.rows if row[0] in published)
        if len(rows) == len(self.rows):
            return self
        return Categories(rows, "release") if rows else Flat()

    def __repr__(self) -> str:
        if self.taken_from is None:
            return f"Categories(rows={self.rows!r})"
        return f"Categories({len(self.rows)} values, taken_from={self.taken_from!r})"

    def _repr_html_(self) -> str:
        from incrowd.hierarchies.notebook import categories_html

        return categories_html(self.build("", pl.Series([], dtype=pl.String))[0])

    def placed(self, values: pl.Series) -> pl.Series:
        """Take what is not in the tree for missing."""
        text = as_text(values)
        known = pl.Series(code_names(text, pl.Series([row[0] for row in self.rows], dtype=pl.String)) > 0)
        return pl.select(pl.when(known).then(text)).to_series()

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Number the leaves of the whole tree, also those the table does not have, and find each value among them."""
        leaves, *ancestors = (pl.Series(level, dtype=pl.String) for level in zip(*self._walking_order(), strict=True))
        text = as_text(values)
        if self.taken_from == "release":  # what it does not list may have been somebody's who is not published
            others = text.filter(text.is_not_null() & pl.Series(code_names(text, leaves) < 0)).unique().sort()
            leaves, *ancestors = (pl.concat([level, others]) for level in (leaves, *ancestors))
        codes = code_names(text, leaves)
        require_covered(column, text, pl.Series(codes < 0))
        declared = self.taken_from is None
        return grow(column, leaves, "text", ancestors, from_data=not declared, declared=declared), codes

    def _walking_order(self) -> list[tuple[str, ...]]:
        """Sort the rows so that every node is in one piece, groups in the order of their first mention."""
        first: dict[tuple[str, ...], int] = {}
        for place, row in enumerate(self.rows):
            for level in range(len(row)):
                first.setdefault(row[level:], place)
        return sorted(self.rows, key=lambda row: [first[row[level:]] for level in range(len(row) - 1, -1, -1)])


def _spelled(value: object) -> str:
    """Write a value as it is written in columns: true rather than True, 3 rather than 3.0."""
    if value is None:
        raise HierarchyError("a category tree cannot hold a missing value: it has its own place, under the root.")
    if not isinstance(value, (str, int, float, Decimal, date, time)):
        raise HierarchyError(
            f"a category tree is made of tables, and of lists of values; a {type(value).__name__} is no value."
        )
    return str(as_text(pl.Series([value], strict=False))[0])


def _walk(tree: Mapping[str, Any] | Sequence[str], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        for group, below in tree.items():
            yield from _walk(below, (str(group), *above))
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for value in tree:
            yield (_spelled(value), *above)
    else:
        raise HierarchyError(
            f"a category tree is made of tables and lists; {shown_value(above[0] if above else tree)} holds neither."
        )
