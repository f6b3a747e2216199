"""A browser that looks at pages: found, or installed where CI says that everything must run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.report.headless import Browser

COMPONENTS = Path(__file__).resolve().parents[2] / "scripts" / "components"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """Chromium; a test that asks for it skips where there is none and none can be installed."""
    program = _found(_NAMES)
    if program is None and os.environ.get("CI"):
        done = subprocess.run([COMPONENTS, "chromium"], check=False)
        program = _found(_NAMES)
        if done.returncode != 0 or program is None:
            pytest.fail(f"scripts/components chromium failed ({done.returncode})")
    if program is None:
        pytest.skip("there is no Chromium here; scripts/components chromium installs one")
    return Browser(program, tmp_path_factory.mktemp("browser"))


def _found(names: Sequence[str]) -> str | None:
    return next((path for path in map(shutil.which, names) if path is not None), None)
