"""What every metric can do: measure what a release lost, or kept."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

from incrowd.common.registry import Named
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally

Goal = Literal["minimize", "maximize"]


class Metric(Named, Protocol):
    """A number with a direction and bounds, so that any report can draw any metric.

    Implementations are frozen dataclasses that inherit from this, one file each. Audits measure those that need no
    parameter.
    """

    goal: ClassVar[Goal]
    """Whether less of it is better, or more."""
    bounds: ClassVar[tuple[float, float]]
    """The least and the most that it can be."""
    of_privacy: ClassVar[bool] = False
    """Whether it tells what a release gives away, so that a table as it was is the worst, not the best."""

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the value for what is published of the table `before`."""
        ...
