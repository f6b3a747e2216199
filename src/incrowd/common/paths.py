"""Paths as users may write them."""

from __future__ import annotations

from pathlib import Path


def is_there(path: str | Path) -> bool:
    """Whether there is something at a path; nothing is where no file can be, as with a name that is too long."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
