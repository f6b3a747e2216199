"""What every metric can do: measure a release against the table before."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

from incrowd.releases.generalized import Generalized
from incrowd.tally import Tally

Goal = Literal["minimize", "maximize"]


class Metric(Protocol):
    """A number with a direction and bounds, so that any report can draw any metric."""

    name: ClassVar[str]
    goal: ClassVar[Goal]
    bounds: ClassVar[tuple[float, float]]

    def measure(self, before: Tally, release: Generalized) -> float:
        """Return the value for a release of the table `before`."""
        ...
