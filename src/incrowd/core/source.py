"""Where tables come from: what an opened table is, how it may be read, and what every kind of source can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import ClassVar, Protocol, TypedDict

import polars as pl

from incrowd.common.arrays import Counts
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.common.surface import option
from incrowd.core.codebook import Codebook
from incrowd.errors import SourceError, did_you_mean
from incrowd.hierarchies.texts import AS_THEY_LOOK, TextRules


class Origin(Protocol):
    """What is known of a table that was opened, wherever its rows are."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        ...

    @property
    def native(self) -> str:
        """What the caller handed in, so that a result can be given back as the same kind."""
        ...

    @property
    def description(self) -> Mapping[str, object]:
        """What opens the same table again, in types that TOML knows, and never a password."""
        ...

    @property
    def found_out(self) -> tuple[str, ...]:
        """Which of the description's keywords nobody stated: they were read off the rows, and so may tell of one."""
        ...

    @property
    def texts(self) -> TextRules:
        """Which of its texts are one value, and which are missing."""
        ...

    @property
    def codebook(self) -> Codebook | None:
        """What a file of a statistics program says of its columns."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What its owner should know of how it was read."""
        ...


def _nothing_to_require() -> None:
    """Rows in memory stay what they are."""


class DistinctCounts(Protocol):
    """Counts distinct tuples of a table's rows, faster than its frame does."""

    def distinct(self, columns: Sequence[str], *, each_once: bool = True) -> tuple[pl.DataFrame, Counts] | None:
        """Return the distinct tuples of columns and how many rows have each; None where only the frame can tell.

        If a tuple need not be listed `each_once`, it may be there once for each thread that counted: for those who will
        bring equal ones together anyway.
        A column of texts may be an Enum of those that are in it, which need not be numbered again.
        """
        ...


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A table on this machine that can be read, as often as needed, and what is known of it before its rows are.

    `description` holds what opens the same table again: the path or the URL and the keywords of `open_source`, in
    types that TOML knows, and never a password. A frame that came from the caller has only its kind.
    """

    frame: pl.LazyFrame
    """All columns, normalized: no NaN, no negative zero, no category, nothing nested. Every column of a CSV is text."""
    columns: tuple[str, ...]
    native: str
    """What the caller handed in, so that a result can be given back as the same kind."""
    description: Mapping[str, object]
    in_memory: bool
    """Whether the rows are in memory already; otherwise each collect reads them from where they are."""
    found_out: tuple[str, ...] = ()
    """Which of the description's keywords nobody stated: they were read off the rows, and so may tell of one."""
    texts: TextRules = AS_THEY_LOOK
    """Which of its texts are one value, and which are missing; applied to distinct values when these are counted."""
    notes: tuple[str, ...] = ()
    """What its owner should know of how it was read: columns left out, columns that are text but for some rows."""
    stated: Callable[[], OpenedTable] | None = None
    """Opens the same rows by what was stated and by nothing that was found in them; None where that is the same."""
    require_unchanged: Callable[[], None] = _nothing_to_require
    """Raises `SourceChanged` unless what is read is still what was opened; asked before and after each time."""
    categorical: frozenset[str] = frozenset()
    """Columns that are categories where the table comes from, and texts in `frame`."""
    codebook: Codebook | None = None
    """What a file of a statistics program says of its columns: labels, and codes for missing."""
    faster: tuple[pl.LazyFrame, DistinctCounts] | None = None
    """What counts the rows of a frame faster, and that frame: it knows nothing of any other."""
    most_rows: int | None = None
    """There are no more rows than this; None where nobody has counted them."""

    @property
    def counter(self) -> DistinctCounts | None:
        """What counts these rows faster, if there is such a thing and the frame is still the one it was made for."""
        return self.faster[1] if self.faster is not None and self.faster[0] is self.frame else None


class Reading(TypedDict, total=False):
    """The keywords of everything that reads a table; `ReadOptions` tells what they mean."""

    query: str | None
    separator: str | None
    quote: str | None
    encoding: str | None
    missing: Sequence[str]
    exact_text: bool
    sheet: str | int | None
    header_row: int | None
    value_labels: str | None
    missing_codes: str | None
    header: bool | Sequence[str] | None
    decimal: str | None
    written: Mapping[str, str] | str | None


_ALWAYS = ("missing", "exact_text", "lists", "only_stated")
"""What means something for every kind of source."""
_ONE_OF = {"value_labels": ("text", "codes"), "missing_codes": ("missing", "values")}


