"""Windows' rules for files, on Linux: what breaks here would break there, by construction.

While a file is open or mapped, it cannot be moved, replaced or removed, and no folder that holds it can be moved. A
rename refuses a target that is there. Modes are no protection; `icacls` and `whoami` are asked in their place. A lock
is one on bytes (`msvcrt`). All of that is played here, for this process alone; what is open is told by Linux
(`/proc/self`).
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from incrowd.common import secrecy, systems

OWNER = "S-1-5-21-1-2-3-1001"


def held_open() -> set[str]:
    """Return the files that this process has open, or mapped."""
    found = set()
    for one in Path("/proc/self/fd").iterdir():
        try:
            if stat.S_ISREG(os.fstat(int(one.name)).st_mode):
                found.add(str(one.readlink()))
        except OSError:  # it was the list's own
            continue
    with Path("/proc/self/maps").open(encoding="utf-8", errors="replace") as lines:
        found |= {line.split(maxsplit=5)[5].rstrip("\n") for line in lines if "/" in line}
    return found


def require_closed(path: Path) -> None:
    """Refuse what is open, or has something open below it."""
    held = str(path.absolute())
    for one in held_open():
        if one == held or one.startswith(f"{held}/"):
            raise PermissionError(errno.EACCES, "The process cannot access the file: it is being used", held)


def play_windows(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Let Windows' rules hold; return the commands that are run from now on to set permissions."""
    asked: list[tuple[str, ...]] = []

    def said(*command: str) -> str:
        asked.append(command)
        return f'"machine\\somebody, with a comma","{OWNER}"\r\n' if command[0] == "whoami" else "done"

    def locking(handle: int, how: int, count: int) -> None:
        assert os.lseek(handle, 0, os.SEEK_CUR) > os.fstat(handle).st_size, "nobody else could read what is locked"
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    def guarded(function: Callable[..., Any], *, moves: bool = False, onto: bool = True) -> Callable[..., Any]:
        def run(source: Any, *rest: Any, **keywords: Any) -> Any:
            folder = keywords.get("dir_fd")
            before = Path(f"/proc/self/fd/{folder}").readlink() if folder is not None else Path()
            require_closed(before / source)
            if moves:
                if not onto and os.path.lexists(rest[0]):
                    raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", rest[0])
                require_closed(Path(rest[0]))
            return function(source, *rest, **keywords)

        return run

    def kill(*_: object) -> None:
        raise AssertionError("os.kill ends processes on Windows, whatever the signal is")

    monkeypatch.setattr(systems, "WINDOWS", True)
    monkeypatch.setattr(secrecy, "_said", said)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(os, "rename", guarded(os.rename, moves=True, onto=False))
    monkeypatch.setattr(os, "replace", guarded(os.replace, moves=True))
    monkeypatch.setattr(os, "unlink", guarded(os.unlink))
    monkeypatch.setattr(os, "remove", guarded(os.remove))
    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr("subprocess.run", _no_program(subprocess.run))
    return asked


def _no_program(run: Callable[..., Any]) -> Callable[..., Any]:
    def refusing(command: Any, *rest: Any, **keywords: Any) -> Any:
        assert command[0] not in ("icacls", "whoami"), "permissions are set by one module alone"
        return run(command, *rest, **keywords)

    return refusing
