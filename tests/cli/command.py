"""Run the command line in this process, and look at everything it leaves behind."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from incrowd.cli import stopping
from incrowd.cli.app import main


@dataclass(frozen=True)
class Done:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


def incrowd(*arguments: object, encoding: str = "utf-8") -> Done:
    """Run `incrowd` with these arguments, as a program would that is not a terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    code = 0
    with patch.object(sys, "argv", ["incrowd", *map(str, arguments)]), patch.object(stopping, "_asked", False):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return Done(code, *(stream.buffer.getvalue().decode(encoding) for stream in (out, err)))  # type: ignore[attr-defined]


def everything(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
