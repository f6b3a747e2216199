"""The commands, and what happens when one of them fails."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer

from incrowd import __version__
from incrowd.cli.check import check
from incrowd.cli.demo import demo
from incrowd.cli.hierarchy import hierarchy
from incrowd.cli.profile import profile
from incrowd.cli.publish import publish
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


for command in (demo, profile, hierarchy, publish, check):
    app.command()(command)


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


def _stop(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; a user's mistake is one clear message, never a traceback."""
    # A terminated run cleans up like an interrupted one: nothing half-written stays behind.
    signal.signal(signal.SIGTERM, _stop)
    try:
        app(standalone_mode=True)
    except IncrowdError as error:
        typer.secho(f"incrowd: {message(error)}", err=True, fg=typer.colors.RED if sys.stderr.isatty() else None)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        typer.echo("incrowd: interrupted; nothing was written.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away; Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
