"""What writes, replaces and removes files works under Windows' rules for open files, and leaves nothing behind."""

from __future__ import annotations

import mmap
import os
import socket
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import incrowd as ic
from incrowd.common import memory, secrecy, systems
from incrowd.common.locks import Lock
from incrowd.common.private_place import clear_abandoned, private_place
from incrowd.common.writing import write_secret, write_text
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.errors import OutputError, SecrecyWarning
from incrowd.kernels.turns import Turn
from incrowd.ledger.running import Running, is_dead

if sys.platform != "linux":
    pytest.skip("Windows is played by what Linux tells of open files", allow_module_level=True)
from tests.release.windows_like import OWNER, held_open, play_windows


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    return play_windows(monkeypatch)


def left_behind(place: Path) -> list[str]:
    return sorted(path.name for path in place.rglob("*") if ".incrowd" in path.name or path.name == "lock")


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    rows = [f"{20 + row % 40},{'FM'[row % 2]},{('flu', 'gout', 'cold')[row % 3]}" for row in range(120)]
    path.write_text("age,sex,illness\n" + "\n".join(rows) + "\n", encoding="utf-8", newline="\n")
    return path


def read(path: Path) -> Any:
    return ic.read(path, quasi=["age", "sex"], sensitive=["illness"])


# --- the rules themselves: a test that could not fail would prove nothing ---


