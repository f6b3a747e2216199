"""What is attacked, and what the adversary brings along.

The truth, the table before, tells who is who, and so whether the adversary is right. Where it is not given, the
published rows themselves are the people, and the adversary is taken to know each one's crowd: the worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TypeVar

import numpy as np

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.surface import option
from incrowd.common.threads import Once
from incrowd.core.changed import ChangeFacts
from incrowd.core.dated import DatedRows
from incrowd.core.form import Form
from incrowd.core.households import Households
from incrowd.core.item_sets import ItemSets
from incrowd.core.model import Model
from incrowd.core.rows_beside import KeptRows
from incrowd.core.tally import Population, Tally, group_tuples
from incrowd.core.view import Matches, View
from incrowd.errors import AttackError

T = TypeVar("T")

MOST_PEOPLE = 100_000
"""So many people are attacked at most, drawn at random from larger tables."""

MOST_BELIEFS = 1 << 25
"""So many probabilities are held at once, people times values: with many values, fewer people are drawn."""


@dataclass(frozen=True, eq=False)
class People:
    """Whom the adversary looks for: line i is `counts[i]` people of the tuple `tuples[tuple_of[i]]`.

    `tuples` are what is known of them, distinct, in the order of the view's columns; `secrets[i]` their sensitive
    codes.
    """

    tuples: Codes
    tuple_of: Ints
    secrets: Codes
    counts: Counts
    lines: Ints
    """Where each line is in the table before, which may know more of these people than the release's columns."""

    @property
    def number(self) -> int:
        """How many they are."""
        return int(self.counts.sum())

    @property
    def tuple_counts(self) -> Counts:
        """How many people have each tuple."""
        return np.bincount(self.tuple_of, weights=self.counts, minlength=len(self.tuples)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Target:
    """A release under attack.

    `truth` is the table before, coded by the release's own trees; `external` is a table of people whose names an
    outsider knows, with at least some of the quasi-identifiers; `earlier` are other releases about overlapping people;
    `require` are the models that the release was made to satisfy, and `method` the name of the method, both of which
    adversaries are taken to know. `seed` picks the people who are attacked. `dated` are columns of dates, with
    people of whom one true date is known, and `kept_rows` what is kept of rows where people have several.
    `households` are people with those they live with, and `sets` the items that
    people show, in parts by their groups. `whole` is the same release to somebody who also knows the columns
    `beside` the labels, where any are kept and another table has them. `outside` is the same release, in trees that
    also hold what people of the external table have and the table lacks. `joined` is the release with the labels of
    the earlier ones beside its own, row by row, where columns that all of them publish link rows: those of `joined_by`.
    """

    form: Form
    truth: Tally | None = None
    external: Population | None = None
    earlier: tuple[Form, ...] = ()
    require: tuple[Model, ...] = ()
    method: str = ""
    seed: int = 0
    most_people: int = MOST_PEOPLE
    dated: tuple[DatedRows, ...] = ()
    kept_rows: tuple[KeptRows, ...] = ()
    households: Households | None = None
    sets: ItemSets | None = None
    totals: Floats | None = None
    """What the rows of each tuple of the truth weigh together, where there are survey weights."""
    changes: ChangeFacts = field(default_factory=ChangeFacts)
    """What was done to columns before they were published: adversaries know it, and not what chance came to."""
    outside: Target | None = None
    whole: Target | None = None
    joined: Target | None = None
    joined_by: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    _readings: Once = field(default_factory=Once, init=False, repr=False)
    _shared: Once = field(default_factory=Once, init=False, repr=False)

    @property
    def with_outsiders(self) -> Target:
        """The release in trees that also hold what people of the external table have."""
        return self if self.outside is None else self.outside

    @cached_property
    def view(self) -> View:
        """The release as a reader sees it."""
        return self.form.view()

    @cached_property
    def people(self) -> People:
        """Those who are attacked: everybody in the table, or as many of them, at random."""
        if self.truth is None:
            raise AttackError(
                "who is who is not known.  Hint: give the table that the release was made from: "
                f"{option('original', 'table.csv')}."
            )
        columns, secret = self.view.columns, self.view.sensitive
        values = max((self.view.trees[name].size for name in secret), default=1)
        number = min(self.most_people, max(MOST_BELIEFS // values, 1000))
        chosen, counts = draw_people(self.truth.counts, number, np.random.default_rng(self.seed))
        known = self.truth.codes_of(columns)[chosen]
        tuple_of, first = group_tuples(known, [self.view.trees[name].size for name in columns])
        hidden = [self.truth.column(name)[chosen] for name in secret]
        secrets = np.stack(hidden, axis=1) if hidden else np.zeros((len(chosen), 0), dtype=np.int32)
        return People(np.ascontiguousarray(known[first]), tuple_of, secrets, counts, chosen)

    def share(self, name: str, work: Callable[[], T]) -> T:
        """Return what some work finds out, which is done once for all attacks that need it."""
        return self._shared.get(name, work)

    def matches(self, column: str | None) -> Matches:
        """Return the crowds that each tuple of `people` could be in, every row that fits being as likely."""
        return next(iter(self.readings(column).values()))

    def readings(self, column: str | None) -> Mapping[str, Matches]:
        """Return the same by every rule that a reader may have; see `View.readings`."""
        return self._readings.get(column, lambda: self.view.readings(self.view.match(self.people.tuples, column)))


def draw_people(counts: Counts, number: int, rng: np.random.Generator) -> tuple[Ints, Counts]:
    """Draw people without putting anybody back; return their tuples and how many of each there are."""
    rows = int(counts.sum())
    if rows > number:
        ends = np.cumsum(counts)
        drawn = rng.choice(rows, size=number, replace=False, shuffle=False)
        counts = np.bincount(np.searchsorted(ends, drawn, side="right"), minlength=len(counts)).astype(np.int64)
    chosen = np.flatnonzero(counts)
    return chosen, counts[chosen]
