"""Processes that need one loop at once: one compiles it, and nobody waits for ever."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from incrowd.kernels import turns
from incrowd.kernels.turns import Turn

pytest.importorskip("fcntl")
HOLD = (
    "import sys, time; from pathlib import Path; from incrowd.kernels.turns import Turn\n"
    "Turn(Path(sys.argv[1])).take(); print('mine', flush=True); time.sleep(float(sys.argv[2]))"
)


def holding(path: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Start a process that has the lock for some time, and then ends without giving it back."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, path, str(seconds)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"mine\n"
    return process


def test_one_waits_for_the_other(tmp_path: Path) -> None:
    with holding(tmp_path / "lock", 1.0) as process:
        start = time.monotonic()
        turn = Turn(tmp_path / "lock")
        assert turn.take()
        assert time.monotonic() - start > 0.3
        assert not turn.take()  # it has it already
        turn.end()
        process.wait()


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_SECONDS", 0.2)
    with holding(tmp_path / "lock", 60) as process:
        assert not Turn(tmp_path / "lock").take()
        process.kill()
    assert Turn(tmp_path / "lock").take()  # a process that was killed has nothing


def test_where_nothing_can_be_written_everybody_compiles(tmp_path: Path) -> None:
    turn = Turn(tmp_path / "nowhere" / "lock")
    assert not turn.take()
    turn.end()
