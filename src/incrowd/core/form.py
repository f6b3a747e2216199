"""What every form of a release can do: tell what is published, answer questions, be checked, attacked and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts, Floats, Ints
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.core.estimate import SureCount
from incrowd.core.item_sets import ItemSets
from incrowd.core.items import ShownSets
from incrowd.core.labelled import Labelled
from incrowd.core.model import Guarantee, Model
from incrowd.core.people import PlacedPeople
from incrowd.core.query import Query
from incrowd.core.reader import Reader
from incrowd.core.schema import Schema
from incrowd.core.shown_weights import ShownWeights
from incrowd.core.source import OpenedTable
from incrowd.core.tally import Tally
from incrowd.core.view import View
from incrowd.hierarchies.tree import Tree

if TYPE_CHECKING:
    from incrowd.core.recoding import Recoding
    from incrowd.core.weights import WeightedTuples


class FormOutline(Named, Protocol):
    """What is known of a published form wherever its rows are: enough to write it and to sum it up."""

    private: ClassVar[bool] = False
    """Whether what is published are noisy counts: no row is anybody's, and the table's number of rows is a secret."""

    # Plain attributes, since dataclasses have them as fields, and a property here would stand before these.
    schema: Schema
    """The role of every column of the table."""
    rows_in: int
    """Rows that were to be published: those of the table, or of a sample of it."""

    @property
    def counted(self) -> Form | None:
        """The form itself, if what it publishes is counted here; None if it is only known by its groups' sizes."""
        return None

    @property
    def rows(self) -> int:
        """Rows that are published."""
        ...

    @property
    def withheld(self) -> int:
        """Rows that are not."""
        ...

    @property
    def group_sizes(self) -> Counts:
        """Rows in each group of people who hide together."""
        ...

    @property
    def counterfeits(self) -> int:
        """Published rows that are nobody's, and are not counted among those of the table."""
        return 0

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Return what is published besides the rows, by name."""
        return {}

    def losses(self) -> dict[str, Any]:
        """Return what was lost, as numbers that suit the form; where there are none, its labels are measured."""
        return {}

    def warnings(self) -> list[str]:
        """Return what a careful reader should know before signing."""
        return []


class Form(FormOutline, Protocol):
    """Published rows in one of the ways to show who hides together, as counts; rows are made when asked for.

    Implementations are frozen dataclasses that inherit from this. Everything that depends on the form is here: what
    an adversary sees, rows to learn from, losses, reading back from files.
    """

    other_tables: ClassVar[tuple[str, ...]] = ()
    """The names of tables that it may publish besides the rows."""

    tally: Tally
    """The table before."""

    @property
    def counted(self) -> Form | None:
        """The form itself."""
        return self

    @property
    def knows_table(self) -> bool:
        """Whether `tally` is the table's own; otherwise it is what is published."""
        return True

    @property
    def labelled(self) -> Labelled | None:
        """The form itself where it is groups with labels, which loss metrics measure."""
        return None

    @property
    def spread(self) -> Labelled | None:
        """Labels that its rows are taken to be spread evenly over; None where exact values are published."""
        return self.labelled

    def shown_labels(self) -> Mapping[str, tuple[Tree, pl.Series]]:
        """Return the labels of columns that do not show values as they are, and the trees that they are of.

        The same label may be there often.
        """
        return {}

    def reader(self, meanings: Mapping[str, Any] | None) -> Reader | None:
        """Return who answers from what is published alone, by what its labels mean; None where that is not enough."""
        return None

    def without(self, people: Tally) -> Form | None:
        """Return it without the rows of some people of the table, as far as a reader can tell which these are.

        None where no row is anybody's.
        """
        return None

    def people_in_groups(self, people: PlacedPeople) -> Counts:
        """Return how many people are in each group, where somebody has several rows."""
        return np.empty(0, dtype=np.int64)  # of forms that take nobody with several rows

    def seen(self, people: PlacedPeople) -> Ints | None:
        """Return each person's group as a reader sees it; None for forms that take no people with several rows."""
        return None

    def placed(self, people: PlacedPeople) -> Ints | None:
        """Return the group or the bucket that each person is published in, or `WITHHELD`; None if unknown."""
        return self.seen(people)

    def made_up_values(self) -> Mapping[str, tuple[Ints, Codes]]:
        """Return the sensitive values of rows that are nobody's, by column: groups, and codes of the table's trees."""
        return {}

    def with_items(self, people: PlacedPeople, column: str, list_of: Ints, lists: pl.Series, sets: ShownSets) -> Form:
        """Return the same with a set of items beside each row; only of forms that tell who is seen where."""
        return self

    def with_weights(
        self,
        recoding: Recoding,
        weighted: WeightedTuples,
        require: Sequence[Model],
        before: Tally,
        people: PlacedPeople | None = None,
        *,
        one_each: bool = False,
    ) -> Form | None:
        """Return the same with a weight beside each row that tells no more than `require` allows; None where it cannot.

        `recoding` is what was decided of the tuples that are `weighted`; a person who has several rows has one weight.
        With `one_each`, each group shows one weight.
        """
        return None  # forms without labels have nothing to put a weight beside

    @property
    def weights(self) -> ShownWeights | None:
        """What its rows show as their weights, where there are any."""
        return None

    @property
    def true_totals(self) -> Floats | None:
        """What the rows of each tuple of `tally` weigh together, where that is known."""
        return None

    def row_weights(self) -> Floats | None:
        """Return the published weight of each row that `reconstruct` makes; None without weights."""
        return None

    def weighted_count(self, query: Query) -> float | None:
        """Estimate what the published rows that satisfy every condition weigh together; None without weights."""
        return None

    def of_people(self, people: PlacedPeople, *, people_in: int) -> tuple[Form, tuple[str, ...]] | None:
        """Return what is published as one line for each person, and the sensitive columns that this leaves out."""
        return None

    def published_sets(self) -> ItemSets | None:
        """Return the sets of items that people show, in parts by their groups; None where there are none."""
        return None

    def rows_alike(self) -> Counts:
        """Return how many rows show each combination of quasi-identifiers; the smallest number is the k of a reader."""
        return self.group_sizes

    def verify(
        self, require: Sequence[Model], before: Tally | None, people: PlacedPeople | None = None
    ) -> list[Guarantee]:
        """Check every model on what is published; return the guarantees, or refuse the release.

        Models that compare groups with the whole table take the one `before`, or what is published where that is None.
        Where somebody has several rows, `people` says who is where, and `before` counts people.
        """
        ...

    def count(self, query: Query) -> float:
        """Estimate how many published rows satisfy every condition."""
        ...

    def estimated(self, query: Query) -> SureCount | None:
        """Return the same with its error and an interval; None where a reader of the labels tells them."""
        return None

    @property
    def errors_assume(self) -> str:
        """What these rest on, in words."""
        return ""

    def batches(self, rows_per_batch: int) -> Iterator[pl.DataFrame]:
        """Yield the published rows in an order that says nothing about the table's."""
        ...

    def runs(self, lines_per_batch: int) -> Iterator[pl.DataFrame] | None:
        """Yield the same, equal rows once with how often they come (`core/runs.py`); None where none are made so."""
        return None

    def view(self) -> View:
        """Return what a reader sees of it, which is what adversaries match people with."""
        ...

    def reconstruct(self, rng: np.random.Generator) -> tuple[dict[str, Codes], Floats]:
        """Return the codes of rows that could be behind it, column by column, and what each row weighs."""
        ...

    def canonical(self, before: Tally) -> Form:
        """Return it as its readers see it, where what was decided says a little more than what is written."""
        return self

    @classmethod
    def needed_tables(cls, summary: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the tables that a release must have besides its rows, by what it says of itself."""
        return cls.other_tables

    @classmethod
    def recognizes(cls, files: PublishedFiles) -> bool:
        """Whether files that do not name their form can be read as this one, by the columns that they have."""
        return False

    @classmethod
    def read_back(cls, files: PublishedFiles) -> tuple[Form, list[str]]:
        """Read it from its files; return what is to be said about how they were read, too."""
        ...


@dataclass(frozen=True, eq=False)
class PublishedFiles:
    """The files of a release, opened, and what is known of them."""

    data: OpenedTable
    """The published rows."""
    others: Mapping[str, OpenedTable]
    """What else is published, by name."""
    schema: Schema
    described: frozenset[str]
    """All columns that have a role, also those that the schema leaves out."""
    summary: Mapping[str, Any]
    """What the release says of itself; empty for a file that was not made here."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the method, and of the form that was asked for."""
    slices: Sequence[Sequence[str]] | None = None
    """Which columns were permuted together, if that is described."""
    known: Tally | None = None
    """The table before, if it is given."""
    rows_in: int | None = None
    """How many of its rows were to be published."""
    meanings: Mapping[str, Any] | None = None
    """What its labels stand for, if it says so (`labels.json`)."""
    external: OpenedTable | None = None
    """A table that tells which values there are, if the table before does not."""
