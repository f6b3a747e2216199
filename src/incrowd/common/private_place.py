"""A hidden directory beside a target, in which a run makes what is then moved there in one step.

It is called `.NAME.<12 digits>.incrowd`, only its owner may look into it, and its run holds a lock on a file in it. A
run that is killed cannot take it away; the lock goes with the process, and the next run to the same target does. On a
file system without locks nobody can tell whether a run still lives, so there such directories stay.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
_SUFFIX = ".incrowd"
_TRIES = 10

Settle = Callable[[Path], bool]
"""Puts right what a run left half done in its place, and tells whether the place may go."""


@contextmanager
def private_place(target: Path, settle: Settle = lambda _: True) -> Iterator[Path]:
    """Give an empty directory beside `target`, and take it away in the end, whatever happens."""
    clear_abandoned(target, settle)
    new_parents = [parent for parent in target.parents if not parent.exists()]
    place, handle = _name(target), None
    try:
        for tries_left in reversed(range(_TRIES)):
            # Named before it is made: an interruption that arrives in between must know what to take away.
            place = _name(target)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                place.mkdir(mode=0o700)
                handle = _lock(place, required=False)
            except FileNotFoundError:  # another run took away what it had made, and this one was about to use
                if not tries_left:
                    raise
            if handle is not None:
                break
        yield place
    finally:
        try:
            _remove(place, settle)
        except BaseException:  # interrupted: what was begun is ended
            _remove(place, settle)
            raise
        finally:
            if handle is not None:
                os.close(handle)
            for parent in new_parents:  # from the innermost on
                with suppress(OSError):  # something is in it, or it was never made
                    parent.rmdir()


def clear_abandoned(target: Path, settle: Settle = lambda _: True) -> None:
    """Take away the places of runs to this target that were killed; those of living runs stay."""
    own = re.compile(re.escape(_prefix(target)) + "[0-9a-f]{12}" + re.escape(_SUFFIX))
    with suppress(OSError), os.scandir(target.parent) as entries:
        for place in [Path(entry.path) for entry in entries if own.fullmatch(entry.name)]:
            with suppress(OSError):
                _clear(place, settle)


def _clear(place: Path, settle: Settle) -> None:
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        return  # not ours: another user may have made it in order that we touch what it leads to
    handle = _lock(place, required=True)
    if handle is None:
        return
    try:
        _remove(place, settle)
    finally:
        os.close(handle)


def _remove(place: Path, settle: Settle) -> None:
    if place.is_dir() and settle(place):
        shutil.rmtree(place, ignore_errors=True)


def _lock(place: Path, *, required: bool) -> int | None:
    """Hold the lock of a place; None where another process does, or has just taken the place away."""
    path = place / LOCK
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if fcntl is None:
            raise OSError
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(path.stat(), os.fstat(handle)):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:  # this file system has no locks
        if not required:
            return handle
    os.close(handle)
    return None


def _name(target: Path) -> Path:
    return target.parent / f"{_prefix(target)}{secrets.token_hex(6)}{_SUFFIX}"


def _prefix(target: Path) -> str:
    name = target.name
    if len(name) > 40:  # a name may be so long that there is no room for anything more
        name = f"{name[:40]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"
    return f".{name}."
