"""Files and folders that only their owner may look into.

Where there are modes they are made with 0600 and 0700, and there is nothing to add. On Windows modes protect nothing,
and who may read is a list: it is set by Windows' own programs, before anything secret is written. Where that fails, a
warning says so in words.
"""

from __future__ import annotations

import csv
import subprocess
import warnings
from pathlib import Path

from incrowd.common import systems
from incrowd.errors import SecrecyWarning

_SECONDS = 20.0


def keep_private(path: Path) -> None:
    """Let nobody but the owner read a file, or a folder with all that will be made in it."""
    if not systems.WINDOWS:
        return
    rights = "(OI)(CI)F" if path.is_dir() else "F"
    try:
        # By the number of the account: names of accounts are translated, and may hold any character.
        _said("icacls", str(path), "/inheritance:r", "/grant:r", f"*{_account()}:{rights}")
    except (OSError, ValueError, subprocess.SubprocessError):
        warnings.warn(
            f"other users of this machine may be able to read {path}, which is secret: Windows did not let its "
            "permissions be set.  Hint: right-click it, then Properties, Security, and leave only yourself.",
            SecrecyWarning,
            stacklevel=3,
        )


def _account() -> str:
    """Return the number of this user's account (its SID)."""
    (row,) = csv.reader(_said("whoami", "/user", "/fo", "csv", "/nh").strip().splitlines())
    number = row[-1]
    if not number.startswith("S-1-"):
        raise ValueError("whoami did not tell the account")
    return number


def _said(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=True,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    return done.stdout
