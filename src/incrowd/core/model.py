"""What every model can do: judge groups. And what a release may say of itself: guarantees, promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, Self, cast

import numpy as np

from incrowd.common.arrays import Bools, Floats
from incrowd.common.records import dataclass
from incrowd.common.registry import Named
from incrowd.core.groups import Groups, Histogram
from incrowd.core.schema import Schema
from incrowd.errors import RecipeError, SchemaError, did_you_mean
from incrowd.hierarchies.tree import Tree

Basis = Literal["verified", "by construction"]

Missing = Literal["ignored", "counts"]
"""What a missing sensitive value means: it protects nobody and is left out, or it is a value like any other."""


class Statement(Named, Protocol):
    """Something that can be said of a release: `str` is how a reader is told."""

    by_construction: ClassVar[bool] = False
    """Whether only the method's own making can give it: no table can be checked for it, so it cannot be required."""

    def __str__(self) -> str:
        return repr(self)


class Model(Statement, Protocol):
    """What *safe* means for a group. Implementations are frozen dataclasses that inherit from this, one file each."""

    monotone: ClassVar[bool]
    """Whether joining groups that satisfy it always gives a group that satisfies it."""
    monotone_with_several_values: ClassVar[bool] = True
    """Whether that, if so, holds where somebody has several values as well."""
    hereditary: ClassVar[bool]
    """Whether a group that fails it has only subgroups that fail it, so that splitting never helps."""
    looks_at_values: ClassVar[bool] = True
    """Whether it needs sensitive values; without, the sizes of groups are enough."""
    follows_hierarchy: ClassVar[bool] = False
    """Whether it may measure by a sensitive column's hierarchy how far two of its values are apart."""
    covers_all_columns: ClassVar[bool] = False
    """Whether it speaks of all that is published, so that columns may not be kept as they are."""
    needs_table: ClassVar[bool] = False
    """Whether it judges groups only together with their labels and the table before."""
    counts_households: ClassVar[bool] = False
    """Whether it looks at who lives together, which releases do not show, and at no sensitive value."""
    knows_values: ClassVar[bool] = True
    """Whether it asks which values there are, and not only how often each occurs."""
    compares_with_table: ClassVar[bool] = False
    """Whether it compares a group's values with those of the whole table, withheld rows included."""
    holds_in_buckets: ClassVar[bool] = False
    """Whether it speaks of nothing but who shares a bucket, or of the sensitive values there.

    It then means the same where quasi-identifiers are published as they are. All other models speak of people who
    show the same quasi-identifiers, and are judged by the rows as they are written.
    """
    judges_entries: ClassVar[bool] = False
    """Whether it tells safe values of a group from unsafe ones, so that single rows can be withheld."""
    over_matches: ClassVar[bool] = False
    """Whether it bounds the guess of a person's value by 1/`diversity` over all buckets that the person could be in."""

    enough: ClassVar[Literal["rows", "values"] | None] = None
    """What alone decides it, where compiled code can count that: "rows", `min_group` of them in a group, or "values",
    `diversity` different ones of each sensitive column where everybody has one value. None: only `satisfied` knows."""

    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("", ())
    """The parameter that makes it stricter, and values of it that audits try in turn, the mildest first."""

    # A plain attribute: many models have it as a field, and a property here would stand before that.
    column: str | None = None
    """The sensitive column that it is about; None for every one of them."""

    missing: Missing = "counts"
    """Whether a missing sensitive value is a value like any other; a model that knows the choice has it as a field."""

    def stricter(self) -> tuple[Self, ...]:
        """Return the same model with stricter values of its parameter, the mildest first; none if it names none."""
        name, values = self.strictness
        if not values:
            return ()
        own, rising = vars(self)[name], values[-1] > values[0]
        chosen = [value for value in values if (value > own if rising else value < own)]
        return tuple(replace(cast("Any", self), **{name: value}) for value in chosen)

    @property
    def whole_table(self) -> bool:
        """Whether the verdict on a group depends on the others."""
        return False

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it, as 1-anonymity, so that it guarantees nothing."""
        return False

    @property
    def needs_everybody(self) -> bool:
        """Whether nobody of the population may be left out."""
        return False

    @property
    def asks_population(self) -> bool:
        """Whether it asks how many people of the population a row could be, which survey weights may estimate."""
        return False

    @property
    def for_each_group(self) -> Model:
        """A model that implies this one if every single group satisfies it: itself, unless it is `whole_table`."""
        return self

    @property
    def of_households(self) -> Model | None:
        """What it asks for of households, where it counts people: that model is then required beside it."""
        return None

    @property
    def diversity(self) -> float:
        """ℓ: among how many values a person's own has to hide; 1 if that is not what it asks for."""
        return 1

    @property
    def min_group(self) -> int:
        """No group with fewer rows can satisfy it; methods use this to stop early."""
        ...

    def satisfied(self, groups: Groups) -> Bools:
        """Return one verdict per group."""
        ...

    def achieved(self, groups: Groups) -> float:
        """Return the strongest parameter that all groups satisfy (k = 7)."""
        ...

    def satisfied_entries(self, groups: Groups, column: str, histogram: Histogram) -> Bools:
        """Return one verdict per entry of a column's histogram: by default, that on its group."""
        verdicts: Bools = self.satisfied(groups)[histogram.group_of]
        return verdicts

    def told(self, groups: Groups) -> str:
        """Return what a reader should know of how groups were judged; by default, only if it says nothing of them."""
        return "every table satisfies it, so that it guarantees nothing" if self.asks_nothing else ""

    def failing_rows(self, groups: Groups) -> int:
        """Return how many rows are unsafe: by default, all those of groups that fail."""
        return int(groups.sizes[~self.satisfied(groups)].sum())

    def least_failing(self, groups: Groups) -> Floats:
        """Return the share of each group that fails however the group is split, as far as the model knows.

        Searches that withhold rows use it to rule out what is more specific.
        """
        return (~self.satisfied(groups)).astype(np.float64) if self.hereditary else np.zeros(len(groups))


