"""A table that is piped in: `-` as its path. It is held in memory, since tables are read more than once."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from incrowd.errors import EmptyTable, SourceError

PIPE = "-"
"""What stands for standard input, or output, in place of a path."""


def is_pipe(given: object) -> bool:
    """Whether what was given stands for standard input."""
    return isinstance(given, str) and given == PIPE


@cache
def piped() -> Path:
    """Return the path of a file that holds what is piped in; the second time, of the same one."""
    if sys.stdin is None or sys.stdin.isatty():
        raise SourceError("-: nothing is piped in.  Hint: name a file, or write: cat people.csv | incrowd …")
    path = _in_memory()
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    if not path.stat().st_size:
        raise EmptyTable("-: nothing came through the pipe.")
    return path


def _in_memory() -> Path:
    """Return the path of a new file in memory; where the system has none, of one that nobody else may read."""
    if Path("/proc/self/fd").is_dir():
        return Path(f"/proc/self/fd/{os.memfd_create('incrowd')}")
    place = tempfile.mkdtemp(prefix="incrowd-")  # only its owner may look into it
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place) / "piped"
