"""Run what a page shows: its Python blocks and its commands, in order, in one folder; what they print is put below them.

A page is followed as a reader follows it: from an empty folder, with nothing but what the page itself says. A block that
fails is an error of the page. Lines of a shell that change the machine (`pip install`, `make`) are not run.
"""

from __future__ import annotations

import ast
import io
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```(python|shell)\n(.*?)^```\n", flags=re.DOTALL | re.MULTILINE)
NOT_RUN = ("pip ", "make ", "git ", "cd ", "python3 -m venv", "#")
# A cluster is more than a page starts; a page that stays open in the browser never ends. Both have tests of their own.
_ELSEWHERE = ("--engine spark", "incrowd studio")
LONGEST_OUTPUT = 60
"""Lines of what a block prints that are shown; a table of more lines is no example."""


class PageError(Exception):
    """What a page shows does not work."""


@dataclass
class Page:
    """A page that is being followed: where, and the names that its Python has so far."""

    name: str
    place: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def python(self, code: str) -> str:
        """Run code, and return what it prints; a last line that is a value is printed, as in a session."""
        printed, value = self.run(code)
        return printed if value is None else f"{printed}{value if isinstance(value, str) else repr(value)}\n"

    def run(self, code: str) -> tuple[str, Any]:
        """Run code, and return what it prints, and the value of its last line if that is one."""
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        value = None
        with self._listening() as heard:
            exec(compile(tree, self.name, "exec"), self.names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), self.name, "eval"), self.names)
        if value is not None:
            self.names["_"] = value
        return heard.getvalue(), value

    def shell(self, lines: str) -> str:
        """Run the commands of a block, and return what they print."""
        return "".join(self._command(line) for line in lines.replace("\\\n", " ").splitlines() if line.strip())

    def _command(self, line: str) -> str:
        if line.startswith(NOT_RUN) or any(words in line for words in _ELSEWHERE):
            return ""
        words = shlex.split(line, comments=True)
        if words[:2] == ["python", "-c"]:
            return self.python(words[2])
        if words[0] != "incrowd":
            raise PageError(f"{self.name}: it is not known how to run: {line}")
        with self._listening() as heard:
            code = run_command(words[1:])
        if code:
            raise PageError(f"{self.name}: {line}: ends in {code}: {heard.getvalue()}")
        return heard.getvalue()

    @contextmanager
    def _listening(self) -> Iterator[io.StringIO]:
        heard = io.StringIO()
        with chdir(self.place), redirect_stdout(heard), redirect_stderr(heard), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                yield heard
            except (Exception, SystemExit) as error:
                raise PageError(f"{self.name}: {type(error).__name__}: {error}: {heard.getvalue()}") from error


def run_command(words: list[str]) -> int:
    """Run the command line in this process, as a terminal of 100 columns without colours; return its exit code."""
    from incrowd.cli.app import app, exit_code, message
    from incrowd.errors import IncrowdError

    try:
        app(words, standalone_mode=False, prog_name="incrowd")
    except IncrowdError as error:
        print(f"incrowd: {message(error)}", file=sys.stderr)
        return exit_code(error)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def followed(text: str, page: Page) -> str:
    """Return the text of a page with what its blocks print below them."""
    found, end = [], 0
    for block in _BLOCK.finditer(text):
        kind, code = block.groups()
        printed = (page.python if kind == "python" else page.shell)(code)
        found.append(text[end : block.end()])
        if printed.strip():
            found.append(as_output(printed))
        end = block.end()
    return "".join([*found, text[end:]])


def as_output(printed: str) -> str:
    """Return what was printed as a block below the code."""
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    if len(lines) > LONGEST_OUTPUT:
        lines = [*lines[:LONGEST_OUTPUT], f"… and {len(lines) - LONGEST_OUTPUT} more lines"]
    return "\n```{code-block} text\n:class: printed\n\n" + "\n".join(lines) + "\n```\n"
