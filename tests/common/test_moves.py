"""Moving in one step: of two who want the same place, one gets it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from incrowd.common import moves
from incrowd.common.moves import exchange, move_new


@pytest.fixture(params=["in one step", "step by step"], autouse=True)
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system with and without a rename that refuses."""
    if request.param == "step by step":
        monkeypatch.setattr(moves, "_rename", lambda *_: False)


@pytest.mark.parametrize("kind", ["file", "full directory", "empty directory", "link to nowhere"])
@pytest.mark.parametrize("moved", ["file", "directory"])
def test_what_is_there_is_never_replaced(tmp_path: Path, kind: str, moved: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("new") if moved == "file" else source.mkdir()
    match kind:
        case "file":
            target.write_text("old")
        case "link to nowhere":
            target.symlink_to("nowhere")
        case _:
            target.mkdir()
            if kind == "full directory":
                (target / "file").write_text("old")
    with pytest.raises(FileExistsError):
        move_new(source, target)
    assert source.exists()
    assert target.is_symlink() or target.is_dir() or target.read_text() == "old"


@pytest.mark.parametrize("moved", ["file", "directory"])
def test_one_of_many_gets_the_place(tmp_path: Path, moved: str) -> None:
    runs = 8
    start = Barrier(runs)

    def run(number: int) -> bool:
        source = tmp_path / f"source{number}"
        source.write_text(str(number)) if moved == "file" else source.mkdir()
        start.wait()
        try:
            move_new(source, tmp_path / "target")
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(runs) as pool:
        assert sum(pool.map(run, range(runs))) == 1


def test_a_move_that_fails_leaves_the_place_free(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        move_new(tmp_path / "nothing", tmp_path / "target")
    assert list(tmp_path.iterdir()) == []


def test_an_exchange_is_one_or_is_not_made(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    made = exchange(tmp_path / "first", tmp_path / "second")
    assert (tmp_path / "first" / "file").read_text() == ("second" if made else "first")
    assert (tmp_path / "second" / "file").read_text() == ("first" if made else "second")
