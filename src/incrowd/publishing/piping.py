"""A release into a pipe: its rows and nothing else, all of them or none."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from incrowd.common.progress import Progress, silent
from incrowd.errors import OutputError
from incrowd.publishing.release import Release
from incrowd.publishing.saving import Format
from incrowd.sources.piped import PIPE


def save_to_pipe(
    release: Release, *, format: Format | None = None, spreadsheet_safe: bool = False, progress: Progress = silent
) -> str:
    """Write the published rows to standard output when they are all made; return what stands for it."""
    if release.tables_of_form or release.linked:
        raise OutputError(
            "this release has several tables, and a pipe takes one.  Hint: name a directory with --output."
        )
    with tempfile.TemporaryDirectory(prefix="incrowd-") as place:  # only its owner may look into it
        chosen = format or "csv"
        data = release.save(
            Path(place) / "release", format=chosen, spreadsheet_safe=spreadsheet_safe, progress=progress
        )
        with data.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return PIPE
