"""The commands, and what happens when one of them fails."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from copy import copy
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli import drawn_help
from incrowd.cli.command import all_commands
from incrowd.cli.stopping import Stopped, listen, stoppable, was_asked
from incrowd.cli.warning import show_own_warnings
from incrowd.common import systems
from incrowd.common.version import __version__
from incrowd.common.writing import WRITTEN
from incrowd.errors import (
    ConformanceError,
    IncrowdError,
    OutputError,
    UncoveredValue,
    Unsatisfiable,
)

EXIT_FAILED_CHECK = 1
EXIT_BAD_INPUT = 3
EXIT_UNSATISFIABLE = 4
EXIT_OUTPUT = 5
EXIT_FAULT = 6
EXIT_INTERRUPTED = 130

_LONGEST_MESSAGE = 2000

_EPILOG = (
    "Exit codes: 0 done; 1 a check did not hold; 2 wrong usage; 3 a source, schema, hierarchy or recipe is wrong; "
    "4 what is required cannot be satisfied; 5 the output cannot be written; 6 a fault in incrowd; 130 interrupted."
)

app = typer.Typer(
    name="incrowd",
    help="Publish tables about people so that the people stay hidden and the data stays useful.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"incrowd {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Publish tables about people so that the people stay hidden and the data stays useful."""


def _add_commands() -> IncrowdError | None:
    """Add every command; return what is wrong with another package's, if anything is."""
    try:
        for command in all_commands():
            if isinstance(command.run, typer.Typer):
                app.add_typer(command.run, name=command.name)
            else:
                app.command(command.name)(stoppable(command.run))
    except IncrowdError as error:
        return error
    return None


_BROKEN = _add_commands()


def asked_for(arguments: list[str]) -> Callable[[], object]:
    """Return the program, with only summaries of commands not asked for: all options take a third of a start."""
    return _program(next((argument for argument in arguments if not argument.startswith("-")), None))


@cache
def _program(asked: str | None) -> Callable[[], object]:
    program = _summarized(app, asked)
    program.registered_groups = [copy(group) for group in app.registered_groups]
    for group in program.registered_groups:
        if group.typer_instance is not None and group.name != asked:
            group.typer_instance = _summarized(group.typer_instance, None)
    return typer.main.get_command(program)


def _summarized(commands: typer.Typer, asked: str | None) -> typer.Typer:
    commands = copy(commands)
    commands.registered_commands = [copy(info) for info in commands.registered_commands]
    for info in commands.registered_commands:
        if info.callback is not None and asked not in (info.name, info.callback.__name__.replace("_", "-")):

            def only_told() -> None: ...

            only_told.__doc__, only_told.__name__ = info.callback.__doc__, info.callback.__name__
            info.callback = only_told
    return commands


def exit_code(error: IncrowdError) -> int:
    """Return the exit code that tells a script what kind of thing went wrong."""
    if isinstance(error, Unsatisfiable):
        return EXIT_UNSATISFIABLE
    if isinstance(error, OutputError):
        return EXIT_OUTPUT
    return EXIT_FAULT if isinstance(error, ConformanceError) else EXIT_BAD_INPUT


def message(error: IncrowdError) -> str:
    """Return what the user reads. Values of the table appear only where a person sits in front of the terminal."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, UncoveredValue):
        found = found.__cause__
    if isinstance(found, UncoveredValue):
        return found.describe(quote_values=sys.stderr.isatty())
    return str(error)


def main() -> None:
    """Run the command line; a user's mistake is one clear message, never a traceback."""
    listen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What another program reads is UTF-8 everywhere. By itself Windows writes an encoding of the country.
            piped = systems.WINDOWS and not stream.isatty() and "PYTHONIOENCODING" not in os.environ
            # A name that the terminal cannot show is no error.
            stream.reconfigure(errors="backslashreplace", encoding="utf-8" if piped else None)
    show_own_warnings()
    try:
        if _BROKEN is not None:
            raise _BROKEN
        if not sys.argv[1:] or not {"-h", "--help"}.isdisjoint(sys.argv[1:]):
            drawn_help.prepare()
        asked_for(sys.argv[1:])()
    except (Exception, KeyboardInterrupt, Stopped) as error:
        sys.exit(_explain(error))


def _explain(error: BaseException) -> int:
    """Tell what went wrong, and return the exit code."""
    if was_asked() or not isinstance(error, Exception):
        late = WRITTEN in getattr(error, "__notes__", ())
        done = "the release was written" if late else "no release was written"
        typer.echo(f"incrowd: interrupted; {done}.", err=True)
        return EXIT_INTERRUPTED
    if isinstance(error, IncrowdError):
        _complain(message(error))
        return exit_code(error)
    if isinstance(error, MemoryError):
        _complain(
            "there is not enough memory for this table.  Hint: round or drop columns, so that fewer combinations of "
            "their values are left, or give it more memory."
        )
        return EXIT_BAD_INPUT
    if os.environ.get("INCROWD_DEBUG"):
        raise error
    # Only the place of the fault: what other libraries say may quote the table.
    place = traceback.extract_tb(error.__traceback__)[-1]
    _complain(
        f"a fault in incrowd itself ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}).  "
        "Hint: please report it. INCROWD_DEBUG=1 in the environment shows the whole error, which may quote the table."
    )
    return EXIT_FAULT


def _complain(text: str) -> None:
    """Say it in one line of a length that a terminal can show: names in a message may have any."""
    text = " ".join(text.splitlines())
    if len(text) > _LONGEST_MESSAGE:
        text = f"{text[: _LONGEST_MESSAGE // 2]} … {text[-_LONGEST_MESSAGE // 2 :]}"
    typer.secho(f"incrowd: {text}", err=True, fg=typer.colors.RED if sys.stderr.isatty() else None)
