"""incrowd's own warnings on the command line: one line each, without a place in its code."""

from __future__ import annotations

import warnings
from typing import TextIO

import typer

from incrowd.errors import CompileCacheWarning, ReadingWarning, SecrecyWarning, escaped

_show_as_python_does = warnings.showwarning


def show_own_warnings() -> None:
    """From now on, show them that way."""
    warnings.showwarning = _show


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, (CompileCacheWarning, ReadingWarning, SecrecyWarning)):
        typer.echo(f"incrowd: {escaped(str(message))}", err=True)
    else:
        _show_as_python_does(message, category, filename, lineno, file, line)
