"""What a module of this package declares to add to the command line: its `COMMANDS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

import typer

from incrowd.common.registry import load_entry, modules_of
from incrowd.errors import RecipeError


@dataclass(frozen=True)
class Command:
    """A command, or a group of commands, and its place in the list of all of them: in the order of a person's work."""

    run: Callable[..., None] | typer.Typer
    place: int
    name: str | None = None
    """What it is called; by default, as the function."""


def all_commands() -> Iterator[Command]:
    """Yield the commands that the modules of this package declare, and those of other packages, in their order.

    Other packages name a `Command`, or a module with `COMMANDS`, by an entry point of the group `incrowd.commands`.
    """
    found = [command for module in modules_of("incrowd.cli") for command in vars(module).get("COMMANDS", ())]
    for entry in entry_points(group="incrowd.commands"):
        loaded = load_entry(entry)
        commands = vars(loaded).get("COMMANDS", ()) if isinstance(loaded, ModuleType) else (loaded,)
        if not commands or not all(isinstance(command, Command) for command in commands):
            raise RecipeError(f"the entry point '{entry.name}' of incrowd.commands is no command: {entry.value}.")
        found += commands
    yield from sorted(found, key=lambda command: command.place)


def first_sentence(documented: Any) -> str:
    """Return the first line of a docstring."""
    return (documented.__doc__ or "").strip().splitlines()[0] if documented.__doc__ else ""
