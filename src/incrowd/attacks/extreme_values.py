"""Extreme values (Li, Qardaji & Su 2012): a range that fits its crowd tightly shows the smallest and the largest value
in it. A cluster that is published as [900K, 35M] tells that somebody earns 35M, and it is known who.

Looked at are the people at both ends of every ordered column: those whose value so few people reach that they can be
told apart. Cost: that of matching these people.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts
from incrowd.common.parameters import require_whole
from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.core.view import LabelledView
from incrowd.forms.reading.foreign_labels import stated_ends
from incrowd.hierarchies.tree import MISSING


@renamed(few="fewer_than")
@dataclass(frozen=True)
class ExtremeValues(Attack):
    """Look for people with an extreme value at the end of a published range.

    Parameters
    ----------
    fewer_than : a value is extreme if fewer than this many people reach it; at least 2 (default: 5).

    It needs ranges of numbers or dates, and the table before.

    Reference: Li, Qardaji & Su (2012).
    """

    fewer_than: int = 5
    name: ClassVar[str] = "extreme-values"
    plain_name: ClassVar[str] = "reading off the highest and lowest values"
    threat: ClassVar[Threat] = "singling out"
    knows_kept_columns: ClassVar[bool] = False
    stream: ClassVar[int | None] = 4

    def __post_init__(self) -> None:
        require_whole(self.name, "fewer_than", self.fewer_than, at_least=2)

    def lacks(self, target: Target) -> str | None:
        """Ranges of numbers or dates, and the table before, are needed."""
        if target.view.labels is None or target.form.private:
            return "nothing is published as a range around people"
        if not any(target.view.trees[name].ordered for name in target.view.columns):
            return "no quasi-identifier is a number or a date"
        return "the table before is needed" if target.truth is None else None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return how many of these people have their exact value at the end of a range that they fit."""
        view, truth = target.view.labels, target.truth
        assert view is not None
        assert truth is not None
        known = truth.codes_of(view.columns)
        shown = total = 0
        for place, name in enumerate(view.columns):
            if not truth.trees[name].ordered:
                continue
            lowest, highest = tails(truth.value_counts(name), self.fewer_than)
            for side, extreme in (("low", lowest), ("high", highest)):
                people = np.flatnonzero(extreme[known[:, place]])
                if len(people):
                    at_end = self._at_end(view, known[people], place, side)
                    shown += int(truth.counts[people][at_end].sum())
                    total += int(truth.counts[people].sum())
        value = shown / total if total else 0.0
        return risk_of(
            self,
            value=value,
            sure=not total,
            baseline=0.0,
            people=total,
            exposed=shown,
            against="no range shows anybody's value",
            says=f"Of the {total:,} people with the most extreme values, {percent(value)} have theirs published as "
            "the end of a range."
            if total
            else f"Nobody stands out: at least {self.fewer_than} people share the extremes of every column.",
        )

    def _at_end(self, view: LabelledView, people: Codes, place: int, side: str) -> NDArray[np.bool_]:
        """Return whose code is the end that the label of a group around them shows."""
        matches = view.match(np.ascontiguousarray(people), None)
        if view.form.written == "tight":
            # Ends are as the label's text states them: `[0, 200)` shows nobody's value, whoever is in it.
            name = view.columns[place]
            ends = stated_ends(view.trees[name], view.form.shown.labels[name])[0 if side == "low" else 1]
            told = ends > MISSING
        else:
            # Cuts and names of nodes show no value of their own, unless they hold one value only; nor does "anything".
            lows, highs = view.regions.lows[:, place], view.regions.highs[:, place]
            ends, told = lows, highs - lows == 1
        same = (people[matches.person_of, place] == ends[matches.crowds]) & told[matches.crowds]
        return np.bincount(matches.person_of[same], minlength=len(people)) > 0


def tails(counts: Counts, fewer_than: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which codes fewer than `fewer_than` people have or undercut, and have or exceed; missing is no value.

    >>> low, high = tails(np.array([9, 1, 2, 30, 4]), 4)
    >>> low.tolist(), high.tolist()
    ([False, True, True, False, False], [False, False, False, False, False])
    """
    known = np.concatenate(([0], counts[1:]))
    lowest = (np.cumsum(known) < fewer_than) & (known > 0)
    highest = (np.cumsum(known[::-1])[::-1] < fewer_than) & (known > 0)
    return lowest, highest
