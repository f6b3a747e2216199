"""Files that only their owner may read: keys, and recipes that repeat a release."""

from __future__ import annotations

import os
from pathlib import Path

from incrowd.errors import OutputError


def write_secret(path: str | Path, content: bytes, *, what: str) -> None:
    """Write a new file that only its owner can read; a file that is there already is left as it is."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except (OSError, ValueError) as error:
        raise OutputError(f"{what} {path} cannot be written: {_reason(error)}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        Path(path).unlink(missing_ok=True)  # half a key is none
        raise OutputError(f"{what} {path} cannot be written: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
