"""SPSS: system files (.sav, .zsav) and portable files (.por)."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.sources.labelled import open_labelled

_MAGIC = (b"$FL2", b"$FL3")


@dataclass(frozen=True)
class SpssFile(Source):
    """A file of SPSS, with its labels and its codes for missing."""

    name: ClassVar[str] = "spss"
    accepts: ClassVar[str] = "the path of an SPSS file"
    suffixes: ClassVar[tuple[str, ...]] = (".sav", ".zsav", ".por")

    def recognizes(self, location: Location) -> bool:
        """By the first bytes; a portable file, whose first bytes may be anything, by its name."""
        return location.head.startswith(_MAGIC) or bool(location.head and location.suffix == ".por")

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Read it."""
        path = location.path
        assert path is not None
        if location.head.startswith(_MAGIC):
            return open_labelled(path, options, "sav", program="SPSS", codes_for_missing=True)
        return open_labelled(path, options, "por", program="SPSS")
