"""Every option of every command with values that nobody should give: a clear end, never a fault."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zlib import crc32

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
IN_PART = {"attack": 0, "audit": 3, "advise": 5, "plan RECIPE": 1}
"""Commands that take longer: each option meets every seventh value, the next one another seventh. Options that two of
these commands have are read by the same code, and meet other values in the other command."""
READERS = ("check", "profile", "hierarchy")
"""Commands that read a table as all of them do: one function takes these options and opens it. Each of the three meets
each of these options with every third value, and each option meets every value in one of them."""
SLOW = ("--figures", "--plot", "--master", "--engine")
"""They draw with another library, or start another program, where their value is good."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a recipe, a hierarchy and a release."""
    place = tmp_path_factory.mktemp("made") / "made"
    place.mkdir()
    with chdir(place):
        Path("people.csv").write_text(PEOPLE, encoding="utf-8")
        Path("people.recipe.toml").write_text(RECIPE, encoding="utf-8")
        Path("sex.csv").write_text("F;*\nM;*\n", encoding="utf-8")
        assert incrowd("publish", "people.recipe.toml", "-o", "release", "--quiet", "--seed", "1").code == 0
    return place


@pytest.fixture(autouse=True)
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_queries: None) -> None:
    """All of it in the current directory, where it may be spoilt; a fault is raised as it is."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "made"))
    monkeypatch.setenv("INCROWD_DEBUG", "1")


def options(command: str) -> Iterator[str]:
    """Yield the options of a command that take a value."""
    for parameter in BUILT.commands[command].params:
        if parameter.param_type_name == "option" and not parameter.is_flag and parameter.opts[0] not in SLOW:
            yield parameter.opts[0]


def odd_values(command: str, option: str, place: int) -> tuple[str, ...]:
    """Return what an option of a command is tried with."""
    if command in IN_PART:
        return ODD[(place + IN_PART[command]) % 7 :: 7]
    if command in READERS and all(option in options(other) for other in READERS):
        return ODD[(crc32(option.encode()) + READERS.index(command)) % 3 :: 3]
    return ODD


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
        for place, option in enumerate(options(name)):
            for odd in odd_values(command, option, place):
                done = incrowd(name, *COMMANDS[command], option, odd)
                assert well_ended(done), (option, odd, done)


def test_every_option_meets_every_odd_value_where_nothing_takes_long() -> None:
    met: dict[str, set[str]] = {}
    for command in {*COMMANDS} - {*IN_PART}:
        for place, option in enumerate(options(command)):
            values = odd_values(command, option, place)
            assert len(values) >= len(ODD) // 3
            met.setdefault(option, set()).update(values)
    assert met
    assert all(values == {*ODD} for values in met.values())


@pytest.mark.parametrize("command", [*COMMANDS, "compare", "demo", "experiment", "nonsense", "", "--nonsense"])
def test_an_odd_argument_is_taken_or_refused(command: str) -> None:
    with patch.object(program, "asked_for", lambda _: BUILT):
        for odd in ("nowhere.toml", "/", "", "z" * 5000, "people.csv", "a\0b"):
            if not (command == "profile" and odd == "people.csv"):
                assert well_ended(incrowd(*command.split()[:1], odd)), (command, odd)


@pytest.mark.parametrize("command", ["list", "--help", "check people.csv -q age"])
def test_a_reader_that_goes_away_sees_no_complaint(command: str) -> None:
    """Of tables, help and texts; `test_commands.py` has JSON."""
    run = f"{sys.executable} -m incrowd {command} | head -c 1"
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", run], capture_output=True, text=True, timeout=120)
    assert ended.stderr == ""
    assert len(ended.stdout) == 1
