"""Compiled loops run where nothing can be cached, where the cache is damaged, and where its disk is full.

Each test runs a copy of the package in a process of its own: whether there is a place for the cache is found out when
the loops are imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "incrowd"
# To be somebody who may write nothing, and may read what lies below the administrator's own folders: Python, perhaps.
AS_NOBODY = [
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
]

# Two small loops of two modules: what they return, and whether they came from the cache.
COUNT = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from incrowd.kernels.joining import match
    from incrowd.kernels.purity import purity_units
    units = purity_units(6, 3)
    taken = match(np.array([0, 1]), np.array([1, 2]), np.zeros(3, dtype=np.bool_))
print(units, taken.tolist())
print(sum(purity_units.stats.cache_hits.values()), sum(match.stats.cache_hits.values()))
for one in told:
    print(one.category.__name__, one.message)
"""
COUNTED = "2097152 [True, False]"
FULL_DISK = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\n"


@pytest.fixture
def installed() -> Iterator[Path]:
    """A folder with a copy of the package, that others may enter."""
    with tempfile.TemporaryDirectory(prefix="incrowd-installed-") as place:
        Path(place).chmod(0o755)
        shutil.copytree(SOURCE, Path(place) / "incrowd", ignore=shutil.ignore_patterns("__pycache__"))
        yield Path(place)


