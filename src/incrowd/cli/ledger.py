"""`incrowd ledger`: begin a ledger, look at it, and check that nobody changed it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.command import Command
from incrowd.cli.stopping import stoppable

ledger = typer.Typer(help="Keep a ledger of releases: what was published, and what it cost.", no_args_is_help=True)

_Directory = Annotated[Path, typer.Argument(help="The directory of the ledger.")]
_Key = Annotated[Path | None, typer.Option(help="The file of its key (default: beside the directory, NAME.key).")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@ledger.command()
@stoppable
def init(
    directory: Annotated[Path, typer.Argument(help="A new directory.")],
    epsilon: Annotated[str | None, typer.Option(help="Cap: the ε that all private releases may cost together.")] = None,
    delta: Annotated[
        str, typer.Option(help="Cap: their δ. With one, many small prices cost less than their sum.")
    ] = "0",
    people: Annotated[
        bool,
        typer.Option(
            "--people",
            help="Keep who was published in which group, and judge releases together. As secret as the table.",
        ),
    ] = False,
    key: _Key = None,
) -> None:
    """Begin a ledger in a new DIRECTORY, with a key in a file of its own."""
    from incrowd.dp.budget import Budget
    from incrowd.ledger import Ledger

    if epsilon is None and delta != "0":
        raise typer.BadParameter("a cap has an ε, too: say --epsilon", param_hint="--delta")
    made = Ledger.create(directory, cap=None if epsilon is None else Budget(epsilon, delta), people=people, key=key)
    typer.echo(f"Begun: {directory}.")
    if people:
        typer.echo(
            f"{directory / 'people'} will hold who was published in which group, under hashes of the key. It is as "
            "secret as the tables: only you can read it."
        )
    typer.echo(
        f"Its key is {made.key_file}. Keep it in another place, and keep a copy: without it nothing can be added."
    )


@ledger.command()
@stoppable
def show(directory: _Directory, key: _Key = None, as_json: _Json = False) -> None:
    """Print every entry, and what is spent."""
    from rich.console import Console
    from rich.table import Table

    from incrowd.cli.output import print_json
    from incrowd.ledger import Ledger

    book = Ledger(directory, key=key)
    entries, cap = book.entries, book.cap
    if as_json:
        told = [{"number": each.number, "time": each.time, "kind": each.kind, **each.told} for each in entries]
        fixed = book.spent_if_fixed
        sums = {"spent": book.spent, "spent if prices were fixed": fixed, "cap": cap}
        print_json({**{key: None if one is None else str(one) for key, one in sums.items()}, "entries": told})
        return
    table = Table("entry", "time", "what", "about", "method", "price", title=f"Ledger {directory.name}")
    for each in entries:
        price = each.told.get("price")
        paid = (
            ""
            if price is None
            else f"ε = {price['epsilon']}" + (f", δ = {price['delta']}" if price["delta"] != "0" else "")
        )
        about = "" if each.about == each.number else str(each.about)
        table.add_row(str(each.number), each.time, each.kind, about, str(each.told.get("method", "")), paid)
    console = Console()
    console.print(table)
    console.print(f"spent: {book.spent}" + ("; no cap" if cap is None else f" of {cap}"), highlight=False)
    fixed = book.spent_if_fixed
    if fixed is not None:
        line = f"if no price was chosen by what earlier releases showed: {fixed} (privacy-loss distributions)"
        console.print(line, highlight=False)


@ledger.command()
@stoppable
def verify(
    directory: _Directory,
    releases: Annotated[list[Path] | None, typer.Argument(help="Saved releases to look up in it.")] = None,
    key: _Key = None,
) -> None:
    """Check that no entry was changed or removed, and that RELEASES are in it as they were saved."""
    from incrowd.cli.app import EXIT_FAILED_CHECK
    from incrowd.ledger import Ledger

    book = Ledger(directory, key=key)
    wrong = book.verify(releases or ())
    for problem in wrong:
        typer.echo(problem)
    if wrong:
        raise typer.Exit(EXIT_FAILED_CHECK)
    number = len(book.entries)
    typer.echo(f"{number} {'entry' if number == 1 else 'entries'}, none changed or removed; {book.spent} spent.")


COMMANDS = (Command(ledger, place=95, name="ledger"),)
