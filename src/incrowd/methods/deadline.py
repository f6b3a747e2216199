"""When a search has to come to an end."""

from __future__ import annotations

import time


class Deadline:
    """A time after which a search makes do with what it has; an interrupt may bring it forward."""

    def __init__(self, seconds: float | None = None) -> None:
        self._start = time.monotonic()
        self._end = float("inf") if seconds is None else self._start + seconds

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return time.monotonic() > self._end

    def share(self) -> float:
        """The share of the time that has passed: 0 where there is no end."""
        return (time.monotonic() - self._start) / max(self._end - self._start, 1e-9)

    def stop(self) -> None:
        """Stop now."""
        self._end = float("-inf")
