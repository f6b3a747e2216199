"""What is kept of rows, where a person has several: what an adversary may know of a person's visits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass
from incrowd.core.source import OpenedTable


@dataclass(frozen=True, eq=False)
class KeptTable:
    """A published table in which people may have several rows, and the table that it was made of.

    `columns` are published as they are; `events` is the table's name where it is one of events.
    """

    columns: tuple[str, ...]
    published: Callable[[], Iterable[pl.DataFrame]]
    before: OpenedTable | None = None
    events: str = ""


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The same in numbers. Published row i is in group `groups[i]`, of history `histories[i]`, and shows `shown[i]`.

    What is known: person `owner[j]` has `times[j]` rows that show `known[j]`, and the codes `tuples[j]` in the columns
    that may be known.
    """

    columns: tuple[str, ...]
    events: str
    linked: bool
    """Whether rows of one person are known to be one person's: otherwise each row is a history of its own."""
    groups: Ints
    histories: Ints
    shown: Ints
    owner: Ints
    known: Ints
    times: Ints
    tuples: Codes
    everybody: int
    """The people of the table; those who are tried may be fewer."""
    rows: int
    """The rows of the table."""
