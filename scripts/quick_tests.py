"""Run the part of the tests that needs no server, no cluster, no browser and no data set, on any system.

    python scripts/quick_tests.py            # four to eleven minutes
    python scripts/quick_tests.py -k wheel   # what follows is handed to pytest

The workflow runs it on every system and Python, `make dist` in the unpacked sdist. `make test` runs all tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    "test_architecture.py", "test_documents.py", "test_errors.py", "test_plugins.py", "test_public_names.py", "release",
    "common", "core", "hierarchies", "kernels", "ledger", "models",
)  # fmt: skip


def command(root: Path, *more: str) -> list[str]:
    """Return the command that runs the part that lies under a root."""
    parts = [str(root / "tests" / part) for part in PARTS]
    return [sys.executable, "-m", "pytest", "-m", "not slow and not adult", "-n", "2", *parts, *more]


if __name__ == "__main__":
    sys.exit(subprocess.run(command(ROOT, *sys.argv[1:]), cwd=ROOT).returncode)
