"""Stopping a run: an interruption ends it wherever it arrives, and what was being written is taken away."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Any

import typer

from incrowd.cli.command import options_of
from incrowd.cli.memory import use_one_heap
from incrowd.common.progress import Progress
from incrowd.common.surface import written_in


class Stopped(BaseException):
    """The user or the system asked the run to end. Not a KeyboardInterrupt, which Typer ends without a word."""


_asked = False


def listen() -> None:
    """End the run on Ctrl-C, and also when it is terminated: it cleans up alike."""
    for name in ("SIGINT", "SIGTERM", "SIGBREAK"):  # the last is Ctrl-Break on Windows
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    global _asked
    if not _asked:  # asked again, it would leave its cleaning up half done
        _asked = True
        raise Stopped


def was_asked() -> bool:
    """Whether the run was asked to end; compiled code may turn that into an error of its own, or lose it."""
    return _asked


def stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command be interrupted by Polars too, which listens for itself, and by whoever reads its output.

    While it runs, messages name options as the command has them.
    """

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        use_one_heap()
        try:
            with written_in("command line", lambda: options_of(command)):
                command(*args, **kwargs)
        except KeyboardInterrupt as interruption:
            raise Stopped from interruption
        except BrokenPipeError:
            # The reader of our output went away; Python would complain again when it flushes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None

    return run


def heeding(progress: Progress) -> Progress:
    """Return a progress that ends the run at its next step where an interruption was lost."""

    def report(stage: str, done: float) -> None:
        if _asked:
            raise Stopped
        progress(stage, done)

    return report
