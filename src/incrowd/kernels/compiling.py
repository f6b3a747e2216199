"""Compile a loop, and keep what was compiled on disk where that is possible.

A cache saves seconds and is never needed. In a container the installation is often read-only and the user without a
home; a cache may be cut short by a machine that went down, or be on a disk that is full. Numba ends in an error then.
Here the loop is compiled again, and where that will happen in every run, one note says how to prevent it.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

from incrowd.errors import CompileCacheWarning


def compiled(function: Any) -> Any:
    """Compile a function when it is first called; decorates every loop of this package."""
    dispatcher = njit(function)
    try:
        dispatcher._cache = _ForgivingCache(function)  # as `cache=True` does with Numba's own
    except (RuntimeError, OSError):  # there is no folder that can be written
        _tell()
    return dispatcher


class _ForgivingCache(FunctionCache):
    """Numba's cache, in which nothing that goes wrong is an error."""

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return what is cached; nothing where it is damaged, and then begin the cache of this function again."""
        try:
            return super().load_overload(signature, target)
        except Exception:  # a damaged pickle can raise anything
            self._begin_again()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write what was compiled; do without where that is impossible."""
        try:
            super().save_overload(signature, compiled)
        except OSError:
            self._do_without()

    def _begin_again(self) -> None:
        try:
            self.flush()
        except OSError:
            self._do_without()

    def _do_without(self) -> None:
        self.disable()
        _tell()


@cache
def _tell() -> None:
    """Say it once in a process, not once for every loop."""
    warnings.warn(
        "compiled code cannot be kept on disk, so that every run compiles it again, which takes some seconds.  "
        "Hint: set NUMBA_CACHE_DIR to a folder that can be written and is not full.",
        CompileCacheWarning,
        stacklevel=2,
    )
