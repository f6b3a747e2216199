"""What every method can do: search a tally for a recoding that satisfies the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Literal, Protocol, Self

import numpy as np

from incrowd.common.progress import Progress
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.core.groups import Groups
from incrowd.core.model import Model, Promise, stay_safe_joined
from incrowd.core.recoding import Recoding
from incrowd.core.schema import Schema
from incrowd.core.show import Show
from incrowd.core.tally import Tally
from incrowd.errors import Unsatisfiable


@dataclass(frozen=True)
class Moves:
    """What people who move between a method's groups have to keep to, so that its options still hold.

    `loss` is what the method itself minimizes, with `weights` of columns that do not count as 1: a metric by its name,
    "cells", the number of suppressed ones, or "squared-error", the squares of what is shown, where means are off by the
    difference and labels by their certainty penalty. `min_levels` and `max_levels` bound the levels of columns,
    `max_distortion` how far a row may climb, and `min_rows` the size of groups. Where a method `keeps_classes`, people
    move only among groups that tell the same of the `target`, or of all sensitive columns where there is none, and the
    entropy of classes within groups must not grow. People whose own class decided where they go would make groups that
    look pure, and that tell nothing of others.
    """

    loss: Literal["gcp", "loss", "precision", "cells", "squared-error"] = "gcp"
    weights: Mapping[str, float] = field(default_factory=dict)
    min_levels: Mapping[str, int] = field(default_factory=dict)
    max_levels: Mapping[str, int] = field(default_factory=dict)
    max_distortion: float = 1.0
    min_rows: int = 1
    keeps_classes: bool = False
    target: str | None = None


class AnyMethod(Named, Protocol):
    """What is known of a method before it starts, whatever it publishes."""

    private: ClassVar[bool] = False
    """Whether it publishes noisy counts: nothing of its release, not even the number of rows, is the table's own."""
    judges_all_groups: ClassVar[bool] = False
    """Whether it makes all groups at once, and so can judge what holds of all of them together."""
    looks_at_values: ClassVar[bool] = True
    """Whether it looks at sensitive values also where no model does."""
    promises_privacy: ClassVar[bool] = False
    """Whether it promises differential privacy, which is about rows: where somebody has several, about `most_rows`."""
    one_row_each: ClassVar[bool] = False
    """Whether nobody may have several rows: it is made for a form of which that is true."""
    remembers_people: ClassVar[bool] = False
    """Whether it asks where people were published before: it then sees their signatures, and has to know who is who."""
    shows: ClassVar[Show] = "label"
    """What quasi-identifiers that are numbers show where nobody asks for anything else."""

    # A plain attribute: some methods have it as a field, and a property here would stand before that.
    most_rows: int | None = None
    """How many rows of each person it sees at most; None where each row is a person, or where it sees all of them."""

    @property
    def allows_empty(self) -> bool:
        """Whether a table without rows is one like any other: a refusal would tell that nobody is in it."""
        return False

    @property
    def goes_by_the_clock(self) -> bool:
        """Whether what is found depends on how fast it is found: the same search may then find something else."""
        return getattr(self, "max_seconds", None) is not None

    @property
    def searches_parts(self) -> bool:
        """Whether it may search parts of a table one by one: nothing that it decides of some has to hold for all.

        Of a table that is too large for one machine, such methods see one part at a time; others see all of it, less
        specific (`not_below`).
        """
        return False

    @property
    def least_levels(self) -> Mapping[str, int]:
        """The levels of columns below which it shows nothing, as far as that is known before it looks; else 0."""
        return {}

    def not_below(self, levels: Mapping[str, int]) -> Self:
        """Return it for a table that is only known at these levels; what it shows is at least as high in any case."""
        return self

    @property
    def moves(self) -> Moves | None:
        """What people who move between its groups (`effort`) have to keep to; None where they may not move.

        A method whose groups are more than who hides together does not let people move: one that gives every value of a
        column the same label, or that promises something of how groups are made.
        """
        return None

    @property
    def guarantees(self) -> tuple[Model, ...]:
        """What every release of it satisfies, whatever else is required."""
        return ()

    def promise(self, rate: Fraction, *, note: str = "") -> Promise | None:
        """Return what publishing a sample at this rate promises by construction, or refuse the rate.

        A method that makes a promise shows generalized values and nothing else.
        """
        return None

    def safer(self) -> Sequence[tuple[str, AnyMethod]]:
        """Return the same method with options that show less, each with what is changed, the mildest first."""
        return ()

    def seen_from(self, moved: Callable[[object], str]) -> Self:
        """Return it as a recipe elsewhere tells it; `moved` gives a path as it reads from there."""
        return self

    def counted_as(self, schema: Schema) -> Schema:
        """Return the schema by which the table is counted: by default, its own."""
        return schema


class Method(AnyMethod, Protocol):
    """How to get a safe table. Implementations are frozen dataclasses that inherit from this, one file each.

    They never see rows.
    """

    def settled(self, found: Recoding) -> Self:
        """Return it with what it decided of some people and has to decide alike for all, where it searches parts."""
        return self

    def retold(self, found: Recoding) -> Recoding:
        """Return groups that were improved after the search with what it has to tell of them."""
        return found

    def search(
        self,
        tally: Tally,
        schema: Schema,
        require: Sequence[Model],
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Recoding:
        """Return who hides together and what they show, or raise `Unsatisfiable`."""
        ...


def require_possible(require: Sequence[Model], whole: Groups) -> None:
    """Raise `Unsatisfiable` if even all rows in one group fail a model."""
    failing = [model for model in require if not model.satisfied(whole).all()]
    if failing:
        reached = "; ".join(
            f"{model}: all {int(whole.sizes.sum())} rows together reach {model.achieved(whole):.4g}"
            for model in failing
        )
        # Groups may be safe that are not so together, and then another method may find them.
        none_is = stay_safe_joined(failing, whole.trees)
        said = "no grouping satisfies" if none_is else "all rows in one group do not satisfy"
        more = "give more rows" if none_is else "choose a method that does not need this, such as full-domain"
        raise Unsatisfiable(f"{said} what is required. {reached}.  Hint: ask for less, or {more}.")
