"""Try everything where only the core is installed: `make bare`, or `.venv-core/bin/python -m tests.bare_install PART`.

Plain Python, because the tests' own packages are not there.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

PARTS = ("documents", "releases", "sources", "environment", "commands")


def main(names: list[str]) -> int:
    """Run one part here, or all of them, two at a time; return 1 if anything is wrong."""
    if len(names) == 1:
        return _one(names[0])
    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda part: subprocess.run([sys.executable, "-m", __package__, part]).returncode, PARTS))
    return max(codes)


def _one(part: str) -> int:
    with tempfile.TemporaryDirectory(prefix="incrowd-bare-") as place:
        before = Path.cwd()
        found = []
        for fault in import_module(f"{__package__}.{part}").faults(Path(place)):
            print(f"{part}: {fault}", flush=True)
            found.append(fault)
        assert Path.cwd() == before
    print(f"the core alone, {part}: {f'{len(found)} faults' if found else 'all works'}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