def test_an_open_file_is_held(asked: object, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    with path.open("wb"):
        for refused in (
            path.unlink,
            lambda: path.parent.rename(tmp_path / "other"),
            lambda: path.replace(tmp_path / "x"),
        ):
            with pytest.raises(PermissionError):
                refused()
    path.parent.rename(tmp_path / "other")
    with pytest.raises(FileExistsError):
        (tmp_path / "other" / "file").rename(tmp_path / "other")


def test_a_mapped_file_is_held(asked: object, tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    path.write_bytes(b"a" * 5000)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert str(path) in held_open()
    with pytest.raises(PermissionError):
        path.unlink()
    mapped.close()
    path.unlink()


# --- files and folders ---


def test_files_are_written_and_replaced_and_nothing_stays_beside(asked: object, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    for text in ("one\n", "two\n"):
        write_text(path, text)
        assert path.read_bytes() == text.encode()
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_a_file_that_is_open_elsewhere_stays_and_the_message_says_what_to_do(asked: object, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text(path, "one\n")
    with path.open("rb"), pytest.raises(OutputError, match="Hint: close it"):
        write_text(path, "two\n")
    assert path.read_bytes() == b"one\n"
    assert left_behind(tmp_path) == []


def test_what_a_killed_run_left_goes_and_what_a_living_one_has_stays(asked: object, tmp_path: Path) -> None:
    dead, alive = (tmp_path / f".out.{digit * 12}.incrowd" for digit in "01")
    for place in (dead, alive):
        place.mkdir()
        (place / "lock").touch()
    lock = Lock(alive / "lock")
    assert lock.take()
    clear_abandoned(tmp_path / "out")
    assert not dead.exists()
    assert alive.exists()
    lock.end()


def test_the_folder_of_a_run_hands_no_permissions_on(asked: object, tmp_path: Path, monkeypatch: Any) -> None:
    """Python sets a folder of mode 0700 to its owner alone on Windows, and what is moved out of it keeps that."""
    modes: list[object] = []
    make = Path.mkdir

    def mkdir(self: Path, *words: Any, **keywords: Any) -> None:
        modes.append(keywords.get("mode"))
        make(self, *words, **keywords)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with private_place(tmp_path / "out"):
        pass
    assert 0o700 not in modes
    monkeypatch.setattr(systems, "WINDOWS", False)
    with private_place(tmp_path / "out"):
        pass
    assert 0o700 in modes


# --- releases ---


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_a_release_is_replaced_that_is_open_here_and_that_the_new_one_is_made_of(
    asked: object, patients: Path, tmp_path: Path, format: Any
) -> None:
    out = tmp_path / "out"
    ic.publish(read(patients), ic.KAnonymity(5), seed=1).save(out, format=format)
    opened = ic.open_release(out)
    before = opened.count({"illness": "flu"})
    again = ic.read(out / f"data.{format}", quasi=["age", "sex"], sensitive=["illness"])
    again_release = ic.publish(again, ic.KAnonymity(10), seed=2)
    again_release.save(out, format=format, force=True)
    assert ic.open_release(out).count({"illness": "flu"}) == pytest.approx(before)
    assert left_behind(tmp_path) == []
    patients.unlink()  # nor does anything hold the table


def test_a_release_in_which_another_program_has_a_file_open_stays_as_it_is(
    asked: object, patients: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    release = ic.publish(read(patients), ic.KAnonymity(5), seed=1)
    release.save(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with (out / "data.csv").open("rb"), pytest.raises(OutputError, match="Hint: close it"):
        release.save(out, force=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert left_behind(tmp_path) == []


def test_texts_of_a_release_end_lines_in_one_way(patients: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """`os.linesep` does not reach Python's text files, so their default is played: whoever asks for none gets CRLF."""
    write = Path.write_text

    def as_windows_does(self: Path, data: str, encoding: Any = None, errors: Any = None, newline: Any = None) -> int:
        return write(self, data, encoding, errors, "\r\n" if newline is None else newline)

    monkeypatch.setattr(Path, "write_text", as_windows_does)
    release = ic.publish(read(patients), ic.KAnonymity(5), seed=1)
    release.save(tmp_path / "out")
    release.save_recipe(tmp_path / "own.recipe.toml")
    for path in [*(tmp_path / "out").iterdir(), tmp_path / "own.recipe.toml"]:
        assert b"\r" not in path.read_bytes(), path.name


# --- locks ---


def test_a_run_under_a_ledger_is_known_to_live_or_to_be_dead(asked: object, tmp_path: Path) -> None:
    path = tmp_path / "7"
    run = Running(path)
    assert not is_dead(path)
    run.end()
    assert not path.exists()
    path.touch()
    assert is_dead(path)


def test_a_loop_is_compiled_by_one(asked: object, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("incrowd.kernels.turns.MOST_SECONDS", 0.1)
    first, second = Turn(tmp_path / "lock"), Turn(tmp_path / "lock")
    assert first.take()
    assert not second.take()
    first.end()
    assert second.take()
    second.end()


def test_a_history_is_kept_locked_and_forgotten(asked: list[tuple[str, ...]], tmp_path: Path) -> None:
    from incrowd.studio.history import History
    from incrowd.studio.refusing import Refused

    file = tmp_path / "state" / "one.jsonl"
    history = History(file)
    history.add({"columns": {"a": "quasi"}}, "opened")
    with pytest.raises(Refused, match="another studio"):
        History(file)
    history.close()
    assert b"\r" not in file.read_bytes()
    again = History(file)
    assert again.recipe == {"columns": {"a": "quasi"}}
    again.forget()
    assert not file.exists()
    assert ("icacls", str(file.parent), "/inheritance:r", "/grant:r", f"*{OWNER}:(OI)(CI)F") in asked


# --- secrets ---


def test_a_key_is_kept_from_others_before_it_is_written(
    asked: list[tuple[str, ...]], tmp_path: Path, monkeypatch: Any
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(
        secrecy,
        "_said",
        lambda *words: sizes.append(Path(words[1]).stat().st_size) if words[0] == "icacls" else f'"a","{OWNER}"',
    )
    PseudonymKey.new().save(tmp_path / "key")
    assert sizes == [0], "the file was empty when its permissions were set"
    assert PseudonymKey.load(tmp_path / "key").secret


def test_a_ledger_is_kept_from_others_with_all_that_is_in_it(asked: list[tuple[str, ...]], tmp_path: Path) -> None:
    ic.Ledger.create(tmp_path / "ledger", cap=1)
    told = [words[1] for words in asked if words[0] == "icacls" and words[-1].endswith("(OI)(CI)F")]
    assert told == [str(tmp_path / "ledger")]


def test_where_permissions_cannot_be_set_a_warning_says_so(tmp_path: Path, monkeypatch: Any) -> None:
    play_windows(monkeypatch)

    def fails(*words: str) -> str:
        raise subprocess.CalledProcessError(5, words)

    monkeypatch.setattr(secrecy, "_said", fails)
    with pytest.warns(SecrecyWarning, match="other users of this machine may be able to read"):
        write_secret(tmp_path / "key", b"secret")


def test_elsewhere_modes_do_it_and_no_program_is_asked(tmp_path: Path, monkeypatch: Any) -> None:
    def fails(*words: str) -> str:
        raise AssertionError(words)

    monkeypatch.setattr(secrecy, "_said", fails)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_secret(tmp_path / "key", b"secret")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


# --- processes, ports, memory ---


class _Functions:
    """Windows' own functions, as far as they are asked."""

    def __init__(self, code: int | None) -> None:
        self.code = code

    def OpenProcess(self, rights: int, inherited: bool, process: int) -> int:
        return 0 if self.code is None else 4

    def GetLastError(self) -> int:
        return 87

    def GetExitCodeProcess(self, handle: int, code: Any) -> int:
        code._obj.value = self.code
        return 1

    def CloseHandle(self, handle: int) -> int:
        return 1

    def GlobalMemoryStatusEx(self, status: Any) -> int:
        assert status._obj.length == 64, "the length that Windows wants"
        status._obj.sizes[0] = 3 << 30
        return 1


@pytest.mark.parametrize(("code", "runs"), [(259, True), (0, False), (None, False)])
def test_whether_a_process_runs_is_asked_and_not_tried(
    asked: object, monkeypatch: Any, code: int | None, runs: bool
) -> None:
    monkeypatch.setattr(systems, "kernel", lambda: _Functions(code))
    assert systems.is_running(os.getpid()) is runs


def test_the_studio_asks_that_way_before_it_clears_the_places_of_others(
    asked: object, monkeypatch: Any, tmp_path: Path
) -> None:
    from incrowd.studio.allowed import _clear_abandoned

    place = tmp_path / "incrowd-studio-123-abc"
    place.mkdir()
    monkeypatch.setattr(systems, "kernel", lambda: _Functions(259))
    _clear_abandoned(tmp_path)
    assert place.exists()
    monkeypatch.setattr(systems, "kernel", lambda: _Functions(None))
    _clear_abandoned(tmp_path)
    assert not place.exists()


def test_no_other_program_can_take_the_port(asked: object, monkeypatch: Any) -> None:
    pytest.importorskip("uvicorn")
    from incrowd.studio.server import bound

    options: list[int] = []

    class Socket(socket.socket):
        def setsockopt(self, *words: Any) -> None:
            options.append(words[1])

    monkeypatch.setattr(socket, "socket", Socket)
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    bound(0).close()
    assert options == [-5]


def test_memory_is_asked_of_the_system(asked: object, monkeypatch: Any) -> None:
    monkeypatch.setattr(systems, "kernel", lambda: _Functions(0))
    assert memory._of_the_machine() == 3 << 30


def test_without_an_answer_some_memory_is_assumed(asked: object, monkeypatch: Any) -> None:
    def none() -> Any:
        raise AttributeError

    monkeypatch.setattr(systems, "kernel", none)
    assert memory._of_the_machine() == 8 << 30
