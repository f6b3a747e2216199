"""The directory of a release: made whole, or not at all.

It is made in a private place beside its target and moved there in one step, which refuses where anything is by then.
With `force` the new directory and the old one are exchanged in one step, and the old one is removed afterwards. So a
process that is killed at any moment leaves the old release or the new one, and whole; what it leaves beside is taken
away by the next run to the same target.

On a file system that cannot exchange (network ones mostly), the old release steps aside for a moment. A process that is
killed in that moment leaves it in its private place, and the next run puts it back.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from incrowd.common.moves import exchange, move_new
from incrowd.common.private_place import clear_abandoned, private_place
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.common.writing import WRITTEN, require_name, telling
from incrowd.core.families import published_forms, registered
from incrowd.errors import OutputError

TEXTS = ("recipe.toml", "summary.json", "labels.json")
"""What is in a release beside its tables; the last one where it has labels."""

_NEW, _OLD, _REPLACING, _GONE = "new", "old", "replacing", "gone"
"""What is in a private place: what is made, what stood aside for it, that one takes the other's place, what is gone."""


@dataclass(frozen=True)
class Contents:
    """What a directory must hold to be one that may be replaced: its marker, and nothing but its members."""

    noun: str
    marker: str
    members: Callable[[], frozenset[str]]
    or_empty: bool = True
    named_in: Callable[[str], frozenset[str]] = lambda text: frozenset()
    """Further members, which the marker's text names."""

    def recognize(self, directory: Path) -> bool:
        """Whether a directory holds that, or nothing, and no other file that would be lost with it."""
        if directory.is_symlink() or not directory.is_dir():
            return False
        found = {path.name for path in directory.iterdir()}
        others = found - self.members()
        if others and self.marker in found:
            others -= self.named_in((directory / self.marker).read_text(encoding="utf-8", errors="replace"))
        return not others and (self.marker in found or (self.or_empty and not found))


def _release_members() -> frozenset[str]:
    tables = {"data", *(table for form in published_forms().values() for table in form.other_tables)}
    return frozenset({*TEXTS, *_files_of(tables)})


def _files_of(tables: Iterable[str]) -> Iterator[str]:
    return (f"{table}.{format}" for table in tables for format in registered("sinks"))


def _tables_of_events(summary: str) -> frozenset[str]:
    """Return the files of tables that a release's summary tells of."""
    try:
        told = json.loads(summary).get("tables", {})
    except (ValueError, AttributeError):
        return frozenset()
    return frozenset(_files_of(told)) if isinstance(told, dict) else frozenset()


RELEASE = Contents("a release", "summary.json", _release_members, named_in=_tables_of_events)


@contextmanager
def new_directory(target: Path, *, force: bool, contents: Contents = RELEASE) -> Iterator[Path]:
    """Give a directory to write in that becomes `target` when all went well, and vanishes when anything did not."""
    require_free(target, force=force, contents=contents)
    written = False
    try:
        with telling(target):
            itself = _itself(target)
            with private_place(itself, partial(_settle, itself, contents)) as place:
                # Nobody else may look into the private place, so this one can have the permissions that it will keep.
                (place / _NEW).mkdir()
                yield place / _NEW
                _put(place, itself, target, force, contents)
                written = True
    except BaseException as interruption:
        if written:  # only the cleaning up was interrupted
            interruption.add_note(WRITTEN)
        raise


def require_free(target: Path, *, force: bool, contents: Contents = RELEASE) -> None:
    """Refuse a place that is taken, or that nothing can be written to; before, put right what a killed run left."""
    require_name(target)
    with telling(target):
        itself = _itself(target)
        clear_abandoned(itself, partial(_settle, itself, contents))
        if itself.is_symlink():
            raise OutputError(f"{target} is a symbolic link, which is not replaced.  Hint: name the directory itself.")
        if os.path.lexists(itself):
            _require_replaceable(itself, target, force, contents)
        above = next((parent for parent in itself.parents if os.path.lexists(parent)), Path("/"))
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise OutputError(f"{target} cannot be written: {above} is not a directory that you may write to.")
        _require_short_names(itself, above)


def clear_killed(target: Path, contents: Contents = RELEASE) -> bool:
    """Put right what killed runs to this target left; tell whether there was anything."""
    itself = _itself(target)
    return clear_abandoned(itself, partial(_settle, itself, contents))


def require_directory(directory: Path) -> None:
    """Make a directory for loose files where there is none yet."""
    require_name(directory)
    with telling(directory):
        directory.mkdir(parents=True, exist_ok=True)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise OutputError(f"{directory} is not a directory that you may write to.")


def _itself(target: Path) -> Path:
    """Return a path whose last part is the directory's own name."""
    return target.resolve() if target.name == ".." else target.absolute()


def _require_short_names(itself: Path, above: Path) -> None:
    longest = os.pathconf(above, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
    if any(len(os.fsencode(part)) > longest for part in itself.relative_to(above).parts):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))


def _require_replaceable(itself: Path, target: Path, force: bool, contents: Contents) -> None:
    if not force:
        raise OutputError(
            f"{target} exists already.  Hint: choose another directory, or replace it with {option('force', True)}."
        )
    if not contents.recognize(itself):
        raise _other_files(target, contents)


def _other_files(target: Path, contents: Contents) -> OutputError:
    return OutputError(
        f"{target} is not {contents.noun}, or holds other files besides; it is not replaced.  "
        "Hint: choose another directory."
    )


def _put(place: Path, itself: Path, target: Path, force: bool, contents: Contents) -> None:
    """Move what was made to its target, whatever happened there in the meantime."""
    new = place / _NEW
    try:
        move_new(new, itself)
        return
    except FileExistsError:
        _require_replaceable(itself, target, force, contents)
    new.chmod(stat.S_IMODE(itself.stat().st_mode))  # who was kept out of the old one is kept out of the new one
    (place / _REPLACING).touch()
    if exchange(new, itself):
        if not contents.recognize(new):  # put there at the very last moment
            exchange(new, itself)
            raise _other_files(target, contents)
    else:
        itself.rename(place / _OLD)
        if not contents.recognize(place / _OLD):
            move_new(place / _OLD, itself)
            raise _other_files(target, contents)
        move_new(new, itself)
        (place / _OLD).rename(place / _GONE)


def _settle(target: Path, contents: Contents, place: Path) -> bool:
    """End what a run began when it was stopped while one directory took the other's place; whether all may go."""
    old, new = place / _OLD, place / _NEW
    if os.path.lexists(old):
        if contents.recognize(target) and any(target.iterdir()):
            old.rename(place / _GONE)
        else:
            try:
                old.rename(target)  # also onto an empty directory, which is all that taking a place may have left
            except OSError:
                return False
    if (place / _REPLACING).exists():
        if os.path.lexists(new) and not contents.recognize(new):
            return False
        (place / _REPLACING).unlink()  # a removal that is stopped half way can be taken up again
    return True
