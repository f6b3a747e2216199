"""How long people may move between groups: a number of passes, which can be repeated, or a time."""

from __future__ import annotations

import time


class Budget:
    """So many passes over all people, or until so many seconds are over, whichever is first."""

    def __init__(self, passes: int | None, seconds: float | None) -> None:
        self.passes, self.seconds = passes, seconds
        self._start = time.monotonic()

    def spent(self) -> float:
        """Return the share of the seconds that is over; 0 where there is no limit."""
        return 0.0 if self.seconds is None else (time.monotonic() - self._start) / self.seconds
