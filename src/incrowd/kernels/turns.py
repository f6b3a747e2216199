"""Whose turn it is to compile a loop, among processes on one machine: a lock on a file beside the cache.

Nothing depends on it but how often a loop is compiled. Where a file cannot be locked (Windows, some network disks, a
folder that cannot be written), and where another process takes too long, everybody compiles.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_SECONDS = 120.0
"""No loop takes so long to compile; whoever holds the lock longer has failed, and lives on."""
_PAUSE = 0.02


class Turn:
    """A lock that this process has or has not; it goes when the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def take(self) -> bool:
        """Wait for the lock; return whether this process waited for it and has it now."""
        if self._file >= 0 or fcntl is None:
            return False
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        end = time.monotonic() + MOST_SECONDS
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < end:
                    time.sleep(_PAUSE)
                    continue
                self.end()
                return False
            except OSError:
                self.end()
                return False
            return True

    def end(self) -> None:
        """Let others have it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
