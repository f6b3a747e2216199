"""Build the loops: one call of a C++ compiler, some seconds long.

An installed incrowd has the library and not its source. A copy of the repository has both, and builds the library again
when the source has changed. The compiler is `CXX`, or one that is installed, or the one of the package `ziglang`.
Nothing here needs another package, so that the build hook can use this file alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
ENDING = ".dll" if os.name == "nt" else ".library"  # Python takes what ends in .so for a module
NO_COMPILER = "there is no C++ compiler to build incrowd's loops with.  Hint: pip install ziglang, or set CXX."

_FLAGS = (
    "-std=c++17", "-O3", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-pthread",
    "-ffp-contract=off",  # a product and a sum rounded once would give other last digits than on other machines
)  # fmt: skip

_LONGEST_BUILD = 3600.0
"""What was not built after so many seconds never will be: its process was killed."""


class BuildError(RuntimeError):
    """The loops cannot be built here."""


def source_files() -> list[Path]:
    """Return the source, if it is here."""
    return sorted([*HERE.glob("*.cpp"), *HERE.glob("*.hpp")])


def source_mark() -> str:
    """Return what tells this source from any other."""
    digest = hashlib.sha256(" ".join(_FLAGS).encode())
    for path in source_files():
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def library() -> Path | None:
    """Return the library of this source, or the one that is installed; nothing if it is to be built."""
    if source_files():
        own = HERE / f"loops-{source_mark()}{ENDING}"
        return own if own.exists() else None
    return next(HERE.glob(f"loops-*{ENDING}"), None)


def compiler() -> list[str]:
    """Return the command of a C++ compiler; empty if there is none."""
    if os.environ.get("CXX"):
        return os.environ["CXX"].split()
    for name in ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            return [found]
    return [sys.executable, "-m", "ziglang", "c++"] if find_spec("ziglang") else []


def build() -> Path:
    """Build the library beside its source; nothing is there in part at any time."""
    command = compiler()
    if not command:
        raise BuildError(NO_COMPILER)
    path = HERE / f"loops-{source_mark()}{ENDING}"
    fresh = HERE / f"building-{os.getpid()}{ENDING}"
    made = subprocess.run(
        [*command, *_FLAGS, str(HERE / "all.cpp"), "-o", str(fresh)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if made.returncode:
        fresh.unlink(missing_ok=True)
        raise BuildError(f"incrowd's loops could not be built by {command[0]}:\n{made.stderr.strip()}")
    given_up = [half for half in HERE.glob(f"building-*{ENDING}") if half != fresh and _age(half) > _LONGEST_BUILD]
    for old in [*HERE.glob(f"loops-*{ENDING}"), *given_up]:
        with contextlib.suppress(OSError):  # on Windows a library that is in use stays
            old.unlink()
    return fresh.replace(path)


def _age(path: Path) -> float:
    """Return how many seconds ago a file was written; none if it is gone."""
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime
    return 0.0
