"""Writing a file: all of it or nothing. It is made beside its place and moved there when it is whole."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incrowd.common import systems
from incrowd.common.moves import move_new
from incrowd.common.private_place import private_place
from incrowd.common.secrecy import keep_private
from incrowd.errors import OutputError

WRITTEN = "what was to be written is written"
"""Noted on an interruption that came too late."""


@contextmanager
def new_file(path: str | Path, *, force: bool = True, parents: bool = False) -> Iterator[Path]:
    """Give a path to write to; the file that is there becomes `path` when all went well, or nothing changes.

    A file that was there keeps its permissions; without `force` it is not replaced. What is no file (a pipe, a device)
    cannot be replaced, and is written to as it is. With `parents`, directories above it are made where there are none.
    """
    path = Path(path)
    require_name(path)
    with telling(path):
        target = Path(os.path.realpath(path))  # a link goes on leading to the file
        if force and target.exists() and not target.is_file() and not target.is_dir():
            yield target
            return
        if not parents:
            target.parent.stat()  # whatever is wrong with it
        with private_place(target) as place:
            new = place / f"new{path.suffix}"
            yield new
            if not force:
                move_new(new, target)
                return
            if target.is_file():
                new.chmod(stat.S_IMODE(target.stat().st_mode))
            new.replace(target)


def write_text(path: str | Path, text: str, *, force: bool = True, parents: bool = False) -> None:
    """Write a text as UTF-8."""
    with new_file(path, force=force, parents=parents) as new:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise OutputError(f"{path} cannot be written: it would hold a name that is not Unicode.") from None
        new.write_bytes(data)


def write_secret(path: str | Path, content: bytes) -> None:
    """Write a new file that only its owner can read; a file that is there already is left as it is."""
    with new_file(path, force=False) as new:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            keep_private(new)  # before there is anything in it to read
            file.write(content)


def require_name(path: Path) -> None:
    """Refuse a path that no message and no other program could show as it is."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in str(path)):
        raise OutputError(
            f"{str(path)!a} cannot be written: its name holds characters that cannot be shown.  "
            "Hint: choose another name."
        )


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turn what the operating system says into an error that names the path."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        if systems.WINDOWS and isinstance(error, PermissionError):  # an open file cannot be replaced there
            why += ".  Hint: close it, or what is open in it, in other programs, and try again"
        raise OutputError(f"{path} cannot be written: {why}.") from error
