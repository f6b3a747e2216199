"""Everything that incrowd raises on purpose.

    IncrowdError                 anything below; the command line shows its message, without a traceback
    ├── SourceError              a file, database or frame cannot be read as a table
    │   ├── EmptyTable           it can be read, and holds no row
    │   ├── SourceChanged        it is not what it was when it was opened
    │   └── TallyTooLarge        it has more distinct tuples than one machine is to hold
    ├── SchemaError              a column is unknown, has no role, or has two
    ├── HierarchyError           a hierarchy contradicts itself
    │   └── UncoveredValue       a value of the table is missing from its hierarchy
    │       └── UnreadableLabel  a label of a published table stands for no value of its column
    ├── RecipeError              a recipe cannot be read or asks for something that does not exist
    ├── QueryError               a question to a release names what it does not have
    ├── AttackError              an attack lacks what it needs: a column, the table before, a person to look for
    ├── Unsatisfiable            no table that the method can reach satisfies every required model
    ├── ConformanceError         a method published what its models forbid: a fault, never a user's mistake
    ├── OutputError              the release cannot be written where it was asked to go
    └── BudgetSpent              a question would cost more privacy than is left

A message says what was wrong, where, and what to do. It may quote names of columns, labels of hierarchies and
parameters; values of the table it quotes only where a user must see them to mend a hierarchy, at most five
(`UncoveredValue.values`), and never when `quote_values` is switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class IncrowdError(Exception):
    """Base of every error that incrowd raises on purpose."""


class SourceError(IncrowdError):
    """A file, database or frame cannot be read as a table."""


class EmptyTable(SourceError):
    """The source can be read and holds no row."""


class SourceChanged(SourceError):
    """A file is not what it was when it was opened."""

    def __init__(self, where: object, gone: bool = False) -> None:
        what = "is gone" if gone else "has changed"
        super().__init__(f"{where}: the file {what} since it was opened.  Hint: read it again.")


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


class HierarchyError(IncrowdError):
    """A hierarchy contradicts itself."""


class UncoveredValue(HierarchyError):
    """A value of the table is missing from its column's hierarchy."""

    def __init__(self, column: str, values: Sequence[object], total: int) -> None:
        self.column = column
        self.values = tuple(values)[:5]
        self.total = total
        super().__init__(column, self.values, total)

    def __str__(self) -> str:
        return self.describe(quote_values=True)

    def describe(self, *, quote_values: bool) -> str:
        """Return the message, with the offending values only where they may be seen (design promise 8)."""
        noun = "value" if self.total == 1 else "values"
        text = f"column '{self.column}': {self.total} distinct {noun} not in its hierarchy"
        if quote_values:
            shown = ", ".join(repr(value) for value in self.values)
            more = f" and {self.total - len(self.values)} more" if self.total > len(self.values) else ""
            text += f": {shown}{more}"
        return text + ".  Hint: add them to the hierarchy, or correct them in the table."


class UnreadableLabel(UncoveredValue):
    """A label of a published table stands for no value of its column."""

    def describe(self, *, quote_values: bool) -> str:
        """Return the message, with the labels only where they may be seen."""
        noun = "label stands" if self.total == 1 else "labels stand"
        text = f"column '{self.column}': {self.total} {noun} for no value of the original table"
        if quote_values:
            text += ": " + ", ".join(repr(value) for value in self.values)
        return text + ".  Hint: give the column the hierarchy that the labels were made with."


class RecipeError(IncrowdError):
    """A recipe cannot be read or asks for something that does not exist."""


class QueryError(IncrowdError):
    """A question to a release names what the release does not have."""


class AttackError(IncrowdError):
    """An attack lacks what it needs: a column, the table before, or somebody to look for."""


class Unsatisfiable(IncrowdError):
    """No table that the method can reach satisfies every required model; says what was tried and how far it got."""


class ConformanceError(IncrowdError):
    """A method published what its models forbid. This is a fault in the method; nothing was released."""


class OutputError(IncrowdError):
    """The release cannot be written where it was asked to go."""


class BudgetSpent(IncrowdError):
    """A question would cost more privacy than is left; nothing was computed from the table for it."""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known words, or all of them when there are few.

    >>> did_you_mean("agge", ["age", "sex"])
    "  Hint: did you mean 'age'?"
    """
    known = list(known)
    near = get_close_matches(wrong, known, n=3, cutoff=0.6)
    if near:
        return "  Hint: did you mean " + " or ".join(f"'{name}'" for name in near) + "?"
    if known:
        shown = ", ".join(f"'{name}'" for name in known[:12])
        return f"  Hint: there are {shown}" + (", …" if len(known) > 12 else "") + "."
    return ""
