"""What a reader sees of a release: in which crowds a person could be, and with which probability. Every attack starts
from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.core.groups import Histogram, Regions
from incrowd.core.labelled import Labelled
from incrowd.hierarchies.tree import Tree


@dataclass(frozen=True, eq=False)
class Matches:
    """Person i could be in the crowds `crowds[offsets[i]:offsets[i + 1]]`, with probabilities `weights` that add to 1.

    Nobody's entries are empty but those of people whom nothing in the release fits.
    """

    offsets: Ints
    crowds: Ints
    weights: Floats

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def person_of(self) -> Ints:
        """The person of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def matched(self) -> NDArray[np.bool_]:
        """Who fits anything at all."""
        return np.diff(self.offsets) > 0

    def total(self, amounts: NDArray[np.number]) -> Floats:
        """Return, for each person, the sum of an amount over all crowds that they could be in."""
        return np.bincount(self.person_of, weights=amounts[self.crowds], minlength=len(self)).astype(np.float64)


def normalized(offsets: Ints, crowds: Ints, weights: NDArray[np.number]) -> Matches:
    """Return matches whose weights add up to 1 for each person; matches of no weight are left out."""
    person_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    some = weights > 0
    person_of, crowds = person_of[some], crowds[some]
    kept: Floats = weights[some].astype(np.float64)
    totals = np.bincount(person_of, weights=kept, minlength=len(offsets) - 1)
    starts = np.concatenate(([0], np.cumsum(np.bincount(person_of, minlength=len(offsets) - 1))))
    return Matches(starts.astype(np.int64), crowds, kept / totals[person_of])


def keep_entries(matches: Matches, kept: NDArray[np.bool_]) -> Matches:
    """Return some of the matches, with weights that add up to 1 again."""
    return normalized(matches.offsets, matches.crowds, np.where(kept, matches.weights, 0.0))


EVERY_ROW = "every row that fits is as likely"
DENSEST = "tight labels say more than wide ones"
TIGHTEST = "only the tightest labels that fit"
MAJORITY = "everybody has what most have"
CORRECTED = "corrected for what chance is known to do"
"""Rules by which an adversary reads a release. None of them needs more than the files."""


SAME_ROOM = 1e-9
"""Logarithms that differ by less are the same number of combinations."""


@dataclass(frozen=True, eq=False)
class Crowds:
    """People who cannot be told apart: how many, and how often each sensitive value occurs among them."""

    sizes: Counts
    values: Histogram


class View(Protocol):
    """What a reader sees of a release, whatever its form; people are tuples of codes of the table's own trees."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What may be known of a person: the quasi-identifiers, sorted by name."""
        ...

    @property
    def sensitive(self) -> tuple[str, ...]:
        """What is not known of them."""
        ...

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The values of all columns."""
        ...

    @property
    def rows(self) -> int:
        """Rows that are published."""
        ...

    def crowds(self, column: str | None) -> Crowds:
        """Return the crowds as they show a sensitive column, or their sizes alone."""
        ...

    def match(self, people: Codes, column: str | None) -> Matches:
        """Return in which crowds people could be, given what is known of them (codes in the order of `columns`)."""
        ...

    def readings(self, matches: Matches) -> Mapping[str, Matches]:
        """Return the same matches as an adversary may weigh them, by the name of the rule; the plain one comes first.

        Rules differ only where somebody could be in several crowds.
        """
        return {EVERY_ROW: matches}

    def fits(self, people: Codes) -> Floats:
        """Return how many rows the release lets one expect of each of these tuples: 0 where it rules them out."""
        ...

    def rows_fitting(self, person: Codes, known: Sequence[str]) -> int:
        """Return how many rows could be a person's of whom only some columns are known."""
        ...

    def without(self, unknown: frozenset[str]) -> View:
        """Return the view of a reader who does not know some of people's columns; itself, where all are needed."""
        return self

    @property
    def labels(self) -> LabelledView | None:
        """The view itself where what is seen are groups with labels."""
        return None

    @property
    def exact(self) -> ExactView | None:
        """The view itself where what is seen are rows with exact values."""
        return None


class LabelledView(View, Protocol):
    """Groups with labels as a reader sees them."""

    form: Labelled
    """The groups."""

    @property
    def regions(self) -> Regions:
        """What each group's labels stand for in the columns that may be known."""
        ...

    @property
    def log_room(self) -> Floats:
        """The logarithm of how many combinations of values the labels of each group may stand for."""
        ...


class ExactView(View, Protocol):
    """Written rows with exact values, columns apart from one another."""

    def written_rows(self, rows: Ints) -> Codes:
        """Return what some of the written rows, by number, show in the columns that may be known."""
        ...

    def as_shown(self, people: Codes) -> Codes:
        """Return people's codes as the release would show them."""
        ...
