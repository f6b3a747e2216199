"""Runs that are stopped while they publish: the release that was there is whole, or the new one, and nothing is left.

Half of the trials stop a real run at a moment of chance; the others let it stop itself before or after one of its calls
that change the file system, so that the short moments in which something moves are met as often as the long ones.
"""

from __future__ import annotations

import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import incrowd as ic
from tests.campaigns.campaign import Campaign
from tests.campaigns.kept import kept_directory
from tests.cli.command import incrowd

_PEOPLE, _RECIPE = "people.csv", "people.recipe.toml"
_FORMATS = ("csv", "parquet", "arrow")
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_STEPS = 50
"""A little more calls than a run makes, so that some runs end by themselves."""
_SECONDS = 3.0

_DYING = """
import signal, sys
from incrowd.cli.app import main
from tests.dying import die_at
die_at(int(sys.argv.pop(1)), signal.Signals(int(sys.argv.pop(1))), exchanging=sys.argv.pop(1) == "True")
main()
"""


@functools.cache
def _prepared() -> Path:
    """Return a place with a table, its recipe, and a release of it in every format."""
    place = kept_directory()
    ic.datasets.census(2_000).write_csv(place / _PEOPLE)
    (place / _RECIPE).write_text(
        'incrowd = 1\nothers = "drop"\nsource = { path = "people.csv" }\nseed = 1\n'
        'models = [{ name = "k-anonymity", k = 4 }]\n'
        '[columns]\nage = "quasi"\nsex = "quasi"\noccupation = "sensitive"\n',
        encoding="utf-8",
    )
    release = ic.Recipe.load(place / _RECIPE).run()
    for format in _FORMATS:  # as deep as in a trial: the recipe in it says where the table is from there
        release.save(place / "releases" / format, format=format)  # type: ignore[arg-type]
    return place


def files(release: Path) -> dict[str, bytes] | None:
    """All that is in a release; None where there is none."""
    return {path.name: path.read_bytes() for path in release.iterdir()} if release.exists() else None


class Kills(Campaign):
    """Publishing, stopped by a signal."""

    name = "kills"
    share = 2

    def trial(self, number: int, place: Path) -> str | None:
        """Stop a run, look at what is there, run again, and look at what is left."""
        chance = random.Random(number)
        for name in (_PEOPLE, _RECIPE):
            shutil.copy(_prepared() / name, place / name)
        target = place / "releases" / "out"
        before = chance.choice([None, *_FORMATS])
        format = chance.choice(_FORMATS)
        if before is not None:
            shutil.copytree(_prepared() / "releases" / before, target)
        old, new = files(target), files(_prepared() / "releases" / format)
        force = before is not None or chance.random() < 0.5
        publish = ["publish", str(place / _RECIPE), "-o", str(target), "--format", format, "--quiet"]
        publish += ["--force"] if force else []
        stop, exchanging = chance.choice(_SIGNALS), chance.random() < 0.8
        if chance.random() < 0.5:
            step = chance.randrange(_STEPS)
            how = f"{stop.name} at step {step}, exchanging={exchanging}"
            _run([sys.executable, "-c", _DYING, str(step), str(int(stop)), str(exchanging), *publish])
        else:
            seconds, exchanging = chance.random() * _SECONDS, True
            how = f"{stop.name} after {seconds:.3f} s"
            _run([sys.executable, "-m", "incrowd", *publish], stop, seconds)
        told = f"{before} to be replaced by {format}, force={force}, {how}"
        if exchanging and files(target) not in (old, new):
            return f"{told}: neither the old release nor the new one is there, but {_names(target)}"
        incrowd(*(publish if force else [*publish, "--force"]))  # whoever comes next: a process of its own says no more
        if files(target) != new:
            return f"{told}: the next run did not publish, there is {_names(target)}"
        left = sorted(path.name for path in target.parent.iterdir())
        return None if left == ["out"] else f"{told}: left {left}"


def _names(target: Path) -> object:
    return sorted(path.name for path in target.iterdir()) if target.exists() else "nothing"


def _run(command: list[str], stop: signal.Signals | None = None, seconds: float = 0) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if stop is not None:
            deadline = time.monotonic() + seconds
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.001)
            process.send_signal(stop)
        process.wait(timeout=120)
