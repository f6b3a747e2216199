"""When a search has to come to an end."""

from __future__ import annotations

import time


class Deadline:
    """A time after which a search makes do with what it has; an interrupt may bring it forward."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = float("inf") if seconds is None else time.monotonic() + seconds

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return time.monotonic() > self._end

    def stop(self) -> None:
        """Stop now."""
        self._end = float("-inf")
