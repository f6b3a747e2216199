"""A release with labels as a reader sees it: a person could be in every group whose labels hold what is known of them.

Cost: see `kernels/boxes_and_points_pairs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from incrowd.common.arrays import Codes, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import Histogram, Regions, histogram
from incrowd.core.labelled import Labelled
from incrowd.core.view import (
    DENSEST,
    EVERY_ROW,
    SAME_ROOM,
    TIGHTEST,
    Crowds,
    LabelledView,
    Matches,
    keep_entries,
    normalized,
)
from incrowd.forms.boxes_holding import boxes_holding
from incrowd.hierarchies.tree import Tree


@dataclass(frozen=True, eq=False)
class GeneralizedView(LabelledView):
    """Groups of rows with labels; where several fit a person, `readings` tells how they may be weighed.

    Labels of columns that are `unknown` of people say nothing about where they are.
    """

    form: Labelled
    unknown: frozenset[str] = frozenset()
    _crowds: dict[str | None, Crowds] = field(default_factory=dict, init=False, repr=False)
    """What was asked for before: every attack asks for the same."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers that may be known."""
        return tuple(name for name in self.form.shown.columns if name not in self.unknown)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(sorted(self.form.schema.sensitive))

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The values of all columns."""
        return self.form.tally.trees

    @property
    def rows(self) -> int:
        """Rows that are published."""
        return self.form.rows

    @cached_property
    def regions(self) -> Regions:
        """What each group's labels stand for."""
        shown = self.form.group_regions()
        places = [shown.columns.index(name) for name in self.columns]
        return Regions(self.columns, shown.lows[:, places], shown.highs[:, places])

    def crowds(self, column: str | None) -> Crowds:
        """Return the groups."""
        if column not in self._crowds:
            self._crowds[column] = self._counted(column)
        return self._crowds[column]

    def _counted(self, column: str | None) -> Crowds:
        sizes = self.form.group_sizes
        if column is None:
            nothing = np.zeros(0, dtype=np.int64)
            return Crowds(sizes, Histogram(np.zeros(len(sizes) + 1, dtype=np.int64), nothing.astype(np.int32), nothing))
        codes = self.form.sensitive[:, list(self.form.schema.sensitive).index(column)]
        return Crowds(sizes, histogram(self.form.groups, codes, self.form.counts, len(sizes)))

    def match(self, people: Codes, column: str | None) -> Matches:
        """Return the groups whose labels hold each person, as likely as they are large."""
        offsets, groups = self._holding(people)
        return normalized(offsets, groups, self.form.group_sizes[groups])

    def readings(self, matches: Matches) -> Mapping[str, Matches]:
        """Return groups weighed by their rows, by their rows per combination of values, and the tightest ones alone.

        A group of many rows with wide labels hides nobody whose own labels are exact: most methods put people where
        labels are as tight as can be, and a reader knows that.
        """
        if not (np.diff(matches.offsets) > 1).any():
            return {EVERY_ROW: matches}
        room = self.log_room[matches.crowds]
        least = np.full(len(matches), np.inf)
        np.minimum.at(least, matches.person_of, room)
        wider = room - least[matches.person_of]
        return {
            EVERY_ROW: matches,
            DENSEST: normalized(matches.offsets, matches.crowds, matches.weights * np.exp(-wider)),
            TIGHTEST: keep_entries(matches, wider <= SAME_ROOM),
        }

    @cached_property
    def log_room(self) -> Floats:
        """The logarithm of how many combinations of values the labels of each group may stand for."""
        widths = (self.regions.highs - self.regions.lows).astype(np.float64)
        return np.asarray(np.log(np.maximum(widths, 1.0)).sum(axis=1))

    def fits(self, people: Codes) -> Floats:
        """Return how many rows are to be expected of each tuple, as if a group's rows were spread evenly."""
        offsets, groups = self._holding(people)
        density = self.form.group_sizes * np.exp(-self.log_room)
        person_of = np.repeat(np.arange(len(people)), np.diff(offsets))
        return np.bincount(person_of, weights=density[groups], minlength=len(people)).astype(np.float64)

    def rows_fitting(self, person: Codes, known: Sequence[str]) -> int:
        """Return the rows of groups whose labels hold what is known."""
        places = [self.columns.index(name) for name in known]
        lows, highs = self.regions.lows[:, places], self.regions.highs[:, places]
        fits = ((lows <= person[places]) & (person[places] < highs)).all(axis=1)
        return int(self.form.group_sizes[fits].sum())

    def without(self, unknown: frozenset[str]) -> GeneralizedView:
        """Return the view by the other labels, which still tell; itself if none were left."""
        return replace(self, unknown=unknown) if len(unknown) < len(self.columns) else self

    @property
    def labels(self) -> GeneralizedView:
        """The view itself."""
        return self

    def _holding(self, people: Codes) -> tuple[Ints, Ints]:
        return boxes_holding(self.regions.lows, self.regions.highs, people)
