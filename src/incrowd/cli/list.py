"""`incrowd list`: everything that a recipe or a command may name, plugins included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.command import Command, first_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping


def list_parts(
    family: Annotated[
        str | None,
        typer.Argument(
            help="models, methods, forms, metrics, attacks, hierarchies, changes, sources, sinks, engines, rules."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List what there is by name: models, methods, forms, metrics, attacks, hierarchies, changes, sources, sinks,
    engines, rules."""
    from rich.console import Console

    from incrowd.cli.output import print_json, summary_table
    from incrowd.common.registry import members
    from incrowd.core.families import FAMILIES
    from incrowd.planning.rules import RULES

    families = {**FAMILIES, RULES.name: RULES}
    if family is not None and family not in families:
        raise typer.BadParameter(f"it is one of {', '.join(families)}", param_hint="FAMILY")
    found = {name: _described(members(families[name])) for name in families if family in (None, name)}
    if as_json:
        print_json(found)
        return
    console = Console()
    for name, parts in found.items():
        lines = [(member["name"], _line(member)) for member in parts]
        console.print(summary_table(name.capitalize(), lines))
        console.print()


def _described(members: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "is": first_sentence(cls),
            "parameters": [key if needed else f"[{key}]" for key, needed in cls.recipe_keys().items()],
            "from": cls.__module__.partition(".")[0],
        }
        for name, cls in members.items()
    ]


def _line(member: dict[str, Any]) -> str:
    given = f" ({', '.join(member['parameters'])})" if member["parameters"] else ""
    foreign = "" if member["from"] == "incrowd" else f" [{member['from']}]"
    return f"{member['is']}{given}{foreign}"


COMMANDS = (Command(list_parts, place=110, name="list"),)
