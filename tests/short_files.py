"""What a full disk does, where none can be had: no file grows beyond a size."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

KEEPS_NOTHING = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For processes whose disk gets full: Python would keep a compiled module cut off, and never import it again."""


@contextmanager
def no_longer_than(size: int) -> Iterator[None]:
    """No file of this process, and of those that it starts now, grows beyond a size."""
    import resource

    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    kept = {name: os.environ.get(name) for name in KEEPS_NOTHING}
    kept_here = sys.dont_write_bytecode
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    os.environ.update(KEEPS_NOTHING)
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.dont_write_bytecode = kept_here
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        signal.signal(signal.SIGXFSZ, handler)
