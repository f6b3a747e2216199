"""`incrowd apply`: give other rows the labels of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.command import Command
from incrowd.cli.reading_options import Reading, takes_reading_options


@takes_reading_options
def apply(
    release: Annotated[Path, typer.Argument(help="The directory of a release with labels.")],
    source: Annotated[str, typer.Argument(help="The new table: a file with the columns that the first one had.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="New directory (default: RELEASE-applied, beside it).")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="csv, parquet, arrow, xlsx, sav, dta or xpt (default: as the new table).")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger to write the release down in.")] = None,
    if_unsafe: Annotated[
        str | None,
        typer.Option(
            help="refuse, or withhold groups: where the release and earlier ones of the ledger would tell too much "
            "(default: refuse)."
        ),
    ] = None,
    *,
    reading: Reading,
    force: Annotated[bool, typer.Option("--force", help="Replace a release that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Recode a new table as an earlier RELEASE was, verify the same models, and withhold what fails."""
    from rich.console import Console

    from incrowd.cli.if_unsafe import as_way
    from incrowd.cli.output import print_json, release_lines, showing_progress, summary_table
    from incrowd.common.surface import not_by_recipe
    from incrowd.core.release_directory import require_free
    from incrowd.ledger import Ledger
    from incrowd.publishing.applying import recipe_to_apply
    from incrowd.publishing.saving import formats

    if format is not None and format not in formats():
        raise typer.BadParameter(f"it is one of {', '.join(formats())}", param_hint="--format")
    recipe = recipe_to_apply(release, source, reading)
    way = as_way(if_unsafe)
    directory = output or release.parent / f"{release.name}-applied"
    require_free(directory, force=force)
    with showing_progress(quiet=quiet or as_json) as progress, not_by_recipe():  # it is the release's
        book = None if ledger is None else Ledger(ledger)
        made = recipe.run(ledger=book, if_unsafe=way, progress=progress)
        data = made.save(directory, format=format, force=force, progress=progress)
    if as_json:
        print_json({"directory": str(directory), "data": str(data), **made.summary})
    elif not quiet:
        lines = [*release_lines(made.summary), ("written to", str(data))]
        Console().print(summary_table("Released by the same scheme", lines))


COMMANDS = (Command(apply, place=45),)
