"""`incrowd publish`: make the release that a recipe describes."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from incrowd.cli.command import Command

if TYPE_CHECKING:
    from incrowd.publishing.recipe import Recipe
    from incrowd.publishing.saving import Format


def publish(
    recipe: Annotated[
        Path, typer.Argument(help="The recipe, a TOML file; `incrowd profile` writes one to start from.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="New directory for the release, a database (sqlite:///out.db#name), or - for a pipe (default: the "
            "recipe's own).",
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="csv, parquet, arrow, xlsx, sav, dta or xpt (default: as the source).")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Make chance repeatable, for tests only (default: the system's randomness)."),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            help="What columns of numbers show: label, midpoint, bounds or mean; for one column, age=mean. May be "
            "repeated (default: as the recipe and the method say)."
        ),
    ] = None,
    save_recipe: Annotated[
        Path | None,
        typer.Option(
            help="Write a recipe that makes this release again, seed included, to a new file. Keep it like a key."
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="local, or spark: who reads, counts and writes the rows.")] = "local",
    master: Annotated[
        str | None,
        typer.Option(help="Spark's master: local[2], spark://host:7077, sc://host, … (default: its own)."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="The ledger to write the release down in, and to pay from (default: the recipe's own)."),
    ] = None,
    if_unsafe: Annotated[
        str | None,
        typer.Option(
            help="refuse, or withhold groups: where the release and earlier ones of the ledger would tell too much "
            "(default: as the recipe says, or refuse)."
        ),
    ] = None,
    effort: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Move people between the method's groups, so many passes, so that labels lose less (default: as the "
            "recipe says, or 0).",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="The same, until so many seconds are over (default: as the recipe says, or no limit)."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="How many threads there may be (default: INCROWD_THREADS, or one for each core)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a release that is there already.")] = False,
    spreadsheet_safe: Annotated[
        bool, typer.Option("--spreadsheet-safe", help="Make cells plain text that a spreadsheet would run as formulas.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make the release that a RECIPE describes, check it, and write it into a new directory."""
    from rich.console import Console

    from incrowd.cli.if_unsafe import as_way
    from incrowd.cli.output import print_json, release_lines, showing_progress, summary_table
    from incrowd.common.threads import using
    from incrowd.core.families import registered
    from incrowd.core.release_directory import require_free
    from incrowd.core.show import asked_of, require_show
    from incrowd.errors import FormulaWarning
    from incrowd.ledger import Ledger
    from incrowd.publishing.databases.releases import is_database, require_room, shown
    from incrowd.publishing.piping import save_to_pipe
    from incrowd.publishing.recipe import Recipe
    from incrowd.publishing.saving import formats, require_own_place
    from incrowd.sources.piped import PIPE

    if format is not None and format not in formats():
        raise typer.BadParameter(f"it is one of {', '.join(formats())}", param_hint="--format")
    engines = registered("engines")
    if engine not in engines:
        raise typer.BadParameter(f"it is one of {', '.join(engines)}", param_hint="--engine")
    if master is not None and engine == "local":
        raise typer.BadParameter("only Spark has a master: say --engine spark", param_hint="--master")
    chosen_way = as_way(if_unsafe)
    asked_show = {name: require_show("", how) for name, how in map(asked_of, show or [])}
    loaded = Recipe.load(recipe)
    asked = str(output or loaded.output.get("directory", f"{recipe.stem.removesuffix('.recipe')}-release"))
    directory: str | Path = Path(asked) if output else loaded.base / asked
    if asked == PIPE:
        if as_json:
            raise typer.BadParameter("the rows go there: leave --json out", param_hint="--output")
        directory = asked
    elif is_database(asked):
        directory = asked
        require_room(asked, force=force)
    elif "://" in asked:
        if not engines[engine].has_file_systems:
            raise typer.BadParameter("only Spark writes there: say --engine spark", param_hint="--output")
        directory = asked
    else:
        require_free(Path(directory), force=force)  # before the work, not after it
    if save_recipe is not None:
        require_own_place(save_recipe, None if directory == PIPE or is_database(directory) else Path(directory))
    session = engines[engine].start_session(master)
    with showing_progress(quiet=quiet or as_json) as progress, using(threads):
        book = None if ledger is None else Ledger(ledger)
        release = loaded.run(
            seed=seed, show=asked_show, ledger=book, if_unsafe=chosen_way, effort=effort, seconds=seconds,
            progress=progress, session=session,
        )  # fmt: skip
        chosen = cast("Format | None", format or loaded.output.get("format"))
        safe = spreadsheet_safe or bool(loaded.output.get("spreadsheet_safe", False))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", FormulaWarning)
            data: str | Path
            if directory == PIPE:
                data = save_to_pipe(release, format=chosen, spreadsheet_safe=safe, progress=progress)
            else:
                data = release.save(directory, format=chosen, force=force, spreadsheet_safe=safe, progress=progress)
        if save_recipe is not None:
            release.save_recipe(save_recipe)
    found = [str(warning.message) for warning in told if warning.category is FormulaWarning]
    for other in (warning for warning in told if warning.category is not FormulaWarning):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    summary = {**release.summary, "warnings": [*release.summary["warnings"], *found]}
    if as_json:
        print_json({"directory": shown(asked) if is_database(asked) else str(directory), "data": str(data), **summary})
    elif not quiet:
        console = Console(stderr=directory == PIPE)
        console.print(summary_table("Released", [*release_lines(summary), ("written to", str(data))]))
        _say_what_is_next(directory, loaded)


def _say_what_is_next(directory: str | Path, recipe: Recipe) -> None:
    """Name the command that attacks the release, with the original if that is a file."""
    original = recipe.source.get("path")
    if isinstance(directory, str) or not isinstance(original, str) or "://" in original:
        return
    words = ["incrowd", "audit", str(directory), "--original", str(recipe.base / original), "-o", "audit.html"]
    typer.echo(f"Attack it before it leaves the house:\n  {shlex.join(words)}")


COMMANDS = (Command(publish, place=40),)
