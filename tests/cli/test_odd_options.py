"""Every option of every command with values that nobody should give: a clear end, never a fault."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.main import get_command

from incrowd.cli import app as program
from tests.cli.command import Done, incrowd

ODD = (
    "", " ", ",", "x", "-5", "0", "1", "0.5", "1e-300", "1e999999999", "nan", "inf", "1/3", "1/0",
    str(2**63), "9" * 400, "nowhere/nothing", "/", "é\n", "[", "z" * 5000,
)  # fmt: skip
PEOPLE = "age,sex,ill\n" + "20,F,flu\n21,M,cold\n22,F,gout\n21,F,flu\n20,M,cold\n" * 4
RECIPE = """incrowd = 1
source = { path = "people.csv" }
models = [{ name = "k-anonymity", k = 2 }]
method = "local-recoding"
columns = { age = "quasi", sex = "quasi", ill = "sensitive" }
"""
COMMANDS = {
    "publish": ["people.recipe.toml", "--quiet"],
    "check": ["people.csv", "--quasi", "age"],
    "plan": ["--epsilon", "1", "--delta", "1e-6", "--k", "20"],
    "plan RECIPE": ["people.recipe.toml", "--epsilon", "1", "--delta", "1e-6"],
    "advise": ["people.recipe.toml", "--rate", "0.9", "--max-distortion", "0.5"],
    "attack": ["release", "--original", "people.csv"],
    "audit": ["release", "--original", "people.csv", "--no-learning", "--no-remedies"],
    "profile": ["people.csv", "--json"],
    "hierarchy": ["sex.csv"],
    "list": [],
}
BUILT: Any = get_command(program.app)
SLOW = ("--figures", "--plot", "--master", "--engine")
"""They draw with another library, or start another program, where their value is good."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_queries: None) -> None:
    """A table, a recipe, a hierarchy and a release in the current directory; a fault is raised as it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INCROWD_DEBUG", "1")
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("people.recipe.toml").write_text(RECIPE, encoding="utf-8")
    Path("sex.csv").write_text("F;*\nM;*\n", encoding="utf-8")
    assert incrowd("publish", "people.recipe.toml", "-o", "release", "--quiet", "--seed", "1").code == 0


def options(command: str) -> Iterator[str]:
    """Yield the options of a command that take a value."""
    for parameter in BUILT.commands[command].params:
        if parameter.param_type_name == "option" and not parameter.is_flag and parameter.opts[0] not in SLOW:
            yield parameter.opts[0]


def well_ended(done: Done) -> bool:
    """Whether a command ended as it should: done, or with one message of a length that can be read."""
    if done.code in (0, 1):
        return True
    told = "Usage: " in done.err if done.code == 2 else len(done.err.splitlines()) == 1
    return done.code in (2, 3, 4, 5) and told and len(done.err) < 12_000 and "Traceback" not in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_odd_value_is_taken_or_refused(command: str) -> None:
    name = command.split()[0]
    with patch.object(program, "asked_for", lambda _: BUILT):
        for option in options(name):
            for odd in ODD[::4] if command in ("attack", "audit", "advise") else ODD:  # they take longer
                done = incrowd(name, *COMMANDS[command], option, odd)
                assert well_ended(done), (option, odd, done)


@pytest.mark.parametrize("command", [*COMMANDS, "compare", "demo", "experiment", "nonsense", "", "--nonsense"])
def test_an_odd_argument_is_taken_or_refused(command: str) -> None:
    with patch.object(program, "asked_for", lambda _: BUILT):
        for odd in ("nowhere.toml", "/", "", "z" * 5000, "people.csv", "a\0b"):
            if not (command == "profile" and odd == "people.csv"):
                assert well_ended(incrowd(*command.split()[:1], odd)), (command, odd)


@pytest.mark.parametrize("command", ["list", "list --json", "--help", "check people.csv -q age"])
def test_a_reader_that_goes_away_sees_no_complaint(command: str) -> None:
    run = f"{sys.executable} -m incrowd {command} | head -c 1"
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", run], capture_output=True, text=True, timeout=120)
    assert ended.stderr == ""
    assert len(ended.stdout) == 1
