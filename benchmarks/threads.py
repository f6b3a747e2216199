"""`python -m benchmarks.threads`: how much faster work is on all cores than on one.

Every way runs in two processes of its own: one that may use a single core, and one that may use all of them. That holds
for Polars, too. What is timed is said in its name; tables are made, read and counted before. Each process says what
came out, and both must say the same. With `--runs`, both run so often in turns, and the fastest of each is shown: on a
machine that others use, one run may take half as long again as the next.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import Table

Work = Callable[[], Any]
"""What is timed; it returns text or arrays that tell what came out. They are not copied before the time is taken."""


def sorts(rows: int, cache: Path) -> Work:
    """Sort eight lists that have nothing to do with each other: no work gains more from cores than this."""
    import numpy as np

    from incrowd.common.threads import do_together

    lists = [np.random.default_rng(seed).integers(0, 2**62, rows // 8) for seed in range(8)]

    def sort() -> Any:
        return do_together([partial(np.sort, one) for one in lists], steps=rows)

    return sort


def mondrian_search(rows: int, cache: Path) -> Work:
    """Search for groups, of counts that are there."""
    import numpy as np

    import incrowd as ic
    from benchmarks.matrix import open_table, write_table
    from incrowd.common.progress import silent

    path = cache / f"wide-{rows}-8.parquet"
    if not path.exists():
        write_table(path, rows, 8)
    table = open_table(path, 8)
    tally = table.engine.count(table.schema, None, values=False).tally

    def search() -> Any:
        rng = np.random.default_rng(0)
        found = ic.Mondrian().search(tally, table.schema.searched, [ic.KAnonymity(5)], rng=rng, progress=silent)
        return found.groups, found.lows, found.highs

    return search


def moves(rows: int, cache: Path) -> Work:
    """Move people between groups that were found, two passes over all of them."""
    import numpy as np

    import incrowd as ic
    from incrowd.common.progress import silent
    from incrowd.methods.improving import improve

    table, method, models = _census(rows, cache), ic.Mondrian(labels="hierarchy"), [ic.KAnonymity(5)]
    tally = table.engine.count(table.schema).tally
    own = method.search(tally, table.schema, models, rng=np.random.default_rng(0), progress=silent)

    def move() -> Any:
        found = improve(tally, table.schema, models, own, method.moves, effort=2, progress=silent)
        return found.groups, found.lows, found.highs

    return move


def slicing(rows: int, cache: Path) -> Work:
    """Read a table, slice it and verify it."""
    import incrowd as ic

    table = _census(rows, cache)

    def publish() -> Any:
        release = ic.publish(table, ic.SlicedDiversity(5), method=ic.Slicing(), seed=1)
        return [release.form.permuted.tuples]  # type: ignore[attr-defined]

    return publish


def recoding(rows: int, cache: Path) -> Work:
    """Read a table, search for levels and join the groups that fail."""
    import incrowd as ic

    table = _census(rows, cache)

    def publish() -> Any:
        method, models = ic.FullDomain(leftovers="recode"), [ic.KAnonymity(5), ic.DistinctLDiversity(3)]
        release = ic.publish(table, models, method=method, seed=1)
        return [release.form.groups]  # type: ignore[attr-defined]

    return publish


def synthesis(rows: int, cache: Path) -> Work:
    """Read a table, count noisy marginals, make rows of them, and measure errors."""
    import incrowd as ic

    table = _census(rows, cache)

    def publish() -> str:
        release = ic.publish(table, method=ic.MarginalSynthesis(1), seed=1)
        return repr(release.form.measured.errors) + repr(release.form.rows)  # type: ignore[attr-defined]

    return publish


def audit_of(name: str) -> Callable[[int, Path], Work]:
    """Audit a release that is there: all attacks, metrics, queries, learning and remedies."""

    def prepare(rows: int, cache: Path) -> Work:
        import incrowd as ic
        from benchmarks.audits import WAYS as RELEASES

        method, models = RELEASES[name]
        release = ic.publish(_census(rows, cache), models, method=method, seed=1)
        _import_learning()
        return lambda: release.audit().to_json()

    return prepare


def _import_learning() -> None:
    """Import what an audit needs, which is not to be timed."""
    import sklearn.linear_model
    import sklearn.naive_bayes
    import sklearn.tree  # noqa: F401


def _census(rows: int, cache: Path) -> Table:
    from benchmarks.families import open_table
    from benchmarks.tables import census_file

    return open_table(census_file(rows, cache))


WAYS: dict[str, tuple[Callable[[int, Path], Work], float]] = {
    "eight sorts, for what cores can gain": (sorts, 4e7),
    "Mondrian, search alone, 8 columns": (mondrian_search, 1e7),
    "effort = 2 after Mondrian": (moves, 1e5),
    "slicing, l = 5, from the file on": (slicing, 1e6),
    "the same of four million rows": (slicing, 4e6),
    "full-domain, recode, 3-diversity": (recoding, 1e5),
    "synthesis from marginals": (synthesis, 1e6),
    "audit of Mondrian": (audit_of("Mondrian, k = 5, l = 3"), 1e6),
    "audit of slicing": (audit_of("slicing, l = 5"), 1e6),
    "audit of Anatomy": (audit_of("Anatomy, l = 5"), 1e6),
}


def one(way: str, rows: int, cache: Path) -> dict[str, Any]:
    """Time one way in this process."""
    prepare, _ = WAYS[way]
    work = prepare(rows, cache)
    if rows <= 4_000_000 and not way.startswith("audit"):
        work()  # for what a first run loads
    wall, cpu = time.perf_counter(), time.process_time()
    came = work()
    taken = time.perf_counter() - wall, time.process_time() - cpu
    mark = hashlib.sha256()
    for part in [came] if isinstance(came, str) else came:
        mark.update(part.encode() if isinstance(part, str) else part.tobytes())
    return {"seconds": taken[0], "cpu": taken[1], "mark": mark.hexdigest()}


def measured(way: str, rows: int, cores: int, cache: Path) -> dict[str, Any]:
    """Time one way in a process that may use so many cores."""
    command = [sys.executable, "-m", "benchmarks.threads", "--one", way, str(rows), str(cores), "--cache", str(cache)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONWARNINGS": "ignore"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{way}: {done.stderr.strip().splitlines()[-1:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def use_cores(number: int) -> None:
    """Let this process use so many cores; call it before Polars is imported, which starts its threads then."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])
    os.environ["INCROWD_THREADS"] = os.environ["POLARS_MAX_THREADS"] = str(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS), metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--share", type=float, default=1.0, help="of the rows (default: all of them)")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "incrowd-benchmarks")
    parser.add_argument("--runs", type=int, default=1, help="of each, in turns; the fastest is shown (default: 1)")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    if chosen.one:
        way, rows, cores = chosen.one
        use_cores(int(cores))
        print(json.dumps(one(way, int(rows), chosen.cache)))
        return

    from rich.console import Console
    from rich.table import Table

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    shown = Table(title="Seconds by the clock on one core, and on all", title_justify="left")
    for name in ("work", "rows", "one core", f"{cores} cores", "×", "CPU, one", f"CPU, {cores}", "the same"):
        shown.add_column(name, justify="left" if name == "work" else "right")
    for way in chosen.ways:
        rows = max(int(WAYS[way][1] * chosen.share), 1000)
        runs = [[measured(way, rows, number, chosen.cache) for number in (1, cores)] for _ in range(chosen.runs)]
        alone, all_of_them = (min(each, key=lambda run: run["seconds"]) for each in zip(*runs, strict=True))
        shown.add_row(
            way,
            f"{rows:,}",
            f"{alone['seconds']:.2f}",
            f"{all_of_them['seconds']:.2f}",
            f"{alone['seconds'] / all_of_them['seconds']:.2f}",
            f"{alone['cpu']:.2f}",
            f"{all_of_them['cpu']:.2f}",
            "yes" if len({run["mark"] for both in runs for run in both}) == 1 else "NO",
        )
    Console(width=140).print(shown)


if __name__ == "__main__":
    main()
