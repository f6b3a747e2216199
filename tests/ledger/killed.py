"""Processes that write into a ledger until a signal ends them, which they neither catch nor see coming.

It comes after so many seconds of their own work: on a busy machine, others would be killed before they had begun. They
are copies of a small process, which has a ledger and nothing else: to copy a process of tests, and to take the
copy down, takes longer than most of them live.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from incrowd.dp.budget import Budget
from incrowd.ledger import Ledger
from tests.ledger.naive_adversary import Shown
from tests.ledger.placements import placement

PEOPLE = placement(Shown({person: ("abcd"[person % 4], person // 4) for person in range(400)}))


def spend(ledger: Ledger, seen: Path, trial: int) -> None:
    """Pay for releases, each of which leaves a file as soon as something may be known of it."""
    for turn in range(1000):
        with ledger.start({"trial": trial}, Budget("1/1024")) as entry:
            (seen / f"{trial}-{turn}").touch()  # noise: from here on, something may be known
            entry.done({})


def publish(ledger: Ledger, seen: Path, trial: int) -> None:
    """Make releases of people, each of which leaves a file as soon as somebody may have it."""
    for _ in range(1000):
        with ledger.start({}) as entry:
            entry.done({}, people=PEOPLE)
            (seen / str(entry.entry.number)).touch()  # from here on, somebody may have the release


@contextmanager
def killed(work: Callable[[Ledger, Path, int], None], book: Path, seen: Path) -> Iterator[Callable[[float], None]]:
    """Give what starts another process that does this work, and is killed after so many seconds of it."""
    command = [sys.executable, "-m", __name__, work.__name__, str(book), str(seen)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as small:
        asked, told = small.stdin, small.stdout
        assert asked is not None
        assert told is not None

        def one(seconds: float) -> None:
            print(seconds, file=asked, flush=True)
            assert told.readline() == "killed\n"  # it did not end by itself, by an error for example

        yield one
    assert small.returncode == 0


def main(work: Callable[[Ledger, Path, int], None], ledger: Ledger, seen: Path) -> None:
    for trial, seconds in enumerate(sys.stdin):
        child = os.fork()
        if child == 0:
            try:
                signal.setitimer(signal.ITIMER_PROF, float(seconds))
                work(ledger, seen, trial)
            finally:
                os._exit(1)
        was_killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        print("killed" if was_killed else "ended", flush=True)
        assert ledger.entries  # it knows what is written by now, and the next one need not read all of that again


if __name__ == "__main__":
    main({"spend": spend, "publish": publish}[sys.argv[1]], Ledger(sys.argv[2]), Path(sys.argv[3]))
