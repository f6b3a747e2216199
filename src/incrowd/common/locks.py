"""A lock on a file, which goes with the process that has it, whatever ends that.

Linux and macOS lock a file as a whole (flock). Windows locks bytes, which nobody else can read then, and has no lock
for a file of length 0: so a byte far behind the end of any such file is locked there.
"""

from __future__ import annotations

import errno
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from incrowd.common import systems

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FAR = 1 << 30
_TAKEN = (errno.EACCES, errno.EDEADLK, 36)
"""How Windows says that another has the lock; 36 is EDEADLOCK there."""


class Lock:
    """A file that is open here, and that this process may lock; it is made where it is not there."""

    def __init__(self, path: Path, flags: int = 0) -> None:
        # Bytes as they are, and no link that another user put there: both have no meaning on some systems.
        flags |= os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self.path = path
        self._handle: int | None = os.open(path, flags, 0o600)

    @property
    def handle(self) -> int:
        """The open file."""
        assert self._handle is not None, "the file is closed"
        return self._handle

    def take(self) -> bool:
        """Lock it; False where another has the lock. Raises `OSError` where the file system has no locks."""
        if systems.WINDOWS:
            return self._take_on_windows()
        if fcntl is None:
            raise OSError(errno.ENOTSUP, "this system has no locks")
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _take_on_windows(self) -> bool:
        windows: Any = import_module("msvcrt")
        os.lseek(self.handle, _FAR, os.SEEK_SET)
        try:
            windows.locking(self.handle, windows.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise
        finally:
            os.lseek(self.handle, 0, os.SEEK_SET)
        return True

    def end(self) -> None:
        """Let go of it, and close the file; once is enough."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
