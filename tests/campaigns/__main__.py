"""Run campaigns: `python -m tests.campaigns [NAME ...] --minutes 10`."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import TimeoutError as NoAnswer
from multiprocessing import get_context

from tests.campaigns.campaign import Finding, campaigns, one_trial


def main() -> int:
    """Run trials until the time or the numbers are used up; the exit status tells whether a promise was broken."""
    known = campaigns()
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(known)} (default: all)")
    parser.add_argument("--minutes", type=float, default=5, help="how long each of them runs at most (5)")
    parser.add_argument("--trials", type=int, default=None, help="how many trials each of them makes at most")
    parser.add_argument("--first", type=int, default=None, help="the number of the first trial (by chance)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="how many run at once")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - set(known))
    if unknown:
        parser.error(f"there is no campaign '{unknown[0]}'; there are {', '.join(known)}")
    first = int.from_bytes(os.urandom(4)) if asked.first is None else asked.first
    broken = 0
    for name in asked.names or known:
        broken += _run(name, first, asked.trials, 60 * asked.minutes, asked.processes)
    return 1 if broken else 0


def _run(name: str, first: int, trials: int | None, seconds: float, processes: int) -> int:
    end, made, found = time.monotonic() + seconds, 0, 0
    numbers: Iterator[int] = itertools.count(first) if trials is None else iter(range(first, first + trials))
    # A process of its own for each share of trials: one that dies is a finding, and nothing grows for hours.
    with get_context("spawn").Pool(processes, maxtasksperchild=50) as pool:
        waiting: list[tuple[int, object]] = []
        while True:
            while len(waiting) < 2 * processes and time.monotonic() < end:
                number = next(numbers, None)
                if number is None:
                    break
                waiting.append((number, pool.apply_async(one_trial, (name, number))))
            if not waiting:
                break
            number, result = waiting.pop(0)
            try:
                finding = result.get(timeout=600)  # type: ignore[attr-defined]
            except NoAnswer:
                finding = Finding(name, number, "no answer within 600 seconds, or its process died")
            made += 1
            if finding is not None:
                found += 1
                print(finding, flush=True)
    print(f"{name}: {made} trials from {first} on, {found} broken promises", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
