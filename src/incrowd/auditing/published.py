"""Which files an audit is about: their names, sizes, days and hashes, and the recipe that they were made by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20


def published(files: Sequence[Path], recipe: str | None) -> dict[str, Any]:
    """Return what tells one set of published files from any other, and the day of the audit (UTC)."""
    return {
        "audited on": datetime.now(UTC).date().isoformat(),
        "files": [_file(path) for path in files],
        **({} if recipe is None else {"recipe": recipe}),
    }


def _file(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {
        "name": path.name,
        "bytes": found.st_size,
        "changed on": datetime.fromtimestamp(found.st_mtime, UTC).date().isoformat(),
        "sha256": sha256(path),
    }


def sha256(path: Path) -> str:
    """Return the hash of a file, as `sha256sum` prints it."""
    made = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            made.update(chunk)
    return made.hexdigest()
