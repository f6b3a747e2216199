"""Whether the run that started something is still alive: it holds a lock on a file, and the lock goes with it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Running:
    """The lock of one run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks: nobody can tell, and nothing is marked there
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def end(self) -> None:
        """Let go of it; what was started has an end in the ledger."""
        if self._handle is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._handle)
            self._handle = None


def is_dead(path: Path) -> bool:
    """Whether the run that made this file is gone; False where nobody can tell."""
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if fcntl is None:
            raise OSError
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
