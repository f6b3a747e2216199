"""A process that outlives a run and takes away what it left, if the run is killed while it makes a directory.

Nothing in a process that is killed can clean up after it. So a small one beside it waits at the end of a pipe: what
comes out of it when the run has ended tells whether that was on purpose. Other processes of the run, such as those of a
cluster, may go on writing for a moment, so the watcher stays until nothing comes back. If it is killed, too, or there
is no process to be had, the next run to the same target does the same (`private_place.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DONE = b"done"
_QUIET, _PAUSE, _LONGEST = 5.0, 0.5, 300.0
"""Nothing came back for so many seconds; it is looked for so often; and for so long, at most."""


@contextmanager
def cleared_if_killed(target: Path) -> Iterator[None]:
    """Make a directory inside of this: if this process is killed, what it made beside the target goes with it."""
    target = target.absolute()
    made = [str(parent) for parent in target.parents if not parent.exists()]
    try:
        watcher = subprocess.Popen(
            [sys.executable, "-m", __name__, str(target), *made],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
            start_new_session=True,  # who kills this one's group does not kill it
        )
    except OSError:  # no process to be had: then the next run clears up
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            watcher.communicate(_DONE)


def watch(target: Path, made: list[Path]) -> None:
    """Wait until the run has ended; if it did not say so itself, take away what is left, innermost parents first."""
    if sys.stdin.buffer.read() == _DONE:
        return
    from incrowd.core.release_directory import clear_killed

    started = quiet_since = time.monotonic()
    while time.monotonic() - started < _LONGEST and time.monotonic() - quiet_since < _QUIET:
        if clear_killed(target):
            quiet_since = time.monotonic()
        time.sleep(_PAUSE)
    for parent in made:
        with suppress(OSError):  # something is in it
            parent.rmdir()


if __name__ == "__main__":
    watch(Path(sys.argv[1]), [Path(parent) for parent in sys.argv[2:]])
