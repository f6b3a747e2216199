"""Build the sdist and the wheel, and try both where nothing else is installed: `make dist`.

    python scripts/dist.py                 # build, and try both; of the sdist's tests the quick part
    python scripts/dist.py --whole         # all of the sdist's tests
    python scripts/dist.py --only wheel    # build, and try the wheel alone

It takes Python and access to a package index, no more: environments and folders are new, and gone in the end. What was
built stays in `dist/`, if all went well. It must run from the repository or from an unpacked sdist.

1. The sdist is built, and the wheel from it; a second build has the same bytes. Both pass `twine check`.
2. The wheel is installed by itself. `incrowd demo` runs, `tests.bare_install` finds no fault, and mypy, as a user would
   run it, knows the types.
3. The sdist is unpacked and installed with what its tests need, and they pass there.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SDIST = "import hatchling.build as build, sys; build.build_sdist(sys.argv[1])"
CONSUMER = """\
import incrowd as ic

table = ic.read(ic.datasets.census(200), quasi=["age", "sex"], others="drop")
release = ic.publish(table, [ic.KAnonymity(5)], method=ic.Mondrian())
rows: int = release.rows
reveal_type(ic.KAnonymity(5).k)
ic.KAnonymity("five")  # must be found
"""
"""What a user's type checker sees: it must know the kinds of parameters, and find the last line."""


def main() -> int:
    """Do all steps; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help="run all of the sdist's tests, which takes long")
    parser.add_argument("--only", choices=("wheel", "sdist"), help="try one of the two")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="incrowd-dist-") as place:
        work = Path(place)
        sdist, wheel = build(work)
        tree = unpacked(sdist, work / "tree")
        if asked.only != "sdist":
            try_wheel(wheel, tree, work)
        if asked.only != "wheel":
            try_sdist(tree, work, whole=asked.whole)
        kept = ROOT / "dist"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for path in (sdist, wheel):
            shutil.copy(path, kept)
            print(f"dist/{path.name}  sha256 {_digest(path)}  {path.stat().st_size:,} bytes")
    return 0


def build(work: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; twice, since the same tree must make the same bytes."""
    step("build")
    python = environment(work / "build")
    pip(python, "install", "hatchling", "twine")
    made = []
    for attempt in ("first", "second"):
        into = work / attempt
        into.mkdir()
        run(python, "-c", SDIST, str(into), where=ROOT)
        (sdist,) = into.glob("*.tar.gz")
        pip(python, "wheel", "--no-deps", "--wheel-dir", str(into), str(sdist))
        (wheel,) = into.glob("*.whl")
        made.append((sdist, wheel))
    for first, second in zip(*made, strict=True):
        if _digest(first) != _digest(second):
            raise SystemExit(f"{first.name}: two builds of one tree differ")
    run(python, "-m", "twine", "check", "--strict", *map(str, made[0]))
    return made[0]


def try_wheel(wheel: Path, tree: Path, work: Path) -> None:
    """Install the wheel alone; run the demonstration, the tests of a bare installation, and a type checker."""
    step("the wheel by itself")
    python = environment(work / "bare")
    pip(python, "install", str(wheel))
    folder = work / "elsewhere"
    folder.mkdir()
    found = told(python, "-c", "import incrowd; print(incrowd.__file__, incrowd.__version__)", where=folder).split()
    if (work / "bare").resolve() not in Path(found[0]).resolve().parents:
        raise SystemExit("incrowd is imported from somewhere else than the wheel")
    if wheel.name != f"incrowd-{found[1]}-py3-none-any.whl":
        raise SystemExit(f"the wheel is called {wheel.name}, and holds version {found[1]}")
    run(python, "-m", "incrowd", "--version", where=folder)
    step("incrowd demo")
    run(_program(python, "incrowd"), "demo", where=folder)
    step("tests.bare_install")
    run(python, "-m", "tests.bare_install", where=tree)
    step("types, as a user's type checker sees them")
    checker = environment(work / "types")  # of its own: the checker's packages are none that a user has
    pip(checker, "install", str(wheel), "mypy")
    consumer = folder / "consumer.py"
    consumer.write_text(CONSUMER, encoding="utf-8", newline="\n")
    done = subprocess.run(
        [str(checker), "-m", "mypy", "--strict", "--no-incremental", str(consumer)],
        cwd=folder, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    expected = ('Revealed type is "int"', ":7: error: Argument 1", "Found 1 error in 1 file")
    if not all(part in done.stdout for part in expected):
        raise SystemExit(f"mypy does not see the types:\n{done.stdout}{done.stderr}")
    print("mypy --strict knows the types of the wheel")


def try_sdist(tree: Path, work: Path, *, whole: bool) -> None:
    """Install what was unpacked, in place, and run its tests from its own root."""
    step(f"the sdist's tests, {'all of them' if whole else 'the quick part'}")
    python = environment(work / "tests")
    pip(python, "install", "--editable", f"{tree}[test]")
    pip(python, "install", "--no-deps", "pycanon")
    if whole:
        run(python, "-m", "pytest", "-n", "3", where=tree)
    else:
        run(python, str(tree / "scripts" / "quick_tests.py"), where=tree)


def unpacked(sdist: Path, into: Path) -> Path:
    """Unpack the sdist, and return its root."""
    with tarfile.open(sdist) as archive:
        archive.extractall(into, filter="data")
    (tree,) = into.iterdir()
    return tree


def environment(place: Path) -> Path:
    """Make a new virtual environment, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pip(python: Path, action: str, *words: str) -> None:
    """Run pip with the versions that are known to work."""
    quiet = ("--disable-pip-version-check", "--quiet")
    run(python, "-m", "pip", *quiet, action, "--constraint", str(ROOT / "constraints.txt"), *words)


def run(program: Path, *words: str, where: Path | None = None) -> None:
    """Run a program, and end everything if it fails."""
    done = subprocess.run([str(program), *words], cwd=where, env=_environment())
    if done.returncode:
        raise SystemExit(f"failed with {done.returncode}: {program.name} {' '.join(words)}")


def told(program: Path, *words: str, where: Path) -> str:
    """Run a program and return what it says."""
    done: Sequence[str] = [str(program), *words]
    return subprocess.run(
        done, cwd=where, env=_environment(), check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout


def step(what: str) -> None:
    """Say what comes now, and how late it is."""
    print(f"[{time.monotonic() - STARTED:5.0f} s] {what}", flush=True)


def _environment() -> dict[str, str]:
    """Return the environment without what would lead Python to other packages, and with the time of the version."""
    known = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    return {**known, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or _date_of_version()}


def _date_of_version() -> str:
    """Return the time that files of the distributions have: midnight of the last version's day, as seconds."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## \[\d[^\]]*\] - (\d{4}-\d{2}-\d{2})$", changelog, flags=re.MULTILINE)
    if found is None:
        raise SystemExit("CHANGELOG.md has no version with a date")
    return str(int(datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp()))


def _program(python: Path, name: str) -> Path:
    return python.with_name(f"{name}.exe" if os.name == "nt" else name)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


STARTED = time.monotonic()

if __name__ == "__main__":
    sys.exit(main())