def run(installed: Path, code: str = COUNT, *, as_nobody: bool = False, **environment: str) -> list[str]:
    """Run code with the copy, without the cache of this run of the tests; return the lines that it prints."""
    inherited = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG") if name in os.environ}
    done = subprocess.run(
        [*(AS_NOBODY if as_nobody else []), sys.executable, "-c", code],
        env={**inherited, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=installed,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def without_a_place(installed: Path) -> dict[str, str]:
    """Put files where the cache's folders would be, which stops an administrator too; return the environment."""
    (installed / "incrowd" / "kernels" / "__pycache__").write_bytes(b"")
    (installed / "file").write_bytes(b"")
    below = str(installed / "file" / "below")
    return {"HOME": below, "XDG_CACHE_HOME": below}


def assert_one_note(lines: list[str]) -> None:
    counted, hits, *notes = lines
    assert (counted, hits) == (COUNTED, "0 0")
    assert len(notes) == 1
    assert notes[0].startswith("CompileCacheWarning ")
    assert "NUMBA_CACHE_DIR" in notes[0]
    assert "/" not in notes[0]  # no path of this machine


def test_without_a_place_for_the_cache_loops_still_run_with_one_note(installed: Path) -> None:
    assert_one_note(run(installed, **without_a_place(installed)))


def test_a_named_folder_that_cannot_be_made_is_no_failure(installed: Path) -> None:
    environment = without_a_place(installed)
    assert_one_note(run(installed, **environment, NUMBA_CACHE_DIR=environment["HOME"]))


def can_be_nobody() -> bool:
    if shutil.which("setpriv") is None:
        return False
    return subprocess.run([*AS_NOBODY, sys.executable, "-c", ""], capture_output=True, timeout=60).returncode == 0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the users and rights of Unix")
def test_in_a_read_only_installation_without_a_home(installed: Path) -> None:
    is_root = os.geteuid() == 0
    if is_root and not can_be_nobody():
        pytest.skip("there is no setpriv here, or it may not do this")
    for folder, _, files in os.walk(installed, topdown=False):
        for file in files:
            (Path(folder) / file).chmod(0o444)
        Path(folder).chmod(0o555)
    try:
        assert_one_note(run(installed, as_nobody=is_root, HOME="/nonexistent"))
    finally:
        for folder, _, _ in os.walk(installed):
            Path(folder).chmod(0o755)


def test_a_folder_that_can_only_be_read_is_read(installed: Path) -> None:
    """As in a container whose image brings compiled loops along."""
    if not hasattr(os, "geteuid") or os.geteuid() or not can_be_nobody():
        pytest.skip("only an administrator can become somebody who may write nothing")
    kept = installed / "compiled"
    kept.mkdir()
    assert run(installed, NUMBA_CACHE_DIR=str(kept)) == [COUNTED, "0 0"]
    before = sorted(kept.rglob("*"))
    places = {"NUMBA_CACHE_DIR": str(kept), "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    assert run(installed, as_nobody=True, **places) == [COUNTED, "1 1"]
    assert sorted(kept.rglob("*")) == before


def test_a_full_disk_is_no_failure(installed: Path) -> None:
    assert_one_note(run(installed, FULL_DISK + COUNT, NUMBA_CACHE_DIR=str(installed / "cache")))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the loops."""
    place = tmp_path_factory.mktemp("filled")
    shutil.copytree(SOURCE, place / "incrowd", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(place, NUMBA_CACHE_DIR=str(place / "cache")) == [COUNTED, "0 0"]
    assert run(place, NUMBA_CACHE_DIR=str(place / "cache")) == [COUNTED, "1 1"]
    return place


@pytest.fixture
def damaged(filled: Path) -> Iterator[Path]:
    """The same, to be damaged; it is where the copied package looks for it."""
    shutil.copytree(filled / "cache", filled / "whole")
    yield filled
    shutil.rmtree(filled / "cache")
    (filled / "whole").rename(filled / "cache")


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda whole: bytes(len(whole))], ids=["cut short", "zeros"]
)
def test_a_damaged_cache_is_made_again(damaged: Path, kind: str, damage: Callable[[bytes], bytes]) -> None:
    files = list((damaged / "cache").rglob(kind))
    assert len(files) == 2
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    assert run(damaged, NUMBA_CACHE_DIR=str(damaged / "cache")) == [COUNTED, "0 0"]
    assert run(damaged, NUMBA_CACHE_DIR=str(damaged / "cache")) == [COUNTED, "1 1"]


def test_a_damaged_cache_that_cannot_be_written_is_no_failure(damaged: Path) -> None:
    for path in (damaged / "cache").rglob("*.nbi"):
        path.write_bytes(b"")
    assert_one_note(run(damaged, FULL_DISK + COUNT, NUMBA_CACHE_DIR=str(damaged / "cache")))


def test_code_of_another_version_is_never_run(installed: Path) -> None:
    here = {"NUMBA_CACHE_DIR": str(installed / "cache")}
    assert run(installed, **here) == [COUNTED, "0 0"]
    changed = installed / "incrowd" / "kernels" / "purity.py"
    changed.write_text(changed.read_text(encoding="utf-8").replace("1048576", "524288"), encoding="utf-8")
    # There is room for the list of what is cached, and not for the code itself: in its place is that of before.
    little = FULL_DISK.replace("(0,", "(4096,")
    told = run(installed, little + COUNT, **here)
    assert told[0] == "1048576 [True, False]"
    assert run(installed, **here)[0] == "1048576 [True, False]"


def test_code_for_other_types_is_never_run(damaged: Path) -> None:
    code = """
from incrowd.kernels.purity import purity_units
print(purity_units(7.0, 2.0), purity_units(7, 2))
"""
    here = {"NUMBA_CACHE_DIR": str(damaged / "cache")}
    expected = run(damaged, code, **here)
    one, other = sorted((damaged / "cache").rglob("purity*.nbc"))
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)
    assert run(damaged, code, **here) == expected


def test_a_folder_in_the_place_of_a_file_of_the_cache_is_no_failure(damaged: Path) -> None:
    for path in (damaged / "cache").rglob("*.nbi"):
        path.unlink()
        (path / "in the way").mkdir(parents=True)
    assert_one_note(run(damaged, NUMBA_CACHE_DIR=str(damaged / "cache")))


def test_the_command_line_says_it_in_one_line(installed: Path) -> None:
    code = """
import sys
from incrowd.cli import main
sys.argv = ["incrowd", "--version"]
try: main()
except SystemExit: pass
sys.stderr = sys.stdout
import incrowd.kernels.joining, incrowd.kernels.purity
"""
    _, *notes = run(installed, code, **without_a_place(installed))
    assert len(notes) == 1
    assert notes[0].startswith("incrowd: compiled code cannot be kept on disk")


def test_every_loop_is_compiled_this_way() -> None:
    told = [
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if "numba" in path.read_text(encoding="utf-8")
    ]
    assert told == ["kernels/compiling.py"]
