"""Writing a file: whole, or as before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from incrowd.common.writing import new_file, write_text
from incrowd.errors import OutputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_nothing_is_left_beside(tmp_path: Path) -> None:
    write_text(tmp_path / "deep" / "page.html", "ü\n", parents=True)
    assert (tmp_path / "deep" / "page.html").read_bytes() == "ü\n".encode()
    assert names(tmp_path / "deep") == ["page.html"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("x")], ids=repr)
def test_a_failure_leaves_the_file_that_was_there(tmp_path: Path, error: BaseException) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    with pytest.raises(type(error)), new_file(page) as new:  # noqa: PT012
        new.write_text("half")
        raise error
    assert page.read_text() == "old"
    assert names(tmp_path) == ["page.html"]


def test_a_full_disk_leaves_the_file_that_was_there(full_disk: Path) -> None:
    page = full_disk / "page.html"
    write_text(page, "old")
    with pytest.raises(OutputError, match=r"page\.html cannot be written: (No space left on device|File too large)"):
        write_text(page, "new " * 100_000)
    with pytest.raises(OutputError):
        write_text(full_disk / "other.html", "new " * 100_000)
    assert page.read_text() == "old"
    assert names(full_disk) == ["page.html"]


def test_without_force_nothing_is_replaced_even_if_it_appears_late(tmp_path: Path) -> None:
    refused = pytest.raises(OutputError, match="recipe cannot be written: File exists")
    with refused, new_file(tmp_path / "recipe", force=False) as new:
        new.write_text("new")
        (tmp_path / "recipe").write_text("another's")
    assert (tmp_path / "recipe").read_text() == "another's"
    assert names(tmp_path) == ["recipe"]


def test_permissions_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    page.chmod(0o600)
    write_text(page, "new")
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "fresh", "new")
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names(tmp_path)}
    assert modes["page.html"] == 0o600
    assert modes["fresh"] == modes["plain"]


def test_a_link_goes_on_leading_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "page.html").symlink_to("real/page.html")
    for text in ("first", "second"):
        write_text(tmp_path / "page.html", text)
        assert (tmp_path / "page.html").is_symlink()
        assert (tmp_path / "real" / "page.html").read_text() == text


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-c", "import sys; print(open(sys.argv[1]).read())", str(tmp_path / "pipe")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        write_text(tmp_path / "pipe", "through")
        assert reader.communicate(timeout=60)[0] == "through\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("n" * 300, "File name too long"),
        ("two\nlines", "cannot be shown"),
        ("\udcff", "cannot be shown"),
        ("nu\0l", "cannot be shown"),
        ("taken/page.html", "Not a directory|File exists"),
        ("folder", "Is a directory"),
        ("nowhere/page.html", "No such file or directory"),
        ("loop/page.html", "symbolic links|File exists"),
    ],
)
def test_a_name_that_cannot_be_written_is_told(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match=why):
        write_text(tmp_path / name, "text")
    assert names(tmp_path) == ["folder", "loop", "taken"]
