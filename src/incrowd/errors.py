"""Everything that incrowd raises on purpose.

    IncrowdError                 anything below; the command line shows its message, without a traceback
    ├── SourceError              a file, database or frame cannot be read as a table
    │   ├── EmptyTable           it can be read, and holds no row
    │   ├── SourceChanged        it is not what it was when it was opened
    │   └── TallyTooLarge        it has more distinct tuples than one machine is to hold
    ├── SchemaError              a column is unknown, has no role, or has two
    │   └── NeedsTable           what is asked takes the table that a release was made from, or its population
    ├── HierarchyError           a hierarchy contradicts itself
    │   └── UncoveredValue       a value of the table is missing from its hierarchy
    │       └── UnreadableLabel  a label of a published table stands for no value of its column
    ├── RecipeError              a recipe cannot be read or asks for something that does not exist
    ├── QueryError               a question to a release names what it does not have
    ├── AttackError              an attack lacks what it needs: a column, the table before, a person to look for
    ├── Unsatisfiable            no table that the method can reach satisfies every required model
    │   └── UnsafeTogether       a release does by itself, and not together with earlier ones of the same people
    ├── ConformanceError         a method published what its models forbid: a fault, never a user's mistake
    ├── OutputError              the release cannot be written where it was asked to go
    ├── MissingExtra             a package is not installed that not everybody needs; also an ImportError
    ├── LedgerError              a ledger cannot be used, or was tampered with
    └── BudgetSpent              a question would cost more privacy than is left

and warns of:

    CompileCacheWarning          compiled code cannot be kept on disk, so that every run compiles it again
    FormulaWarning               a file holds cells that a spreadsheet would run as formulas
    ReadingWarning               a file was read in a way that its owner should know
    SecrecyWarning               a secret file could not be kept from other users of the machine
    UndeclaredWarning            under differential privacy, rows were left out because of what they hold

A message says what was wrong, where, and what to do. It may quote names of columns, labels of hierarchies and
parameters, and no value of the table: errors are logged, sent and kept. Values that a user must see to mend a
hierarchy, at most five, are in `UncoveredValue.values`; the command line shows them on a terminal and nowhere else.
Names of columns may be values, too, where a file has no header: `some_columns` and `similar_columns` do not quote such
names. Nothing in a message can move a cursor or start a line (`escaped`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import accumulate

_LONGEST_LIST = 1200
LONGEST_NAME = 64
"""A name of a column that is longer is not quoted: it may be a whole record."""

_LOOKS_LIKE_DATA = re.compile(
    r"""^\s*[+-]?[\d.,]*\d[\d.,]*\s*%?$      # a number
    | \d{1,4}[-./]\d{1,2}[-./]\d{1,4}     # a date
    | \d{5}                              # a code
    | [@{}<>"\t|;]                       # an address of mail, or a record of another format
    """,
    re.VERBOSE,
)


def escaped(text: str) -> str:
    r"""Return the text on one line, with nothing in it that a terminal, a log or a page would obey.

    >>> escaped("zip\ncode")
    'zip\\ncode'
    """
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else character
        for character in text
    )


class IncrowdError(Exception):
    """Base of every error that incrowd raises on purpose."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(escaped(part) if isinstance(part, str) else part for part in args))


class SourceError(IncrowdError):
    """A file, database or frame cannot be read as a table."""


class EmptyTable(SourceError):
    """The source can be read and holds no row."""


class SourceChanged(SourceError):
    """A file is not what it was when it was opened."""

    def __init__(self, where: object, gone: bool = False) -> None:
        self.where, self.gone = str(where), gone
        what = "is gone" if gone else "has changed"
        super().__init__(f"{where}: the file {what} since it was opened.  Hint: read it again.")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.where, self.gone)


class TallyTooLarge(SourceError):
    """A table has more distinct tuples than one machine is to hold."""

    def __init__(self, tuples: int, limit: int, why: str = "", hint: str = "round or drop columns") -> None:
        self.tuples = tuples
        self.limit = limit
        super().__init__(
            f"the table has {tuples:,} distinct tuples of quasi-identifiers and sensitive values, and one machine is "
            f"to hold {limit:,} at most{why}.  Hint: {hint}."
        )


class SchemaError(IncrowdError):
    """A column is unknown, has no role, or has two."""


class NeedsTable(SchemaError):
    """What is asked cannot be answered without the table that a release was made from, or its population."""


class HierarchyError(IncrowdError):
    """A hierarchy contradicts itself."""


class UncoveredValue(HierarchyError):
    """A value of the table is missing from its column's hierarchy.

    `values` are some of them, to be shown to whoever may see the table; no message, log or copy of the error has them.
    """

    def __init__(self, column: str, values: Sequence[object], total: int) -> None:
        self.column = column
        self.values = tuple(values)[:5]
        self.total = total
        super().__init__(self.describe(quote_values=False))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.column, (), self.total)

    def describe(self, *, quote_values: bool) -> str:
        """Return the message, with the offending values only where they may be seen (design promise 8)."""
        noun = "value" if self.total == 1 else "values"
        text = f"column '{self.column}': {self.total} distinct {noun} not in its hierarchy"
        hint = "add them to the hierarchy, or correct them in the table"
        return escaped(text + self._listed(quote_values) + f".  Hint: {hint}.")

    def _listed(self, quote_values: bool) -> str:
        if not quote_values or not self.values:
            return ""
        more = f" and {self.total - len(self.values)} more" if self.total > len(self.values) else ""
        return ": " + ", ".join(repr(value) for value in self.values) + more


