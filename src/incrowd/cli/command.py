"""What a module of this package declares to add to the command line: its `COMMANDS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from incrowd.common.records import dataclass
from incrowd.common.registry import added_by_others, load_entry, modules_of
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
    for entry in added_by_others("incrowd.commands"):
        loaded = load_entry(entry)
        commands = vars(loaded).get("COMMANDS", ()) if isinstance(loaded, ModuleType) else (loaded,)
        if not commands or not all(isinstance(command, Command) for command in commands):
            raise RecipeError(f"the entry point '{entry.name}' of incrowd.commands is no command: {entry.value}.")
        found += commands
    yield from sorted(found, key=lambda command: command.place)


def options_of(command: Callable[..., None]) -> set[str]:
    """Return the options of a command, as they are typed: `--query`."""
    found: set[str] = set()
    for name, hint in get_type_hints(command, include_extras=True).items():
        for told in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
            if isinstance(told, OptionInfo):
                # Typer takes the first name for a default until it reads the annotation.
                stated = [text for text in (told.default, *(told.param_decls or ())) if isinstance(text, str)]
                found.update(stated or ["--" + name.replace("_", "-")])
    return found


def first_sentence(documented: Any) -> str:
    """Return the first line of a docstring."""
    return (documented.__doc__ or "").strip().splitlines()[0] if documented.__doc__ else ""
