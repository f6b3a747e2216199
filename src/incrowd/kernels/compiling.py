"""Compile a loop, and keep what was compiled on disk where that is possible.

A cache saves seconds and is never needed. In a container the installation is often read-only and the user without a
home; a cache may be cut short by a machine that went down, or be on a disk that is full. Numba ends in an error then.
Here the loop is compiled again, and where that will happen in every run, one note says how to prevent it.

What is worse, Numba would run code that is not this loop's: it lists a file before it writes it, and uses the names of
files again. So a process that ends between the two, after an update, leaves the old code under the new entry; and two
processes that compile one loop for two types at once may list one file for both. Here a file's name tells its source,
and what a file holds is compared with what was asked for.

An image of a container may bring compiled loops along, in a folder that its user only reads. Numba takes no folder that
it cannot write; here one that `NUMBA_CACHE_DIR` names is read, if it was made ready.

Processes that need one loop at the same time would all compile it, and the last one to write its list would drop what
the others listed. Here one of them compiles, and the others wait for what it makes.
"""

from __future__ import annotations

import hashlib
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.sigutils import normalize_signature

from incrowd.errors import CompileCacheWarning
from incrowd.kernels.turns import Turn


def compiled(function: Any) -> Any:
    """Compile a function when it is first called; decorates every loop of this package."""
    dispatcher = numba.njit(function)
    try:
        dispatcher._cache = _ForgivingCache(function)  # as `cache=True` does with Numba's own
    except (RuntimeError, OSError):  # there is no folder that can be written
        _tell()
    return dispatcher


class _MadeReady(UserProvidedCacheLocator):
    """The folder that `NUMBA_CACHE_DIR` names, where it holds this loop's files already and cannot be written."""

    def ensure_cache_path(self) -> None:
        """Raise `OSError` where there is nothing to read."""
        if not Path(self.get_cache_path()).is_dir():
            raise FileNotFoundError


class _NamedBySource(CompileResultCacheImpl):
    """Names of files that no other source, and no other version of Numba, has."""

    _locator_classes = [UserProvidedCacheLocator, _MadeReady, *CompileResultCacheImpl._locator_classes[1:]]  # noqa: RUF012

    def get_filename_base(self, name: str, abi: str) -> str:
        """Return what the names of a loop's files begin with."""
        made_of = repr((self.locator.get_source_stamp(), numba.__version__)).encode()
        return f"{super().get_filename_base(name, abi)}-{hashlib.sha256(made_of).hexdigest()[:12]}"


class _ForgivingCache(FunctionCache):
    """Numba's cache, in which nothing that goes wrong is an error."""

    _impl_class = _NamedBySource

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._turn = Turn(Path(self._cache_path) / f"{self._impl.filename_base}.lock")

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return what is cached; if nothing is, wait for a process that is just compiling it, and look again."""
        found = self._found(signature, target)
        if found is None and self._turn.take():
            found = self._found(signature, target)
            if found is not None:
                self._turn.end()
        return found

    def _found(self, signature: Any, target: Any) -> Any:
        """Return what is cached; nothing where it is damaged, and then begin the cache of this function again."""
        try:
            found = super().load_overload(signature, target)
            if found is None or tuple(found.signature.args) == tuple(normalize_signature(signature)[0]):
                return found
        except Exception:  # a damaged pickle can raise anything
            pass
        self._begin_again()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write what was compiled; do without where that is impossible."""
        try:
            super().save_overload(signature, compiled)
        except OSError:
            self._do_without()
        finally:
            self._turn.end()

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
