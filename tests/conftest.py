"""What tests share: where the Adult data set is, a full disk, and how Hypothesis draws its tables."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from tests.short_files import no_longer_than

# Processes of tests share the cores: threads would only wait for each other, and busily. That results are the same with
# any number of threads is what `tests/common/test_threads.py` and others show, which ask for several.
for _name in ("INCROWD_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Compiled Python is kept, as the Makefile does: else each process that a test starts compiles all of incrowd again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same tables in every run, no files left behind, and no failure because another process was busy. A test that says
# nothing of its own looks at 12 tables; `make campaign` looks at more. Hypothesis also draws constants of the modules
# that are loaded, so a change elsewhere may let a test refuse more tables than before: that alone is no failure.
settings.register_profile(
    "incrowd",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
settings.load_profile("incrowd")


# Looking for garbage 50 times as seldom: tests make many small objects that are soon dead.
gc.set_threshold(100_000, 20, 20)


def pytest_configure(config: pytest.Config) -> None:
    """Have a process of tests tell the others' less: what has passed is told once, and not five times."""
    wants_more = config.option.verbose > 0 or config.option.durations is not None or config.option.xmlpath
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor" and not wants_more:
            plugin.sendevent = partial(_tell, plugin.sendevent)


def _tell(send: Callable[..., None], event: str, **told: Any) -> None:
    report = told.get("data", {})
    passed_besides = event == "testreport" and report["outcome"] == "passed" and report["when"] != "call"
    if event != "logstart" and not passed_besides:
        send(event, **told)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep together what shares something expensive: else each process of tests makes its own, and its own Spark."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """Forget what is done: xdist counts all that a process was ever given, again after each test."""
            super().mark_test_complete(node, item_index, duration)
            given = self.assigned_work[node]
            for scope in [scope for scope, tests in given.items() if all(tests.values())]:
                del given[scope]

    return Together(config, log)


SHARING = {
    "tests/engines/": "Spark",
    "tests/studio/test_page_": "a browser",
    "tests/test_architecture.py": "what the code's modules hold",
    "tests/release/test_systems.py": "what the code's modules hold",
}
"""What tests of several files share, by what their paths begin with."""
FEW = 4
"""How many parts a file's tests are given out in, where they share nothing."""


@cache
def together(nodeid: str) -> str:
    """Return the tests that a test runs with: those that share more than a file, those of its file, or a few of them.

    What is given to a process at once is given in a message of its own, so a test alone costs more than many take.
    """
    file = nodeid.partition("::")[0]
    for begins, shared in SHARING.items():
        if file.startswith(begins):
            return shared
    return file if _keeps_something(file) else f"{file} {crc32(nodeid.encode()) % FEW}"


@cache
def _keeps_something(file: str) -> bool:
    path = Path(__file__).parents[1] / file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return 'fixture(scope="module")' in text or "\n@cache\n" in text


@pytest.fixture(scope="session")
def adult() -> Path:
    """The folder of the Adult data set; a test that asks for it skips where there is none."""
    root = Path(os.environ.get("INCROWD_DATA") or Path(__file__).parents[2] / "shared" / "data")
    folder = root / "adult"
    if not (folder / "adult.csv").exists():
        pytest.skip("the Adult data set is not here: put it in ../shared/data or name its folder in INCROWD_DATA")
    return folder


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let audits measure all remedies on a busy machine: two of the same release would end at different ones."""
    from incrowd.auditing.remedies import measuring

    monkeypatch.setattr(measuring, "MOST_SECONDS", 600.0)


@pytest.fixture
def few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let audits ask 20 questions of each size in place of 300: for tests that have another subject."""
    from incrowd.auditing import usefulness
    from incrowd.metrics.workload import sized

    monkeypatch.setattr(usefulness, "Queries", partial(usefulness.Queries, number=20))
    for most, number in (("_FEWEST_DRAWS", 100), ("_MOST_DRAWS_IN_VAIN", 2000), ("_MOST_DRAWS_PER_QUERY", 100)):
        monkeypatch.setattr(sized, most, number)


@pytest.fixture
def few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let private releases measure errors by 60 questions of each kind in place of 280: most of a small one's time."""
    from incrowd.publishing import measuring_errors

    monkeypatch.setattr(measuring_errors, "_QUESTIONS", 60)


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 64 kB; where it cannot be had, files that may not grow larger than that."""
    place = tmp_path / "full"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    try:
        mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if mounted:
        yield place
        subprocess.run(["umount", str(place)], check=True)
        return
    with no_longer_than(65536):
        yield place
