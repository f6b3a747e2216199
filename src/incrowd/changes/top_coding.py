"""Top coding: the largest values are not told apart, so that nobody is known by being the richest or the oldest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.changes.change import Column, shown_number
from incrowd.changes.ends import Beyond, EndCoding, people_needed, require_end, round_cuts, too_few
from incrowd.common.arrays import Bools, Floats
from incrowd.common.records import dataclass


@dataclass(frozen=True)
class TopCoding(EndCoding):
    """Publish values from a threshold on as one value.

    Parameters
    ----------
    above : the threshold; values that are as large or larger are changed.
    share : in place of it, the share of people whose values are to be changed. The threshold is then a round number
        below the values of at least so many people, and of ten.
    shown : what becomes of them: "threshold" (default), "label", such as `>=100000`, which makes the column text, or
        "mean", that of all people beyond, of whom there are at least ten, to three digits.

    >>> TopCoding(100000).says()
    'values from 100000 on are published as 100000'

    Reference: Willenborg & de Waal (2001), Elements of Statistical Disclosure Control.
    """

    above: float | None = None
    share: float | None = None
    shown: Beyond = "threshold"
    name: ClassVar[str] = "top-coding"
    plain_name: ClassVar[str] = "the largest values are one"
    sign: ClassVar[str] = ">="
    side: ClassVar[str] = "above"

    def __post_init__(self) -> None:
        require_end(self.name, self.side, self.above, self.share, self.shown)

    @classmethod
    def examples(cls) -> tuple[TopCoding, ...]:
        """Return one for each thing to show."""
        return (cls(3), cls(3, shown="label"))

    @property
    def stated(self) -> float | None:
        """The threshold, where it is stated."""
        return self.above

    @property
    def shows(self) -> Beyond:
        """What is shown of those beyond."""
        return self.shown

    def beyond(self, numbers: Floats, threshold: float) -> Bools:
        """Return which numbers are as large."""
        return np.asarray(numbers >= threshold)

    def threshold(self, column: Column) -> float:
        """Return the threshold: as stated, or the largest round number that enough people are beyond."""
        if self.above is not None or self.share is None:
            return float(self.above or 0.0)
        from_here = np.cumsum(column.people[::-1])[::-1]
        enough = np.flatnonzero(from_here >= people_needed(column.people, self.share))
        if not enough.size or enough[-1] == 0:
            raise too_few(column, self)
        return float(round_cuts(column.values)[enough[-1]])

    def says(self) -> str:
        """Say what becomes of whom."""
        who = (
            f"the largest {100 * (self.share or 0):g} % of the values"
            if self.above is None
            else f"values from {shown_number(self.above)} on"
        )
        threshold = "their threshold" if self.above is None else shown_number(self.above)
        as_what = {"threshold": threshold, "label": "one label", "mean": "their mean"}[self.shown]
        return f"{who} are published as {as_what}"
