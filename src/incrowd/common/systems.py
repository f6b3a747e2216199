"""What differs between systems, asked in one place.

Code asks `systems.WINDOWS` when it runs, so that tests can let it be true anywhere (`tests/release/windows_like.py`).
"""

from __future__ import annotations

import os
from typing import Any

WINDOWS: bool = os.name == "nt"
"""A file cannot be moved or removed while it is open there, modes protect nothing, and signals are hardly known."""


def kernel() -> Any:
    """Return Windows' own functions."""
    import ctypes

    return getattr(ctypes, "windll").kernel32  # noqa: B009, no other system has it


def is_running(process: int) -> bool:
    """Whether a process with this number runs; True where nobody can tell."""
    if WINDOWS:  # os.kill(…, 0) would send it Ctrl-C there
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_MAY_ASK, _STILL_ACTIVE, _NO_SUCH_PROCESS = 0x1000, 259, 87


def _is_running_on_windows(process: int) -> bool:
    import ctypes

    functions = kernel()
    handle = functions.OpenProcess(_MAY_ASK, False, process)
    if not handle:
        return bool(functions.GetLastError() != _NO_SUCH_PROCESS)
    try:
        code = ctypes.c_uint32()
        asked = functions.GetExitCodeProcess(handle, ctypes.byref(code))
        return not asked or code.value == _STILL_ACTIVE
    finally:
        functions.CloseHandle(handle)
