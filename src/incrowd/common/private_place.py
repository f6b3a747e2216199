"""A hidden directory beside a target, in which a run makes what is then moved there in one step.

It is called `.NAME.<12 digits>.incrowd`, only its owner may look into it, and its run holds a lock on a file in it. A
run that is killed cannot take it away; the lock goes with the process, and the next run to the same target does. On a
file system without locks nobody can tell whether a run still lives, so there such directories stay.

On Windows, a folder that only its owner may look into hands that on to what is made in it, and a release that is moved
out of it keeps it: nobody else could read it. So the folder is like any other there, and secret files are kept from
others one by one (`secrecy.py`).
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

from incrowd.common import systems
from incrowd.common.locks import Lock

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
    place, lock = _name(target), None
    try:
        for tries_left in reversed(range(_TRIES)):
            # Named before it is made: an interruption that arrives in between must know what to take away.
            place = _name(target)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                place.mkdir(mode=0o777 if systems.WINDOWS else 0o700)
                lock = _lock(place, required=False)
            except FileNotFoundError:  # another run took away what it had made, and this one was about to use
                if not tries_left:
                    raise
            if lock is not None:
                break
        yield place
    finally:
        try:
            _remove(place, settle, lock)
        except BaseException:  # interrupted: what was begun is ended
            _remove(place, settle, lock)
            raise
        finally:
            if lock is not None:
                lock.end()
            for parent in new_parents:  # from the innermost on
                with suppress(OSError):  # something is in it, or it was never made
                    parent.rmdir()


def clear_abandoned(target: Path, settle: Settle = lambda _: True) -> bool:
    """Take away the places of runs to this target that were killed; those of living runs stay. Tell if there were any.

    Of places that are in use, nothing is told.
    """
    own = re.compile(re.escape(_prefix(target)) + "[0-9a-f]{12}" + re.escape(_SUFFIX))
    found = False
    with suppress(OSError), os.scandir(target.parent) as entries:
        for place in [Path(entry.path) for entry in entries if own.fullmatch(entry.name)]:
            with suppress(OSError):
                found |= _clear(place, settle)
    return found


def _clear(place: Path, settle: Settle) -> bool:
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        return False  # not ours: another user may have made it in order that we touch what it leads to
    lock = _lock(place, required=True)
    if lock is None:
        return False
    try:
        _remove(place, settle, lock)
    finally:
        lock.end()
    return True


def _remove(place: Path, settle: Settle, lock: Lock | None) -> None:
    if place.is_dir() and settle(place):
        if systems.WINDOWS and lock is not None:
            lock.end()  # an open file cannot be removed there; whoever takes the lock now removes the rest, too
        shutil.rmtree(place, ignore_errors=True)


def _lock(place: Path, *, required: bool) -> Lock | None:
    """Hold the lock of a place; None where another process does, or has just taken the place away."""
    lock = Lock(place / LOCK, os.O_CREAT)
    try:
        if lock.take() and os.path.samestat(lock.path.stat(), os.fstat(lock.handle)):
            return lock
    except FileNotFoundError:
        pass
    except OSError:  # this file system has no locks
        if not required:
            return lock
    lock.end()
    return None


def _name(target: Path) -> Path:
    return target.parent / f"{_prefix(target)}{secrets.token_hex(6)}{_SUFFIX}"


def _prefix(target: Path) -> str:
    name = target.name
    if len(name) > 40:  # a name may be so long that there is no room for anything more
        name = f"{name[:40]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"
    return f".{name}."
