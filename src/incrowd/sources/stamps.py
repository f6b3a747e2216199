"""Whether files are still what they were when they were opened.

A file is known by what the system says of it (its place on the disk, its size, when it was changed) and by its first
and last bytes, where programs that set times back, or file systems that tell none, would otherwise go unseen.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from incrowd.errors import SourceChanged

Stamp: TypeAlias = tuple[int | bytes, ...]

_LOOKED_AT = 1 << 12
# The clock of file systems ticks every 1 to 10 milliseconds: two changes within one tick have the same time.
_TICK_NS = 20_000_000
_PER_SECOND = 1e9


def watch(*files: Path) -> Callable[[], None]:
    """Return what raises `SourceChanged`, from now on, if one of the files has changed."""
    # The working directory may be another by then.
    places = {file: file.absolute() for file in files}
    _wait_for_the_clock(places.values())
    stamps = {file: _stamp(place) for file, place in places.items()}

    def require_unchanged() -> None:
        for file, stamp in stamps.items():
            try:
                now = _stamp(places[file])
            except FileNotFoundError:
                raise SourceChanged(file, gone=True) from None
            except OSError:
                now = ()
            if now != stamp:
                raise SourceChanged(file)

    return require_unchanged


def _stamp(path: Path) -> Stamp:
    """Return what tells a file from any other, and from itself after a change."""
    with path.open("rb") as file:
        known = os.fstat(file.fileno())
        ends = hashlib.blake2b(file.read(_LOOKED_AT))
        file.seek(max(0, known.st_size - _LOOKED_AT))
        ends.update(file.read(_LOOKED_AT))
    # The second time is that of any change at all, where the system knows one, and nobody can set it back.
    return known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns, ends.digest()


def _wait_for_the_clock(paths: Iterable[Path]) -> None:
    """Wait until a change that comes now has another time than the last one."""
    passed = time.time_ns() - max(path.stat().st_mtime_ns for path in paths)
    if 0 <= passed < _TICK_NS:
        time.sleep((_TICK_NS - passed) / _PER_SECOND)
