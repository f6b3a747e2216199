"""Whether the run that started something is still alive: it holds a lock on a file, and the lock goes with it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from incrowd.common import systems
from incrowd.common.locks import Lock


class Running:
    """The lock of one run."""

    def __init__(self, path: Path) -> None:
        self._lock: Lock | None = Lock(path, os.O_CREAT)
        with suppress(OSError):  # a file system without locks: nobody can tell, and nothing is marked there
            self._lock.take()

    def end(self) -> None:
        """Let go of it; what was started has an end in the ledger."""
        if self._lock is not None:
            if systems.WINDOWS:
                self._lock.end()  # an open file cannot be removed there
            with suppress(OSError):
                self._lock.path.unlink()
            self._lock.end()
            self._lock = None


def is_dead(path: Path) -> bool:
    """Whether the run that made this file is gone; False where nobody can tell."""
    try:
        lock = Lock(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return lock.take()
    except OSError:
        return False
    finally:
        lock.end()
