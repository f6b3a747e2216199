"""Recipes that chance makes up and damages: each ends in a release, or in one clear message and the right exit code."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar
from unittest.mock import patch

from typer.main import get_command

from incrowd.cli import app as program
from tests.campaigns.campaign import Campaign
from tests.campaigns.recipe_making import make_people, make_recipe
from tests.cli.command import incrowd

_SECONDS, _SECONDS_AT_ALL = 20, 200
_MOST_BYTES = 5_000_000
_MOST_TOLD = 4_000
_RECIPE, _OUT = "people.recipe.toml", "out"


class Recipes(Campaign):
    """A good recipe over a small table, damaged a few times, through the commands that read recipes."""

    name: ClassVar[str] = "recipes"
    share: ClassVar[int] = 20

    def trial(self, number: int, place: Path) -> str | None:
        """Run one recipe."""
        dice = random.Random(number)
        people = make_people(dice)
        recipe = make_recipe(dice, people.partition("\n")[0].split(","))
        command = _command(dice)
        for attempt in ("first", "second"):  # the first one may have to wait for code that is compiled
            here = place / attempt
            here.mkdir()
            (here / "people.csv").write_text(people, encoding="utf-8")
            (here / _RECIPE).write_bytes(recipe)
            start = time.process_time()
            with _at_most(_SECONDS_AT_ALL), _inside(here), _ready():
                found = _judge(command, here)
            if found is not None or time.process_time() - start < _SECONDS:
                return found
        return f"{' '.join(command)}: more than {_SECONDS} seconds of work"


@cache
def _built() -> Any:
    """Return the command line ready for use: to build it takes longer than most trials."""
    return get_command(program.app)


@contextmanager
def _ready() -> Iterator[None]:
    """Let a fault be seen as it is, and the command line be built once only."""
    with patch.dict(os.environ, {"INCROWD_DEBUG": "1"}), patch.object(program, "asked_for", lambda _: _built()):
        yield


def _judge(command: tuple[str, ...], place: Path) -> str | None:
    done = incrowd(*command)
    said = f"{' '.join(command)}: exit code {done.code}, {done.err[-600:]!r}"
    if done.code not in (0, 1, 2, 3, 4, 5):
        return said
    if len(done.out) > 100_000 or len(done.err) > _MOST_TOLD or _size(place) > _MOST_BYTES:
        return f"{len(done.out)} + {len(done.err)} characters said, {_size(place)} bytes written; {said}"
    if done.code > 1:
        told = "Usage: " in done.err if done.code == 2 else done.err.startswith("incrowd: ")
        left = [path.name for path in place.iterdir() if path.name not in ("people.csv", _RECIPE)]
        return None if told and not left else f"{said}; left behind: {left}"
    return _judge_release(place) if command[0] == "publish" and done.code == 0 else None


def _judge_release(place: Path) -> str | None:
    """What was published must read back: the recipe runs again, and labels satisfy what they were made for."""
    summary = json.loads((place / _OUT / "summary.json").read_text(encoding="utf-8"))
    again = incrowd("publish", place / _OUT / "recipe.toml", "-o", "again")
    if again.code not in (0, 4):  # another sample may be too small for what is required
        return f"the published recipe cannot be run: {again}"
    verified = any(told["basis"] == "verified" for told in summary["guarantees"])
    # Of a sample, only the publisher knows what the values' shares were that groups are compared with.
    if summary["form"] != "generalized" or not verified or "sampling rate" in summary["rows"]:
        return None
    data = next(path for path in (place / _OUT).iterdir() if path.stem == "data")
    # Means stand for labels that only the whole directory tells.
    means = 'show = "mean"' in (place / _OUT / "recipe.toml").read_text(encoding="utf-8")
    asked = (place / _OUT,) if means else (data, "--recipe", place / _OUT / "recipe.toml")
    checked = incrowd("check", *asked)
    return None if checked.code == 0 else f"check does not agree: {checked}"


class TooLongError(BaseException):
    """A trial takes longer than it may; no handler of the program takes it for an error of its own."""


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except TooLongError as late:
        raise TimeoutError(f"no end within {seconds} seconds") from late
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _inside(place: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(here)


def _size(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def _command(dice: random.Random) -> tuple[str, ...]:
    seen = dice.random()
    if seen < 0.8:
        return ("publish", _RECIPE, "-o", _OUT, "--quiet")
    if seen < 0.88:
        return ("check", "people.csv", "--recipe", _RECIPE)
    if seen < 0.93:
        return ("plan", _RECIPE, "--epsilon", "1", "--delta", "1e-6")
    if seen < 0.99:
        return ("advise", _RECIPE, "--rate", "0.5,1", "--max-distortion", "0.5")
    return ("compare", _RECIPE, "-o", _OUT, "--jobs", "1")
