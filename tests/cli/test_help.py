"""Every help text shows what it says: nothing in brackets is eaten as markup, and every option is there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from incrowd.cli.app import app
from incrowd.cli.command import all_commands, options_of

BRACKETS = re.compile(r"\[\[?[^\[\]\s]+\]?\]")


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group of commands, with the words that call it."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


def texts(command: Any) -> Iterator[str]:
    """All that a command says about itself, as it is written in the code."""
    yield command.help or ""
    for parameter in command.params:
        yield getattr(parameter, "help", None) or ""


@cache
def shown(*words: str) -> str:
    told = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "220", "TERMINAL_WIDTH": "220"})
    assert told.exit_code == 0
    return told.stdout


def in_brackets(text: str) -> list[str]:
    """What a reader should see in brackets; a bracket that is escaped in the code is one bracket."""
    return BRACKETS.findall(text.replace("\\[", "["))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_nothing_in_brackets_is_lost(path: tuple[str, ...]) -> None:
    told = shown(*path)
    for text in texts(ALL[path]):
        for word in in_brackets(text):
            assert word in told
    assert "\\[" not in told


def test_there_are_brackets_to_lose() -> None:
    found = [word for command in ALL.values() for text in texts(command) for word in in_brackets(text)]
    assert {"[[queries]]", "[[compare]]"} <= set(found)


def test_markup_that_is_not_escaped_would_be_noticed() -> None:
    planted = typer.Typer(rich_markup_mode="rich")

    @planted.command()
    def one(name: str = typer.Option("", help="Written in [[queries]].")) -> None:
        pass

    told = CliRunner().invoke(planted, ["--help"], env={"COLUMNS": "200"}).stdout
    assert "[[queries]]" not in told


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_option_is_shown(path: tuple[str, ...]) -> None:
    told = shown(*path)
    for parameter in ALL[path].params:
        if not getattr(parameter, "hidden", False):
            assert all(name in told for name in parameter.opts)


def test_messages_know_the_options_of_each_command() -> None:
    for command in all_commands():
        if isinstance(command.run, typer.Typer):
            continue
        made = ALL[(command.name or command.run.__name__,)]
        typed = {name for parameter in made.params for name in parameter.opts if name.startswith("-")}
        assert options_of(command.run) == typed - {"--help", "-h"}


def test_help_imports_no_more_of_rich_than_it_draws_with() -> None:
    """What was left out is there for a command of another package, and for everybody else."""
    script = """
import sys
from incrowd.cli import drawn_help
drawn_help.prepare()
import typer.rich_utils
assert not {"rich.markdown", "rich.traceback", "markdown_it"} & set(sys.modules)
made = typer.rich_utils.Markdown("**so**")
from rich.markdown import Markdown
assert type(made) is Markdown
"""
    subprocess.run([sys.executable, "-c", script], check=True)
