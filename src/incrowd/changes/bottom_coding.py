"""Bottom coding: the smallest values are not told apart, so that nobody is known by having the least of something."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.changes.change import Column, shown_number
from incrowd.changes.ends import Beyond, EndCoding, people_needed, require_end, round_cuts, too_few
from incrowd.common.arrays import Bools, Floats
from incrowd.common.records import dataclass


@dataclass(frozen=True)
class BottomCoding(EndCoding):
    """Publish values up to a threshold as one value.

    Parameters
    ----------
    below : the threshold; values that are as small or smaller are changed.
    share : in place of it, the share of people whose values are to be changed. The threshold is then a round number
        above the values of at least so many people, and of ten.
    shown : what becomes of them: "threshold" (default), "label", such as `<=1000`, which makes the column text, or
        "mean", that of all people beyond, of whom there are at least ten, to three digits.

    >>> BottomCoding(0).says()
    'values up to 0 are published as 0'

    Reference: Willenborg & de Waal (2001), Elements of Statistical Disclosure Control.
    """

    below: float | None = None
    share: float | None = None
    shown: Beyond = "threshold"
    name: ClassVar[str] = "bottom-coding"
    plain_name: ClassVar[str] = "the smallest values are one"
    sign: ClassVar[str] = "<="
    side: ClassVar[str] = "below"

    def __post_init__(self) -> None:
        require_end(self.name, self.side, self.below, self.share, self.shown)

    @classmethod
    def examples(cls) -> tuple[BottomCoding, ...]:
        """Return one for each thing to show."""
        return (cls(3), cls(3, shown="label"))

    @property
    def stated(self) -> float | None:
        """The threshold, where it is stated."""
        return self.below

    @property
    def shows(self) -> Beyond:
        """What is shown of those beyond."""
        return self.shown

    def beyond(self, numbers: Floats, threshold: float) -> Bools:
        """Return which numbers are as small."""
        return np.asarray(numbers <= threshold)

    def threshold(self, column: Column) -> float:
        """Return the threshold: as stated, or the smallest round number that enough people are below."""
        if self.below is not None or self.share is None:
            return float(self.below or 0.0)
        until_here = np.cumsum(column.people)
        enough = np.flatnonzero(until_here >= people_needed(column.people, self.share))
        if not enough.size or enough[0] + 1 >= len(column.values):
            raise too_few(column, self)
        above, own = float(round_cuts(column.values)[enough[0] + 1]), float(column.values[int(enough[0])])
        return above if above < float(column.values[int(enough[0]) + 1]) else own

    def says(self) -> str:
        """Say what becomes of whom."""
        who = (
            f"the smallest {100 * (self.share or 0):g} % of the values"
            if self.below is None
            else f"values up to {shown_number(self.below)}"
        )
        threshold = "their threshold" if self.below is None else shown_number(self.below)
        as_what = {"threshold": threshold, "label": "one label", "mean": "their mean"}[self.shown]
        return f"{who} are published as {as_what}"
