"""A browser that is driven, and the studio that it looks at."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.report.conftest import browser as chromium_program  # noqa: F401 (a fixture)
from tests.report.headless import Browser
from tests.studio.driven import Chromium, chromium

COMPONENTS = Path(__file__).resolve().parents[2] / "scripts" / "components"


@pytest.fixture(scope="package")
def driven(chromium_program: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:  # noqa: F811
    """Chromium, driven over pipes, until the studio's tests are done: it takes CPU also while nobody looks."""
    with chromium(chromium_program.program, tmp_path_factory.mktemp("driven")) as program:
        yield program


class Started:
    """A studio that was started as a person does, and the address that it printed."""

    def __init__(
        self, *arguments: str, home: Path, port: int = 0, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        command = [sys.executable, "-m", "incrowd", "studio", *arguments, "--no-browser", "--port", str(port)]
        known = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "XDG_DATA_HOME": str(home / "data"),
                 "HOME": str(home), "PYTHONUNBUFFERED": "1", **environment}  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=known)
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\S*token=\S+", line)
            if found:
                self.address, self.port = found[0], int(found[1])
                return
        self.end()
        raise AssertionError(f"the studio said no address: {''.join(said)}")

    def processes(self) -> list[Path]:
        """Return where the system tells of the processes that it has started."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return [Path(f"/proc/{child}") for one in threads for child in (one / "children").read_text().split()]

    def kill(self) -> None:
        """End it without a warning, as a crash does."""
        self.process.kill()
        self.end()

    def end(self) -> None:
        """End it in order."""
        self.process.terminate()
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def studio(*arguments: str, home: Path) -> Iterator[str]:
    """Start the studio as a person does, and yield the address that it prints."""
    started = Started(*arguments, home=home)
    try:
        yield started.address
    finally:
        started.end()


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
