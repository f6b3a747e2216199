"""Whose turn it is to compile a loop, among processes on one machine: a lock on a file beside the cache.

Nothing depends on it but how often a loop is compiled. Where a file cannot be locked (some network disks, a folder that
cannot be written), and where another process takes too long, everybody compiles.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from incrowd.common.locks import Lock

MOST_SECONDS = 120.0
"""No loop takes so long to compile; whoever holds the lock longer has failed, and lives on."""
_PAUSE = 0.02


class Turn:
    """A lock that this process has or has not; it goes when the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: Lock | None = None

    def take(self) -> bool:
        """Wait for the lock; return whether this process waited for it and has it now."""
        if self._lock is not None:
            return False
        try:
            self._lock = Lock(self._path, os.O_CREAT)
            end = time.monotonic() + MOST_SECONDS
            while not self._lock.take():
                if time.monotonic() >= end:
                    self.end()
                    return False
                time.sleep(_PAUSE)
        except OSError:
            self.end()
            return False
        return True

    def end(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.end()
            self._lock = None