@dataclass(frozen=True)
class Guarantee:
    """What a release satisfies, and on what ground: verified on the published table, or by the method's making."""

    model: Statement
    basis: Basis
    achieved: float
    note: str = ""
    """What takes away from it: a seeded run of a private method is not for publication."""

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        if self.basis == "by construction":
            return f"{self.model} (by construction{note})"
        return f"{self.model} ({self.basis}; achieved {self.achieved:.4g}{note})"


class Promise(Protocol):
    """A guarantee that a method's own making gives, said before anybody looks at the table.

    What is published under one must not tell how many rows the table has, so a release that carries a promise leaves
    out every number that is not made from its published rows.
    """

    guarantee: Guarantee
    """What is guaranteed."""
    told: Mapping[str, Any]
    """What else a reader may want to know of it, as plain values."""

    def warnings(self, rows: int, rate: Fraction) -> list[str]:
        """Return what a careful reader should know, where `rows` were published of a sample at `rate`."""
        ...


def histograms(groups: Groups, column: str | None) -> Mapping[str, Histogram]:
    """Return the histograms that a model looks at: one sensitive column's, or all of them."""
    if column is not None:
        if column not in groups.sensitive:
            raise SchemaError(f"'{column}' is not a sensitive column.{did_you_mean(column, groups.sensitive)}")
        return {column: groups.sensitive[column]}
    if not groups.secrets:
        raise SchemaError("diversity needs a sensitive column, and there is none.  Hint: name one as sensitive.")
    return {name: groups.sensitive[name] for name in groups.secrets}


def judged_columns(groups: Groups, column: str | None, missing: Missing) -> Iterator[tuple[str, Groups, Histogram]]:
    """Yield each sensitive column that a model looks at, with its groups as the model sees them and their histogram.

    Where missing values are ignored, these are the groups of the people who have a value: see `Groups.recorded`.
    """
    for name in histograms(groups, column):
        of_column = groups.recorded(name) if missing == "ignored" else groups
        yield name, of_column, of_column.sensitive[name]


def require_missing(owner: str, missing: str) -> None:
    """Refuse another word than the two."""
    if missing not in ("ignored", "counts"):
        raise RecipeError(f'{owner}: missing is "ignored" or "counts", not {missing!r}.')


def of_what(column: str | None, missing: Missing) -> str:
    """Return the end of a statement: of which column, and whether missing values count."""
    return (f" of {column}" if column else "") + (", missing values counted" if missing == "counts" else "")


def all_satisfied(verdicts: Iterable[Bools], groups: Groups) -> Bools:
    """Return, for each group, whether every verdict is yes."""
    together = np.ones(len(groups), dtype=bool)
    for verdict in verdicts:
        together &= verdict
    return together


def satisfies_all(models: Sequence[Model], groups: Groups) -> Bools:
    """Return, for each group, whether it satisfies every model."""
    return all_satisfied((model.satisfied(groups) for model in models), groups)


def stay_safe_joined(models: Iterable[Model], trees: Mapping[str, Tree]) -> bool:
    """Whether joining groups of a table that satisfy every model always gives a group that does."""
    several = any(tree.sets is not None for tree in trees.values())
    return all(model.monotone and (model.monotone_with_several_values or not several) for model in models)


def any_looks_at_values(models: Iterable[Model]) -> bool:
    """Whether any of the models needs to know sensitive values; if none does, rows need not be told apart by them."""
    return any(model.looks_at_values for model in models)


def any_ignores_missing(models: Iterable[Model]) -> bool:
    """Whether any of the models that look at sensitive values leaves out the missing ones."""
    return any(model.looks_at_values and model.missing == "ignored" for model in models)


def least_failing(models: Iterable[Model], groups: Groups) -> Floats:
    """Return the share of each group's rows that fail however the group is split, as far as the models know."""
    share = np.zeros(len(groups))
    for model in models:
        share = np.maximum(share, model.least_failing(groups))
    return share


def for_each_group(models: Sequence[Model]) -> tuple[Model, ...]:
    """Replace models of the whole table by those that imply them group by group."""
    return tuple(model.for_each_group for model in models)


def smallest(values: Iterable[Floats]) -> float:
    """Return the smallest of all values; infinity when there is no group to fail."""
    return min((float(array.min()) for array in values if array.size), default=float("inf"))


def refuse_unverifiable(models: Sequence[Statement]) -> None:
    """Refuse, before any work, what no table can be checked for."""
    for model in models:
        if Statement in type(model).__mro__ and model.by_construction:
            raise SchemaError(
                f"{model} is a promise of the method: it cannot be checked on a table, nor required of one.  "
                "Hint: use a method that has it, such as DiffGen."
            )


def refuse_uncovered(models: Sequence[Model], schema: Schema) -> None:
    """Refuse columns that are published beside the counts where a model speaks of all that is published."""
    uncovered = (*schema.found_again, *schema.weights)
    for model in models:
        if uncovered and model.covers_all_columns:
            raise SchemaError(
                f"{model} speaks of every published column, and '{uncovered[0]}' would be published outside of it.  "
                "Hint: make it sensitive or a quasi-identifier, or drop it."
            )


def verified_models(guarantees: Sequence[Guarantee]) -> tuple[Model, ...]:
    """Return the models among guarantees: those that were verified, and so can be required again."""
    return tuple(cast("Model", guarantee.model) for guarantee in guarantees if guarantee.basis == "verified")
