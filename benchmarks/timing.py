"""Timing: in this process, and of a whole process with its memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    """What a whole process took."""

    seconds: float
    peak_bytes: int


def median_seconds(work: Callable[[], object], times: int = 3) -> float:
    """Return the median time of several runs, after one that warms up caches and compiled code."""
    work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


@dataclass(frozen=True)
class Times:
    """Seconds by the clock, and of the CPU."""

    wall: float
    cpu: float


def median_times(work: Callable[[], object], times: int = 3) -> Times:
    """Return the median times of several runs, each by itself, after one that warms up caches and compiled code."""
    work()
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Times(statistics.median(walls), statistics.median(cpus))


def run_process(arguments: list[str], environment: Mapping[str, str] | None = None) -> Process:
    """Run a Python module as a process of its own; return wall time and peak memory."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", *arguments], env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{arguments} ended with {child.returncode}")
    return Process(seconds, usage.ru_maxrss * 1024)
