"""Moving a file or a directory in one step: to where nothing is, or in exchange for what is there.

A plain rename puts a file over another one, and a directory over an empty one, without a word. Linux and macOS have a
rename that refuses, and one that exchanges; not every file system does (network ones mostly do not). On Windows, the
plain rename refuses by itself, and nothing exchanges.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from incrowd.common import systems

_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_ONLY_NEW, _EXCHANGE = (0x4, 0x2) if sys.platform == "darwin" else (0x1, 0x2)
_AT_WORKING_DIRECTORY = -100


def move_new(source: Path, target: Path) -> None:
    """Move to a place where nothing is; of two who try, one gets a FileExistsError.

    Where the file system has no such rename, the place is taken first: a process that is killed right then leaves an
    empty file or directory there.
    """
    if _rename(source, target, _ONLY_NEW):
        return
    if systems.WINDOWS:
        source.rename(target)  # refuses by itself
        return
    _claim(source, target)
    try:
        source.rename(target)
    except BaseException:
        with suppress(OSError):
            target.rmdir() if stat.S_ISDIR(source.lstat().st_mode) else target.unlink()
        raise


def exchange(first: Path, second: Path) -> bool:
    """Let two places change their contents in one step; return False where the file system cannot."""
    return _rename(first, second, _EXCHANGE)


def _claim(source: Path, target: Path) -> None:
    if stat.S_ISDIR(source.lstat().st_mode):
        target.mkdir(mode=0o700)
    else:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _rename(source: Path, target: Path, how: int) -> bool:
    if systems.WINDOWS:
        return False
    import ctypes

    names = os.fsencode(source), os.fsencode(target)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(*names, ctypes.c_uint(how))
        else:
            here = ctypes.c_int(_AT_WORKING_DIRECTORY)
            failed = library.renameat2(here, names[0], here, names[1], ctypes.c_uint(how))
    except (AttributeError, OSError, TypeError):  # a system, or a library of its, without it
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))
