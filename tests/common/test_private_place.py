"""A place of one's own beside a target: taken away in the end, or by the next run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from incrowd.common.private_place import clear_abandoned, private_place

HOLDING = """
import sys, pathlib
from incrowd.common.private_place import private_place
with private_place(pathlib.Path(sys.argv[1])) as place:
    (place / "work").write_text("half done")
    print(place, flush=True)
    sys.stdin.read()
"""


def another_run(target: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that is at work there."""
    command = [sys.executable, "-c", HOLDING, str(target)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_place_of_a_living_run_stays_and_that_of_a_killed_one_goes(tmp_path: Path) -> None:
    target = tmp_path / "out"
    process, place = another_run(target)
    with process:
        with private_place(target):
            assert (place / "work").read_text() == "half done"
        assert [path.name for path in tmp_path.iterdir()] == [place.name]
        process.kill()
    assert place.exists()
    with private_place(tmp_path / "other"):
        assert place.exists()  # another target's
    with private_place(target) as mine:
        assert list(tmp_path.iterdir()) == [mine]
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_has_made_its_place_and_not_locked_it_takes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    made = []
    mkdir = Path.mkdir

    def interfering(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        mkdir(self, mode, parents, exist_ok)
        if self.name.startswith(".out.") and not made:
            made.append(self)
            clear_abandoned(target)

    monkeypatch.setattr(Path, "mkdir", interfering)
    with private_place(target) as place:
        assert place != made[0]
        assert list(tmp_path.iterdir()) == [place]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [".out.txt", ".out.0123456789ab", ".out.0123456789ab.incrowd.txt", ".out.x.incrowd"])
def test_what_only_looks_like_one_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis").write_text("mine")
    clear_abandoned(tmp_path / "out")
    assert (tmp_path / name / "thesis").read_text() == "mine"


def test_a_link_with_such_a_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "thesis").write_text("mine")
    (tmp_path / ".out.0123456789ab.incrowd").symlink_to("elsewhere")
    clear_abandoned(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == ["thesis"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_directory_of_another_user_is_not_touched(tmp_path: Path) -> None:
    place = tmp_path / ".out.0123456789ab.incrowd"
    place.mkdir()
    os.chown(place, 12345, 12345)
    clear_abandoned(tmp_path / "out")
    assert list(place.iterdir()) == []


def test_names_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    first, second = ("n" * 254 + letter for letter in "ab")
    with private_place(tmp_path / first) as place:
        clear_abandoned(tmp_path / second)
        assert place.exists()
    assert list(tmp_path.iterdir()) == []


def test_parents_that_were_made_for_it_go_unless_used(tmp_path: Path) -> None:
    with private_place(tmp_path / "deep" / "er" / "out"):
        pass
    assert list(tmp_path.iterdir()) == []
    with private_place(tmp_path / "deep" / "er" / "out"):
        (tmp_path / "deep" / "file").write_text("mine")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file"]
