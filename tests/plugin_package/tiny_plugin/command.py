"""`incrowd tiny`: how many parts this package adds."""

from __future__ import annotations

import typer

from incrowd.cli.command import Command


def tiny() -> None:
    """Count the parts that tiny-plugin adds."""
    from incrowd.core.families import FAMILIES, registered

    parts = [
        cls for family in FAMILIES for cls in registered(family).values() if cls.__module__.startswith("tiny_plugin")
    ]
    typer.echo(f"{len(parts)} tiny parts")


COMMANDS = (Command(tiny, place=200),)
