"""A browser that is driven, and the studio that it looks at."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.report.conftest import browser as chromium_program  # noqa: F401 (a fixture)
from tests.report.headless import Browser
from tests.studio.driven import Chromium, chromium

COMPONENTS = Path(__file__).resolve().parents[2] / "scripts" / "components"


@pytest.fixture(scope="session")
def driven(chromium_program: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:  # noqa: F811
    """Chromium, driven over pipes."""
    with chromium(chromium_program.program, tmp_path_factory.mktemp("driven")) as program:
        yield program


@contextmanager
def studio(*arguments: str, home: Path) -> Iterator[str]:
    """Start the studio as a person does, and yield the address that it prints."""
    command = [sys.executable, "-m", "incrowd", "studio", *arguments, "--no-browser", "--port", "0"]
    environment = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "XDG_DATA_HOME": str(home / "data"),
                   "HOME": str(home), "PYTHONUNBUFFERED": "1"}  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert process.stdout is not None
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+/\S*token=\S+", line)
            if found:
                yield found[0]
                return
        raise AssertionError(f"the studio said no address: {''.join(said)}")
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="session")
def javascript_tools() -> Path:
    """The folder of TypeScript and a linter; a test that asks for it skips where there is no Node."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("there is no Node here: the page's JavaScript is not checked")
    place = Path(os.environ.get("INCROWD_JAVASCRIPT_TOOLS") or Path(sys.prefix) / "javascript-tools")
    with place.with_suffix(".lock").open("w") as lock:  # several processes of tests, one installation
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "node_modules" / ".bin" / "tsc").exists():
            if not os.environ.get("CI"):
                pytest.skip("no TypeScript here; scripts/components javascript installs it")
            done = subprocess.run([COMPONENTS, "javascript", place], check=False)
            if done.returncode != 0:
                pytest.skip("TypeScript cannot be installed here: the page's JavaScript is not checked")
    return place / "node_modules" / ".bin"
