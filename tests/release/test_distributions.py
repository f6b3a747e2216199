"""What is in the sdist and in the wheel: everything that tests and users call, and nothing else.

`make dist` tries both where nothing else is installed, and holds two builds against each other.
"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from incrowd.common.version import __version__
from incrowd.kernels.native.building import source_mark

ROOT = Path(__file__).parents[2]
BUILD = "import hatchling.build as b, sys; b.build_sdist(sys.argv[1]); b.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions, built as an installer does."""
    into = tmp_path_factory.mktemp("built")
    known = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", BUILD, str(into)], cwd=ROOT, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return into


@pytest.fixture(scope="module")
def in_sdist(built: Path) -> set[str]:
    with tarfile.open(built / f"incrowd-{__version__}.tar.gz") as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(built.glob(f"incrowd-{__version__}-py3-none-*.whl")))


def test_the_sdist_holds_every_file_that_is_kept(in_sdist: set[str]) -> None:
    """By what Git keeps, where there is Git; by what tests call, where the sdist itself is tested."""
    needed = {
        "Makefile", "constraints.txt", "CITATION.cff", "Containerfile", "LICENSE", "CHANGELOG.md", "README.md",
        "scripts/components", "scripts/dist.py", "docs/typed_names.py", "benchmarks/__main__.py", "tests/conftest.py",
        ".github/workflows/tests.yml", "src/incrowd/py.typed", "src/incrowd/__init__.pyi",
    }  # fmt: skip
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if (ROOT / ".git").exists() and listed.returncode == 0:
        needed |= {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    assert needed - in_sdist == set()


def test_the_sdist_holds_nothing_that_was_made(in_sdist: set[str]) -> None:
    made = re.compile(
        r"(^|/)(\.venv[^/]*|__pycache__|dist|build|\.git|\.hypothesis|\.[a-z]+_cache)/|\.py[co]$|\.nb[ic]$"
    )
    assert [name for name in in_sdist if made.search(name)] == []


def test_the_wheel_holds_the_package_and_says_that_it_is_typed(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"incrowd", f"incrowd-{__version__}.dist-info"}
    assert {"incrowd/py.typed", "incrowd/__init__.pyi", "incrowd/cli/app.py"} <= names
    source = ROOT / "src"
    kept = {path.relative_to(source).as_posix() for path in (source / "incrowd").rglob("*") if path.is_file()}
    kept = {name for name in kept if "__pycache__" not in name and not name.endswith((".cpp", ".hpp"))}
    (library,) = (name for name in names if name.startswith("incrowd/kernels/native/loops-"))
    assert library.removeprefix("incrowd/kernels/native/loops-").partition(".")[0] == source_mark()
    assert not [name for name in names if name.endswith((".cpp", ".hpp"))], "what is installed is never built again"
    assert kept - names == set(), "the studio's page and other files that are no code"


def test_the_metadata_is_what_an_index_shows(wheel: zipfile.ZipFile) -> None:
    told = email.message_from_bytes(wheel.read(f"incrowd-{__version__}.dist-info/METADATA"))
    assert told["Version"] == __version__
    assert told["Description-Content-Type"] == "text/markdown"
    assert "](docs/" not in str(told.get_payload())
    assert told["License-Expression"] == "Apache-2.0"
    assert {one.partition(",")[0] for one in told.get_all("Project-URL", [])} >= {"Homepage", "Issues", "Changelog"}
    assert [one for one in told.get_all("Requires-Dist", []) if one.startswith("tzdata")] == [
        "tzdata>=2025.1; sys_platform == 'win32'"
    ]
