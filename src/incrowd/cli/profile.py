"""`incrowd profile`: look at a table and write a recipe to start from."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.command import Command
from incrowd.cli.reading_options import Reading, takes_reading_options

if TYPE_CHECKING:
    from rich.table import Table

    from incrowd.planning.profile import Profile
    from incrowd.planning.profile.column_profile import ColumnProfile
    from incrowd.planning.profile.vocabulary import Role

_SUFFIXES = {
    ".gz", ".zst", ".csv", ".tsv", ".txt", ".tab", ".dat", ".parquet", ".arrow", ".feather", ".ipc", ".db", ".sqlite",
    ".duckdb", ".ddb", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt",
    ".data",
}  # fmt: skip


@takes_reading_options
def profile(
    file: Annotated[
        str,
        typer.Argument(
            help="A file (CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS, DuckDB), a folder, or a URL.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The recipe to write (default: FILE's name and .recipe.toml, here)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a recipe that is there already.")] = False,
    rule: Annotated[
        str | None,
        typer.Option(
            "--rule",
            help="Write the recipe that a rule asks for: hipaa-safe-harbor, expert-determination, ema-0070, "
            "health-canada, public-use-file (incrowd list rules).",
        ),
    ] = None,
    *,
    reading: Reading,
    trial: Annotated[
        bool, typer.Option(help="Try the recipe on some rows, and tell what an audit says of it (takes some seconds).")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the profile as JSON; write a recipe only where --output is given.")
    ] = False,
) -> None:
    """Propose a role for every column of a table, and write a recipe to edit."""
    from rich.console import Console

    from incrowd.cli.output import print_json, showing_progress
    from incrowd.common.writing import write_text
    from incrowd.core.source import ReadOptions
    from incrowd.planning.profile import profile as profile_table
    from incrowd.planning.profile.trial import try_recipe
    from incrowd.planning.profile.writing import recipe_text
    from incrowd.planning.rules import rule_named

    asked = None if rule is None else rule_named(rule)
    recipe = output or Path(f"{_stem(file)}.recipe.toml")
    writes = output is not None or not as_json
    if writes:
        _require_free(recipe, force=force)  # before the work, not after it
    with showing_progress(quiet=as_json) as progress:
        found = profile_table(file, progress=progress, **reading)
        if trial:
            progress("trying the recipe", 0.0)
            told = try_recipe(found, recipe_text(found, recipe_path=recipe, rule=asked), file, ReadOptions(**reading))
            found = replace(found, trial=told)
            progress("trying the recipe", 1.0)
    if writes:
        write_text(recipe, recipe_text(found, recipe_path=recipe, rule=asked), force=force)
    if as_json:
        print_json(found.to_dict())
        return
    console = Console()
    console.print(_columns(found))
    where = "" if found.measured_rows == found.rows else f", in a sample of {found.measured_rows:,} rows"
    if found.sets:
        console.print(_sets(found, where))
    for line in _remarks(found, where):
        console.print(line, markup=False, highlight=False)
    made = f"\nThe recipe is in {recipe}. Read it, edit it, and then:"
    console.print(made, markup=False, highlight=False, soft_wrap=True)
    console.print(f"  incrowd publish {shlex.quote(str(recipe))}", markup=False, highlight=False, soft_wrap=True)


def _stem(file: str) -> str:
    """Return the name of a file, a folder or a database without its suffixes.

    >>> _stem("data/patients.csv.gz"), _stem("sqlite:///clinic.db"), _stem("visits/*.parquet")
    ('patients', 'clinic', 'table')
    """
    name = file.partition("?")[0].rstrip("/").replace("\\", "/").rpartition("/")[2]
    while Path(name).suffix.lower() in _SUFFIXES:
        name = Path(name).stem
    return name if name not in ("", "-") and not re.search(r"[*?\[\]:]", name) else "table"


def _require_free(recipe: Path, *, force: bool) -> None:
    from incrowd.common.writing import require_name, telling
    from incrowd.errors import OutputError

    require_name(recipe)
    with telling(recipe):
        directory, exists = recipe.is_dir(), recipe.exists()
    if directory:
        raise OutputError(f"{recipe} is a directory.  Hint: name the recipe's file with --output.")
    if exists and not force:
        raise OutputError(f"{recipe} exists already.  Hint: choose another name with --output, or replace it: --force.")


def _columns(found: Profile) -> Table:
    from rich.table import Table
    from rich.text import Text

    from incrowd.planning.profile.number_levels import describe
    from incrowd.planning.profile.readable import plain, share

    table = Table(title=f"{found.rows:,} rows, {len(found.columns)} columns", title_justify="left", box=None)
    for heading in ("column", "role", "distinct", "missing", "hierarchy", "why"):
        number = heading in ("distinct", "missing")
        table.add_column(heading, justify="right" if number else "left", overflow="fold", no_wrap=number)
    for column in found.columns:
        table.add_row(
            Text(plain(column.name), style="bold"),
            Text(column.role + (" ?" if column.unsure else ""), style=_STYLES[column.role]),
            f"{'' if column.distinct_exact else '~'}{column.distinct:,}",
            share(column.missing, found.rows),
            Text(describe(column.hierarchy)),
            Text(("unsure: " if column.unsure else "") + column.reason + _label(column)),
        )
    return table


def _label(column: ColumnProfile) -> str:
    from incrowd.planning.profile.readable import plain

    return f" (“{plain(column.label)}”)" if column.label else ""


_STYLES: dict[Role, str] = {
    "identifier": "red",
    "person": "cyan",
    "household": "cyan",
    "quasi": "yellow",
    "sensitive": "magenta",
    "drop": "red",
    "keep": "green",
    "weight": "green",
}


def _sets(found: Profile, where: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    from incrowd.planning.profile.readable import plain, share

    table = Table(title=f"\nColumns that single people out{where}", title_justify="left", box=None)
    table.add_column("rows unique", justify="right")
    table.add_column("pairs separated", justify="right")
    table.add_column("columns", overflow="fold")
    for step in found.sets:
        names = ", ".join(plain(name) for name in step.columns)
        table.add_row(share(step.unique_rows, step.rows), share(step.separation, 1), Text(names))
    return table


def _remarks(found: Profile, where: str) -> Iterator[str]:
    from incrowd.planning.profile.readable import count, share

    if found.quasi is not None:
        yield (
            f"\nOn the {count(len(found.quasi.columns), 'proposed quasi-identifier')} together{where}: "
            f"{count(found.quasi.unique_rows, 'row')} unique ({share(found.quasi.unique_rows, found.quasi.rows)}), "
            f"k = {found.quasi.k}."
        )
    yield from found.trial
    for note in found.notes:
        yield f"Note: {note}"


COMMANDS = (Command(profile, place=20),)
