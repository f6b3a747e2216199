"""SAS: data sets (.sas7bdat) and transport files (.xpt)."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.source import Location, OpenedTable, ReadOptions, Source
from incrowd.sources.labelled import open_labelled

_DATA_SET = bytes(12) + b"\xc2\xea\x81\x60"
_TRANSPORT = b"HEADER RECORD***"
_CATALOGUE = ".sas7bcat"


@dataclass(frozen=True)
class SasFile(Source):
    """A file of SAS; labels of values are in a catalogue, which is used where it is beside the file."""

    name: ClassVar[str] = "sas"
    accepts: ClassVar[str] = "the path of a SAS file"
    suffixes: ClassVar[tuple[str, ...]] = (".sas7bdat", ".xpt")

    def recognizes(self, location: Location) -> bool:
        """By the first bytes."""
        return location.head.startswith((_DATA_SET, _TRANSPORT)) and location.suffix != _CATALOGUE

    def open(self, location: Location, options: ReadOptions) -> OpenedTable:
        """Read it."""
        path = location.path
        assert path is not None
        if location.head.startswith(_TRANSPORT):
            return open_labelled(path, options, "xpt", program="SAS")
        return open_labelled(path, options, "sas7bdat", program="SAS", catalogue=_catalogue_of(path))


def _catalogue_of(path: Path) -> Path | None:
    """Return the catalogue of formats of a data set: the one of the same name, or SAS' usual one."""
    beside = (path.with_suffix(_CATALOGUE), path.with_name(f"formats{_CATALOGUE}"))
    return next((place for place in beside if place.is_file()), None)