class UnreadableLabel(UncoveredValue):
    """A label of a published table stands for no value of its column."""

    def describe(self, *, quote_values: bool) -> str:
        """Return the message, with the labels only where they may be seen."""
        noun = "label stands" if self.total == 1 else "labels stand"
        text = f"column '{self.column}': {self.total} {noun} for no value of the original table"
        hint = "give the column the hierarchy that the labels were made with"
        return escaped(text + self._listed(quote_values) + f".  Hint: {hint}.")


class RecipeError(IncrowdError):
    """A recipe cannot be read or asks for something that does not exist."""


class QueryError(IncrowdError):
    """A question to a release names what the release does not have."""


class AttackError(IncrowdError):
    """An attack lacks what it needs: a column, the table before, or somebody to look for."""


class Unsatisfiable(IncrowdError):
    """No table that the method can reach satisfies every required model; says what was tried and how far it got."""


class UnsafeTogether(Unsatisfiable):
    """A release is safe by itself, and would tell too much of some people together with earlier ones."""

    def __init__(self, message: str, affected: int = 0) -> None:
        super().__init__(message)
        self.affected = affected

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.affected)


class ConformanceError(IncrowdError):
    """A method published what its models forbid. This is a fault in the method; nothing was released."""


class OutputError(IncrowdError):
    """The release cannot be written where it was asked to go."""


class MissingExtra(IncrowdError, ImportError):
    """A package is not installed that only some of incrowd needs."""

    def __init__(self, extra: str, what: str, package: str | None) -> None:
        self.extra, self.what, self.package = extra, what, package
        needed = "packages that are" if package is None else f"{package}, which is"
        super().__init__(f"{what} need {needed} not installed.  Hint: pip install 'incrowd[{extra}]'.")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.extra, self.what, self.package)


class LedgerError(IncrowdError):
    """A ledger is not there, cannot be used, or was changed by somebody else than incrowd."""


class BudgetSpent(IncrowdError):
    """A question would cost more privacy than is left; nothing was computed from the table for it."""


class CompileCacheWarning(UserWarning):
    """Compiled code cannot be kept on disk: everything works, and every run takes some seconds longer."""


class FormulaWarning(UserWarning):
    """A file was written that holds cells which a spreadsheet would run as formulas."""


class ReadingWarning(UserWarning):
    """A file was read in a way that its owner should know: a column was left out, or is text but for some rows."""


class SecrecyWarning(UserWarning):
    """A secret file was written that other users of this machine may be able to read."""


class UndeclaredWarning(UserWarning):
    """Under differential privacy, rows were left out because of what they hold. For the table's owner, nobody else."""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known words, or all of them.

    >>> did_you_mean("agge", ["age", "sex"])
    "  Hint: did you mean 'age'?"
    """
    known = list(known)
    near = get_close_matches(wrong, known, n=3, cutoff=0.6)
    if near:
        return "  Hint: did you mean " + " or ".join(f"'{name}'" for name in near) + "?"
    if known:
        return f"  Hint: there are {_quoted(known)}."
    return ""


def _quoted(names: Sequence[str]) -> str:
    """Return all names in quotes; where they would fill a screen, those that do not, and how many more there are.

    >>> _quoted(["age", "sex"]), _quoted(["x" * 500] * 9)[-11:]
    ("'age', 'sex'", ' and 7 more')
    """
    shown = [f"'{name}'" for name in names]
    ends = list(accumulate(len(text) + 2 for text in shown))
    fit = max(sum(end <= _LONGEST_LIST for end in ends), 1)
    more = f" and {len(shown) - fit} more" if fit < len(shown) else ""
    return ", ".join(shown[:fit]) + more


def looks_like_data(names: Iterable[str]) -> bool:
    """Whether names of columns are rather somebody's values: the first line of a file that has no header.

    >>> looks_like_data(["age", "sex"]), looks_like_data(["Anna Smith", "1987-11-03"])
    (False, True)
    """
    return any(len(name) > LONGEST_NAME or not name.strip() or _LOOKS_LIKE_DATA.search(name) for name in names)


def some_columns(names: Sequence[str], *, of: Iterable[str]) -> str:
    """Return names of a table's columns, to follow a colon; or what else may be said of them.

    `of` are the names of all columns: where one of them looks like data, none is quoted.
    """
    if looks_like_data(of):
        return "names that look like data, and are not quoted; is there a header?"
    return _quoted(names)


def quotable(name: str) -> str:
    """Return a column's name as a message may quote it: not at all where it looks like data.

    >>> quotable("age"), quotable("1987-11-03")
    ('age', '…')
    """
    return "…" if looks_like_data([name]) else escaped(name)


def similar_columns(wrong: str, columns: Iterable[str]) -> str:
    """Return a hint that names the columns nearest to a wrong name; the others are not listed.

    >>> similar_columns("agge", ["age", "sex"])
    "  Hint: did you mean 'age'?"
    >>> similar_columns("age", ["Anna Smith", "1987-11-03"])
    '  Hint: the names of its 2 columns look like data; the first line of a file must hold names.'
    """
    columns = list(columns)
    number = f"{len(columns)} column{'s' * (len(columns) != 1)}"
    if looks_like_data(columns):
        return f"  Hint: the names of its {number} look like data; the first line of a file must hold names."
    near = get_close_matches(wrong, columns, n=3, cutoff=0.6)
    if near:
        return did_you_mean(wrong, near)
    return f"  Hint: it has {number}; `incrowd profile` shows their names." if columns else ""
