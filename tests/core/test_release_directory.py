"""The directory of a release: whose it is when several want it, and what a kill leaves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from incrowd.common import moves
from incrowd.core import release_directory
from incrowd.core.release_directory import new_directory, require_directory, require_free
from incrowd.errors import OutputError


@pytest.fixture(params=["in one step", "step by step"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system with and without renames that refuse and exchange."""
    if request.param == "step by step":
        monkeypatch.setattr(moves, "_rename", lambda *_: False)


def publish(target: Path, text: str, *, force: bool = False, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Write a release of one file; something else happens before it is finished."""
    with new_directory(target, force=force) as place:
        (place / "summary.json").write_text(text)
        meanwhile()


def release_with(target: Path, text: str = "old") -> None:
    target.mkdir()
    (target / "summary.json").write_text(text)


@pytest.mark.usefixtures("file_system")
@pytest.mark.parametrize("appears", ["release", "thesis", "empty", "file", "link"])
def test_what_appears_in_the_meantime_stays(tmp_path: Path, appears: str) -> None:
    target = tmp_path / "out"

    def appear() -> None:
        match appears:
            case "file":
                target.write_text("mine")
            case "link":
                target.symlink_to("nowhere")
            case _:
                target.mkdir()
                if appears != "empty":
                    (target / {"release": "summary.json", "thesis": "thesis.txt"}[appears]).write_text("mine")

    with pytest.raises(OutputError, match="out exists already"):
        publish(target, "new", meanwhile=appear)
    found = [path.read_text() for path in target.iterdir()] if target.is_dir() else []
    assert found == (["mine"] if appears in ("release", "thesis") else [])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("file_system")
def test_other_files_that_appear_in_the_meantime_are_not_replaced_by_force(tmp_path: Path) -> None:
    target = tmp_path / "out"
    release_with(target)
    with pytest.raises(OutputError, match="holds other files besides"):
        publish(target, "new", force=True, meanwhile=lambda: (target / "thesis.txt").write_text("mine"))
    assert sorted(path.name for path in target.iterdir()) == ["summary.json", "thesis.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("file_system")
def test_other_files_that_appear_at_the_very_last_moment_go_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    release_with(target)
    real = release_directory.exchange

    def exchanging(first: Path, second: Path) -> bool:
        if not (first / "thesis.txt").exists():
            (target / "thesis.txt").write_text("mine")
        return real(first, second)

    monkeypatch.setattr(release_directory, "exchange", exchanging)
    with pytest.raises(OutputError, match="holds other files besides"):
        publish(target, "new", force=True)
    assert (target / "thesis.txt").read_text() == "mine"
    assert (target / "summary.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("file_system")
def test_one_of_many_that_publish_at_the_same_time_succeeds(tmp_path: Path) -> None:
    runs = 8
    start = Barrier(runs)

    def run(number: int) -> bool:
        try:
            publish(tmp_path / "deep" / "out", str(number), meanwhile=start.wait)
        except OutputError:
            return False
        return True

    with ThreadPoolExecutor(runs) as pool:
        done = list(pool.map(run, range(runs)))
    assert sum(done) == 1
    assert (tmp_path / "deep" / "out" / "summary.json").read_text() == str(done.index(True))
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_with_force_the_last_of_many_stays_and_is_whole(tmp_path: Path) -> None:
    release_with(tmp_path / "out")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: publish(tmp_path / "out", str(number), force=True), range(40)))
    assert int((tmp_path / "out" / "summary.json").read_text()) in range(40)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("file_system")
def test_who_was_kept_out_of_the_old_release_is_kept_out_of_the_new_one(tmp_path: Path) -> None:
    release_with(tmp_path / "out")
    (tmp_path / "out").chmod(0o700)
    publish(tmp_path / "out", "new", force=True)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_the_process_s_mask_is_never_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("other threads create files meanwhile"))
    publish(tmp_path / "out", "new")
    publish(tmp_path / "out", "newer", force=True)


def test_a_kill_at_any_step_leaves_the_old_or_the_new_release(tmp_path: Path) -> None:
    """Every call that changes the file system is a place to be killed before and after."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.core.killed_at_each_step", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("n" * 256, "File name too long"),
        ("new/" + "n" * 256 + "/out", "File name too long"),
        ("two\nlines", "cannot be shown"),
        ("\udcff", "cannot be shown"),
        ("nu\0l", "cannot be shown"),
        ("taken", "exists already|is not a release"),
        ("taken/out", "is not a directory that you may write to"),
        ("dangling", "is a symbolic link"),
        ("linked", "is a symbolic link"),
        ("dangling/out", "is not a directory that you may write to"),
        ("loop/out", "is not a directory|symbolic links"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path, name: str, why: str, force: bool) -> None:
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "summary.json").write_text("old")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    for refuse in (lambda: require_free(tmp_path / name, force=force), lambda: publish(tmp_path / name, "new")):
        with pytest.raises(OutputError, match=why):
            refuse()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["-o", "n" * 255, "with space", "ünï", "$(x)", "a.b.c", "*"])
def test_odd_names_that_can_be_written_are(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    publish(Path(name), "new")
    publish(Path(name), "newer", force=True)
    assert (Path(name) / "summary.json").read_text() == "newer"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_directory_above_is_not_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for place in (Path(".."), Path("/"), Path("/proc/self")):
        with pytest.raises(OutputError):
            publish(place, "new", force=True)


def test_a_directory_for_loose_files_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for name in ("taken", "taken/out", "n" * 300, "a\0b"):
        with pytest.raises(OutputError):
            require_directory(tmp_path / name)
