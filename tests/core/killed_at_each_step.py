"""Write a directory over and over, killed at one step further each time; exit with what was left that must not be.

A process of its own, in which nothing has started threads, so that it can be copied.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from incrowd.core.release_directory import new_directory, require_free
from tests.dying import killed_in_a_child


def write(target: Path, text: str) -> None:
    """Write a release of two files that say the same."""
    with new_directory(target, force=True) as place:
        for name in ("summary.json", "data.csv"):
            (place / name).write_text(text)


def read(target: Path) -> set[str] | None:
    """What all files of a release say; None where there is none."""
    return {path.read_text() for path in target.iterdir()} if target.exists() else None


def problems(folder: Path, *, exchanging: bool, old: bool) -> list[str]:
    """Return what was wrong after which step."""
    found = []
    before = {"old"} if old else None
    for step in itertools.count():
        target = folder / str(step) / "out"
        target.parent.mkdir()
        if old:
            write(target, "old")
        killed = killed_in_a_child(step, lambda target=target: write(target, "new"), exchanging=exchanging)  # type: ignore[misc]
        said = f"exchanging={exchanging} old={old} step {step}:"
        right = [before, {"new"}]
        if exchanging and read(target) not in right:  # otherwise the next run may have to put it back
            found.append(f"{said} {read(target)}")
        require_free(target, force=True)
        if not exchanging and not old:
            right.append(set())  # the place was taken, and not filled
        if read(target) not in right:
            found.append(f"{said} {read(target)} after the next run")
        if any(path != target for path in target.parent.iterdir()):
            found.append(f"{said} left {sorted(path.name for path in target.parent.iterdir())}")
        if not killed:
            if read(target) != {"new"} or step < 15:
                found.append(f"{said} done, and {read(target)}")
            return found
    raise AssertionError


if __name__ == "__main__":
    wrong = []
    for number, (exchanging, old) in enumerate(itertools.product((True, False), repeat=2)):
        (Path(sys.argv[1]) / str(number)).mkdir()
        wrong += problems(Path(sys.argv[1]) / str(number), exchanging=exchanging, old=old)
    sys.exit("\n".join(wrong) or 0)
