"""The directory of a release: made whole, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from incrowd.common.paths import is_there
from incrowd.core.families import published_forms, registered
from incrowd.errors import OutputError

TEXTS = ("recipe.toml", "summary.json")
"""What is in every release beside its tables."""
_LONGEST_NAME = 200
"""Bytes of a directory's name: file systems take 255, and a release has a longer one while it is made."""


@contextmanager
def new_directory(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a directory to write in that becomes `target` when all went well, and vanishes when anything did not."""
    require_free(target, force=force)
    target = target.absolute()
    new_parents = [parent for parent in target.parents if not is_there(parent)]
    # Named before it is made: an interruption that arrives in between must know what to take away.
    place = target.parent / f".{target.name}.{secrets.token_hex(6)}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=0o700)
        yield place
        place.chmod(0o777 & ~_umask())
        _move_into_place(place, target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or type(error).__name__}.") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
        _remove_empty(new_parents)


def require_free(target: Path, *, force: bool) -> None:
    """Refuse a place that is taken, or that nothing can be written to."""
    there = is_there(target)
    if there and not force:
        raise OutputError(
            f"{target} exists already.  Hint: choose another directory, or replace it with force (--force)."
        )
    if there and not (target.is_dir() and is_release(target)):
        raise OutputError(
            f"{target} is not a release, or holds other files besides; it is not replaced.  "
            "Hint: choose another directory."
        )
    if "\0" in str(target) or len(os.fsencode(target.name)) > _LONGEST_NAME:
        raise OutputError(f"{target} cannot be written: no directory can have such a name.")
    above = next((parent for parent in target.absolute().parents if is_there(parent)), Path("/"))
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{target} cannot be written: {above} is not a directory that you may write to.")


def require_directory(directory: Path) -> None:
    """Make a directory for loose files where there is none yet."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory} cannot be written: {error.strerror}.") from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise OutputError(f"{directory} is not a directory that you may write to.")


def is_release(directory: Path) -> bool:
    """Whether a directory holds a release, or nothing, and no other file that would be lost with it."""
    tables = {"data", *(table for form in published_forms().values() for table in form.other_tables)}
    members = {*TEXTS, *(f"{table}.{format}" for table in tables for format in registered("sinks"))}
    found = {path.name for path in directory.iterdir()}
    return found <= members and (not found or "summary.json" in found)


def _remove_empty(directories: list[Path]) -> None:
    for directory in directories:  # from the innermost on
        with suppress(OSError):  # something is in it, or it was never made
            directory.rmdir()


def _move_into_place(place: Path, target: Path) -> None:
    if not target.exists():
        place.rename(target)
        return
    with tempfile.TemporaryDirectory(
        prefix=f".{target.name}.old.", dir=target.parent, ignore_cleanup_errors=True
    ) as beside:
        old = Path(beside) / "release"
        try:
            target.rename(old)
            place.rename(target)
        except BaseException:  # also when interrupted: the release that was there stays
            if old.exists() and not target.exists():
                old.rename(target)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
