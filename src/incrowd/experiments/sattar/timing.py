"""Figure 10: seconds from a table in memory to a checked release, by rows and distortion limit, beside Mondrian's."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from incrowd.common.progress import Progress
from incrowd.experiments.results import Results
from incrowd.experiments.sattar.releases import Releases
from incrowd.experiments.sattar.settings import OURS, Settings
from incrowd.experiments.tables import census_subject
from incrowd.publishing.release import Release

_TIMES = 2


def measure_times(results: Results, settings: Settings, progress: Progress) -> None:
    """Write down the shorter of two runs each, after one that warms up compiled code."""
    steps = [(rows, limit) for rows in settings.time_rows for limit in (*settings.time_limits, None)]
    warm = Releases(census_subject("occupation", 2_000, settings.seed), settings)
    warm.recoded()
    warm.cut(5)
    subjects: dict[int, Releases] = {}
    for number, (rows, limit) in enumerate(steps):
        progress("time", number / len(steps))
        if rows not in subjects:
            subjects = {rows: Releases(census_subject("occupation", rows, settings.seed), settings)}
        releases = subjects[rows]
        if limit is None:
            method, parameter, work = "Mondrian", "Avg.k", partial(releases.cut, releases.avg_k)
        else:
            method, parameter, work = OURS, str(limit), partial(releases.recoded, limit)
        for measure, seconds in _shortest(work).items():
            results.add("10", "census occupation", rows, method, parameter, measure, seconds)
    progress("time", 1.0)


def _shortest(work: Callable[[], Release]) -> dict[str, float]:
    """Return the shorter of several runs, by the clock and by the processors' own time, which others do not disturb."""
    taken = []
    for _ in range(_TIMES):
        start, used = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - start, time.process_time() - used))
    clock, processors = (min(times) for times in zip(*taken, strict=True))
    return {"seconds": clock, "CPU seconds": processors}
