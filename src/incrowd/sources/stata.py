"""Stata (.dta)."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.sources.labelled import open_labelled

_MAGIC = b"<stata_dta>"
# Before version 13: the version, the order of bytes, and what is always 1 and 0.
_OLD = tuple(bytes([version, order, 1, 0]) for version in range(104, 116) for order in (1, 2))


@dataclass(frozen=True)
class StataFile(Source):
    """A file of Stata, with its labels."""

    name: ClassVar[str] = "stata"
    accepts: ClassVar[str] = "the path of a Stata file"
    suffixes: ClassVar[tuple[str, ...]] = (".dta",)

    def recognizes(self, location: Location) -> bool:
        """By the first bytes."""
        return location.head.startswith((_MAGIC, *_OLD))

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Read it."""
        assert location.path is not None
        return open_labelled(location.path, options, "dta", program="Stata")
