"""How much memory this process may use: what the machine has, or less where a limit is set."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from incrowd.common import systems

_CGROUP = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_STATM = Path("/proc/self/statm")
_UNKNOWN = 8 << 30
_GIGABYTE = 1e9


@cache
def memory_limit() -> int:
    """Return the least of the limits that are set, in bytes."""
    return min(_of_the_machine(), *_of_the_group(), *_of_the_process())


def address_space_left() -> int | None:
    """Return how much `ulimit -v` leaves, in bytes; None where there is no such limit, or it cannot be told."""
    limits = _of_the_process()
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[0]) if limits else 0
    except (OSError, ValueError):
        return None
    return limits[0] - pages * os.sysconf("SC_PAGE_SIZE") if limits else None


def in_gigabytes(size: int) -> str:
    """Return a number of bytes for people.

    >>> in_gigabytes(11_530_000_000)
    '11.5 GB'
    """
    return f"{size / _GIGABYTE:.1f} GB"


def _of_the_machine() -> int:
    if systems.WINDOWS:
        return _of_windows()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _of_windows() -> int:
    """Ask Windows, whose answer is a record of nine numbers: its own length, the load, and seven sizes."""
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (("length", ctypes.c_uint32), ("load", ctypes.c_uint32), ("sizes", ctypes.c_uint64 * 7))

    status = Status(length=ctypes.sizeof(Status))
    try:
        told = systems.kernel().GlobalMemoryStatusEx(ctypes.byref(status))
    except (AttributeError, OSError):
        told = 0
    return int(status.sizes[0]) if told else _UNKNOWN


def _of_the_group() -> list[int]:
    """Return what a container allows."""
    found = []
    for path in _CGROUP:
        try:
            text = path.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():  # "max" is no limit
            found.append(int(text))
    return found


def _of_the_process() -> list[int]:
    """Return what `ulimit -v` allows."""
    try:
        import resource
    except ImportError:
        return []
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if soft == resource.RLIM_INFINITY else [soft]
