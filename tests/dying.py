"""A process that kills itself before or after one of its calls that change the file system."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from incrowd.common import moves

CHANGING: tuple[tuple[Any, str], ...] = (
    (Path, "mkdir"),
    (Path, "rename"),
    (Path, "replace"),
    (Path, "touch"),
    (Path, "unlink"),
    (Path, "chmod"),
    (Path, "write_bytes"),
    (Path, "write_text"),
    (os, "open"),
    (os, "unlink"),
    (os, "rmdir"),
    (shutil, "rmtree"),
    (moves, "_rename"),
)


def die_at(step: int, number: signal.Signals = signal.SIGKILL, *, exchanging: bool = True) -> None:
    """Let this process get a signal at that step: before or after a call, counted from 0 since it has a private place.

    Without `exchanging`, the file system is taken to be one that has no rename that refuses or exchanges.
    """
    if not exchanging:
        moves._rename = lambda *_: False
    left, started = step, False

    def tick(*args: object) -> None:
        nonlocal left, started
        started = started or any(".incrowd" in str(arg) for arg in args)
        if not started:  # compilers and others keep files of their own
            return
        if left == 0:
            os.kill(os.getpid(), number)
        left -= 1

    def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            tick(*args)
            made = function(*args, **kwargs)
            tick()
            return made

        return run

    for owner, name in CHANGING:
        setattr(owner, name, stepping(getattr(owner, name)))


def killed_in_a_child(step: int, action: Callable[[], object], *, exchanging: bool = True) -> bool:
    """Run something in a copy of this process that is killed at a step; return False if it was done before."""
    child = os.fork()
    if child == 0:
        try:
            die_at(step, exchanging=exchanging)
            action()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0
