"""Directories that a process keeps for all of its trials, and takes away when it ends."""

from __future__ import annotations

import shutil
import tempfile
from multiprocessing.util import Finalize
from pathlib import Path


def kept_directory() -> Path:
    """Return a new directory; unlike what `atexit` does, it also goes when a worker of a pool ends."""
    place = Path(tempfile.mkdtemp(prefix="incrowd-campaign-"))
    Finalize(None, shutil.rmtree, args=(place, True), exitpriority=1)
    return place