@dataclass(frozen=True)
class ReadOptions:
    """How a source is to be read; what is None is found out.

    `query` is a SELECT or a table's name; `separator`, `quote` (empty: no field is quoted) and `encoding` are those of
    a text file; texts that are listed in `missing`, for example "?" or "NA", are null. With `exact_text`, texts that
    differ in spaces around them or in how Unicode spells a letter are different values. The columns in `lists` may hold
    lists of plain values; None is any column, for readers that do not look at such columns. `sheet` is the name or the
    number of a workbook's sheet, and `header_row` the number of the row that names its columns. Values that a
    statistics program has labels for are shown by these, unless `value_labels` is "codes"; its codes for missing are
    missing, unless `missing_codes` is "values".

    Of a text file, `header` is False or the columns' names where the first line is a row, and True where it holds
    names; `decimal` is the sign in its numbers, "," or "."; and `written` tells by column how numbers and dates are
    written ("1.234,5", "dd.mm.yyyy"), or "plain": as they are, and nothing is found out. With `only_stated`, no row
    decides how another one is read, or whether the file is.
    """

    query: str | None = None
    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    exact_text: bool = False
    lists: tuple[str, ...] | None = ()
    sheet: str | int | None = None
    header_row: int | None = None
    value_labels: str | None = None
    missing_codes: str | None = None
    header: bool | Sequence[str] | None = None
    decimal: str | None = None
    written: Mapping[str, str] | str | None = None
    only_stated: bool = False

    def __post_init__(self) -> None:
        self._require_kinds()
        if not isinstance(self.exact_text, bool):
            raise SourceError(f"{option('exact_text')} is true or false.")
        # A text is a sequence of texts too, and "NA" would become "N" and "A".
        if isinstance(self.missing, str) or not all(isinstance(word, str) for word in self.missing):
            raise SourceError(
                f"{option('missing')} takes a list of texts, for example {option('missing', ['?', 'NA'])}."
            )
        object.__setattr__(self, "missing", tuple(self.missing))
        if self.decimal not in (None, ",", "."):
            raise SourceError(f"{option('decimal')} is ',' or '.'.")
        if self.header is not None and not isinstance(self.header, bool) and not _are_texts(self.header):
            raise SourceError(f"{option('header')} is true, false, or a list of the columns' names.")
        if self.written is not None and self.written != "plain" and not isinstance(self.written, Mapping):
            example = option("written", {"born": "dd.mm.yyyy"}, section="source")
            raise SourceError(f"{option('written')} tells by column how it is written, for example {example}.")

    @classmethod
    def of(cls, reading: Reading, *, lists: tuple[str, ...] | None = (), only_stated: bool = False) -> ReadOptions:
        """Return what the keywords of a caller say; others are refused as Python refuses them."""
        for name in reading:
            if name not in Reading.__annotations__:
                raise TypeError(f"there is no keyword '{name}'.{did_you_mean(name, Reading.__annotations__)}")
        return cls(**reading, lists=lists, only_stated=only_stated)

    @property
    def stated(self) -> bool:
        """Whether anything is said of how to read."""
        return self != ReadOptions(lists=self.lists, only_stated=self.only_stated)

    def _require_kinds(self) -> None:
        for name, words in _ONE_OF.items():
            if getattr(self, name) not in (None, *words):
                raise SourceError(f"{option(name)} is {' or '.join(repr(word) for word in words)}.")
        if self.sheet is not None and (isinstance(self.sheet, bool) or not isinstance(self.sheet, (str, int))):
            raise SourceError(f"{option('sheet')} is the name of a sheet, or its number from 1.")
        row = self.header_row
        if row is not None and (isinstance(row, bool) or not isinstance(row, int) or row < 1):
            raise SourceError(f"{option('header_row')} is the number of a row, from 1.")

    @property
    def dialect(self) -> dict[str, str | None]:
        """What is stated of a text file."""
        return {"separator": self.separator, "quote": self.quote, "encoding": self.encoding}

    @property
    def cells(self) -> dict[str, object]:
        """What is stated of the header and the cells of a text file, in the words of a recipe."""
        header = self.header if self.header is None or isinstance(self.header, bool) else list(self.header)
        written = dict(self.written) if isinstance(self.written, Mapping) else self.written
        told = {"header": header, "decimal": self.decimal, "written": written}
        return {key: value for key, value in told.items() if value is not None}

    @property
    def texts(self) -> TextRules:
        """Which texts are one value."""
        return TextRules(self.exact_text, tuple(self.missing))

    def refuse_all_but(self, used: Iterable[str], what: str) -> None:
        """Raise a `SourceError` if a keyword is stated that means nothing for a source."""
        unused = [one.name for one in fields(self) if one.name not in (*used, *_ALWAYS)]
        names = [option(name) for name in unused if getattr(self, name) is not None]
        if names:
            raise SourceError(f"{what}, so {' and '.join(names)} cannot be used.")

    def refuse_all(self, what: str) -> None:
        """Raise a `SourceError` if any keyword is stated."""
        self.refuse_all_but((), what)
        for name in ("missing", "exact_text"):
            if getattr(self, name):
                raise SourceError(f"{what}, so {option(name)} cannot be used.")


def _are_texts(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, str) for one in value)


@dataclass(frozen=True)
class Location:
    """Where a table is: what the caller gave, and what can be told of it without opening it."""

    given: object
    path: Path | None = None
    """The file, folder or pattern of files that a path names."""
    scheme: str = ""
    """What a URL begins with, in lower case: `sqlite` of `sqlite:///people.db`."""
    head: bytes = field(default=b"", repr=False)
    """The first bytes of a file."""

    @property
    def suffix(self) -> str:
        """How a file's name ends, in lower case: `.csv`."""
        return "" if self.path is None else self.path.suffix.lower()


class Source(Named, Protocol):
    """A kind of place that tables come from. Implementations are frozen dataclasses that inherit from this, one file
    each: they are asked in turn, and the first that recognizes a location opens it.
    """

    fallback: ClassVar[bool] = False
    """Whether it is asked only when no other one recognizes a location."""
    accepts: ClassVar[str]
    """What it opens, for messages: "a Parquet file"."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """How the names of its files end: `.parquet`."""
    schemes: ClassVar[tuple[str, ...]] = ()
    """What its URLs begin with: `sqlite` of `sqlite:///people.db`."""

    def recognizes(self, location: Location) -> bool:
        """Whether a location is of this kind, told without reading more than its first bytes; by its suffix or scheme,
        unless a kind knows better.
        """
        return (location.suffix or None) in self.suffixes or (location.scheme or None) in self.schemes

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Open it, or raise `SourceError` without quoting what is in it."""
        ...
