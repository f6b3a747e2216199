"""Columns published separately: several narrow tables in place of a wide one, in which hardly two people are alike.

The end of section 4 of Li, Qardaji & Su (2012): each set of columns is generalized, sampled and suppressed by itself,
and what they cost adds up. The sum needs a sample of its own for every set: on one sample for all, somebody in it is in
it for every table, and the tables together say more about that than the sum allows (with r for how much likelier one
table is with the person sampled, (1−β) + β·r² is more than ((1−β) + β·r)²). Which columns belong together may be
chosen privately (`GroupColumns`), for an ε that adds to the rest. Cost: that of SDGS, for each set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from incrowd.common.exact import Exact
from incrowd.common.parameters import require_whole
from incrowd.common.progress import Progress, silent
from incrowd.common.randomness import randomness
from incrowd.common.records import dataclass
from incrowd.core.model import Guarantee, refuse_uncovered
from incrowd.core.sampling import as_rate
from incrowd.core.schema import Schema
from incrowd.dp.accountant import Accountant
from incrowd.dp.budget import Budget
from incrowd.dp.marginals.grouping import Grouping
from incrowd.dp.promise import PrivacyPromise
from incrowd.dp.sampled_suppression import as_epsilon
from incrowd.errors import RecipeError, SchemaError, Unsatisfiable, did_you_mean
from incrowd.hierarchies.public import public_codes, public_tree
from incrowd.ledger import Ledger
from incrowd.methods.sdgs import SDGS
from incrowd.models.differential_privacy import DifferentialPrivacy
from incrowd.publishing.noisy_counts import SEEDED
from incrowd.publishing.people_promises import refuse_unbounded_method
from incrowd.publishing.private_table import count_people
from incrowd.publishing.publish import publish
from incrowd.publishing.table import Table

if TYPE_CHECKING:
    from incrowd.publishing.release import Release
    from incrowd.publishing.saving import Format


@dataclass(frozen=True, eq=False)
class SeparateReleases:
    """One release for each set of columns, and what all of them promise together.

    Where no combination was seen k times there is no release; that, too, is an outcome, and is not tried again.
    """

    columns: tuple[tuple[str, ...], ...]
    releases: tuple[Release | None, ...]
    guarantee: Guarantee

    def save(self, directory: str | Path, *, format: Format | None = None, force: bool = False) -> list[Path]:
        """Write each release into a directory of its own below this one; return the paths of the data files."""
        made = enumerate(self.releases, start=1)
        return [
            release.save(Path(directory) / f"columns-{number}", format=format, force=force)
            for number, release in made
            if release is not None
        ]


@dataclass(frozen=True)
class GroupColumns:
    """Columns that depend on each other are put together by private choices, for an ε of their own.

    Parameters
    ----------
    epsilon : what the choices cost; the method's ε comes on top of it.
    most_columns : how many columns a set has at most (default: 3).

    The whole table is looked at, not a sample, by the values that hierarchies declare: every published column needs
    one that does. What was not declared counts as missing. Every set has a quasi-identifier.
    """

    epsilon: Exact
    most_columns: int = 3

    def __post_init__(self) -> None:
        Budget(self.epsilon)
        require_whole("GroupColumns", "most_columns", self.most_columns, at_least=1)

    def refuse(self, schema: Schema) -> None:
        """Refuse what cannot be grouped, whatever the table holds."""
        if len(schema.sensitive) > len(schema.quasi) * (self.most_columns - 1):
            raise RecipeError(
                f"GroupColumns: {len(schema.quasi)} quasi-identifiers have no room for {len(schema.sensitive)} "
                f"sensitive columns in sets of {self.most_columns}.  Hint: raise most_columns."
            )

    def choose(self, table: Table, most_rows: int | None, rng: np.random.Generator) -> tuple[tuple[str, ...], ...]:
        """Return sets of columns; a person with `most_rows` rows pays ε for all of them."""
        table = table.as_stated()
        tally = count_people(table, "missing", most_rows, rng)
        names = table.schema.tallied
        hierarchies = {**table.schema.quasi, **table.schema.sensitive}
        trees = {name: public_tree(name, hierarchies[name]) for name in names}
        cells = [public_codes(name, tally.trees[name], trees[name])[tally.column(name)] for name in names]
        grouping = Grouping(
            names,
            [one.astype(np.int64) for one in cells],
            [trees[name].size for name in names],
            tally.counts,
            [name in table.schema.quasi for name in names],
        )
        row = Budget(self.epsilon) / (most_rows or 1)
        groups = grouping.choose(self.most_columns, budget=row, rng=rng, accountant=Accountant(limit=row))
        return tuple(tuple(names[place] for place in group) for group in groups)


def publish_separately(
    table: Table,
    columns: Iterable[Sequence[str]] | GroupColumns,
    *,
    method: SDGS,
    sample: float | Fraction,
    seed: int | None = None,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> SeparateReleases:
    """Publish sets of columns as tables of their own, each with its own sample and its own suppression.

    The method's `epsilon` and `scheme_epsilon` are what all tables cost together, and each gets an equal share. Where
    somebody has several rows, each table keeps `most_rows` of every person, chosen anew. Under a `ledger`, each table
    is an entry of its own; where the cap cannot pay for all of them, nothing is published. `columns` are sets of names,
    or `GroupColumns`, which chooses them.

    >>> import incrowd as ic
    >>> declared = {"age": ic.Intervals(widths=(20, 40)), "sex": ic.Categories.from_tree(["Female", "Male"])}
    >>> table = ic.read(
    ...     ic.datasets.census(5000), quasi=["age", "sex"], sensitive=["race"], others="drop", hierarchies=declared
    ... )
    >>> parts = publish_separately(
    ...     table, [["age", "race"], ["sex"]], method=SDGS(20, levels={"age": 1}, epsilon=2), sample=0.2
    ... )
    >>> parts.columns, str(parts.guarantee.model)
    ((('age', 'race'), ('sex',)), 'differential privacy (ε = 2, δ = 5.54e-10)')
    """
    if isinstance(columns, GroupColumns):
        return _grouped(table, columns, method=method, sample=sample, seed=seed, ledger=ledger, progress=progress)
    given = tuple(columns)
    if any(isinstance(names, str) for names in given):
        raise SchemaError('columns are published in sets of names, such as [["age", "sex"], ["zip"]].')
    sets = tuple(tuple(names) for names in given)
    if seed is not None:
        require_whole("publish_separately", "seed", seed, at_least=0)
    refuse_uncovered(method.guarantees, table.schema)
    refuse_unbounded_method(method, table.schema)
    schemas = [_part_of(table.schema, names) for names in sets]
    if not schemas:
        raise RecipeError("there is nothing to publish: name at least one set of columns.")
    unknown = sorted(set(method.levels) - {name for schema in schemas for name in schema.quasi})
    if unknown:
        raise SchemaError(f"'{unknown[0]}' has a level and is in no set of columns.")
    rate = as_rate(sample)
    methods = [_share(method, schema, len(schemas), rate) for schema in schemas]
    note = "" if seed is None else SEEDED
    together = _together([each.promise(rate) for each in methods], most_rows=method.most_rows, note=note)
    if ledger is not None:
        ledger.require_room([each.promise(rate).price for each in methods])
    made: list[Release | None] = []
    for place, (schema, each) in enumerate(zip(schemas, methods, strict=True)):
        progress("publishing sets of columns", place / len(sets))
        own_seed = None if seed is None else int(np.random.default_rng([seed, place]).integers(2**62))
        try:
            made.append(publish(replace(table, schema=schema), method=each, sample=rate, seed=own_seed, ledger=ledger))
        except Unsatisfiable:
            made.append(None)
    progress("publishing sets of columns", 1.0)
    if all(release is None for release in made):
        raise Unsatisfiable(
            "in no set of columns is a combination seen often enough to be published.  Hint: choose higher levels, a "
            "smaller k, or smaller sets."
        )
    return SeparateReleases(sets, tuple(_promising(release, together) for release in made), together.guarantee)


def _grouped(
    table: Table,
    grouping: GroupColumns,
    *,
    method: SDGS,
    sample: float | Fraction,
    seed: int | None,
    ledger: Ledger | None,
    progress: Progress,
) -> SeparateReleases:
    """Choose sets of columns, then publish these; the promise of every release is that of both."""
    if seed is not None:
        require_whole("publish_separately", "seed", seed, at_least=0)
    refuse_uncovered(method.guarantees, table.schema)
    refuse_unbounded_method(method, table.schema)
    grouping.refuse(table.schema)
    price = Budget(grouping.epsilon)
    if ledger is not None:  # what choices cost is taken before they are made
        ledger.answer({"answer": "which columns to publish together", "asked": sorted(table.schema.tallied)}, price)
    chosen = grouping.choose(table, method.most_rows, randomness(seed))
    made = publish_separately(table, chosen, method=method, sample=sample, seed=seed, ledger=ledger, progress=progress)
    promises = [release.promise for release in made.releases if release is not None]
    assert isinstance(promises[0], PrivacyPromise)
    note = "" if seed is None else SEEDED
    together = _with_choices(promises[0], price, method.most_rows, note)
    return SeparateReleases(chosen, tuple(_promising(one, together) for one in made.releases), together.guarantee)


def _with_choices(promise: PrivacyPromise, price: Budget, most_rows: int | None, note: str) -> PrivacyPromise:
    """Return a promise of tables together with that of the choice of their columns."""
    total = promise.price + price
    model = DifferentialPrivacy(str(total.epsilon), str(total.delta), most_rows)
    told = {**promise.told, "ε of the choice of columns": float(price.epsilon)}
    return PrivacyPromise(Guarantee(model, "by construction", float(total.epsilon), note=note), total, told)


def _part_of(schema: Schema, names: Sequence[str]) -> Schema:
    """Return the schema of some columns alone."""
    for name in names:
        if name not in schema.tallied:
            raise SchemaError(f"'{name}' is not a published column.{did_you_mean(name, schema.tallied)}")
    if len(set(names)) < len(names):
        raise SchemaError("a set of columns names each column once.")
    if not any(name in schema.quasi for name in names):
        raise SchemaError("every set of columns has a quasi-identifier.  Hint: give its columns that role.")
    return replace(
        schema,
        quasi={name: hierarchy for name, hierarchy in schema.quasi.items() if name in names},
        sensitive={name: hierarchy for name, hierarchy in schema.sensitive.items() if name in names},
        removed=(*schema.removed, *(name for name in schema.tallied if name not in names)),
        changes={name: changes for name, changes in schema.changes.items() if name in names},
        banded={name: hierarchy for name, hierarchy in schema.banded.items() if name in names},
    )


def _share(method: SDGS, schema: Schema, among: int, rate: Fraction) -> SDGS:
    """Return the method for one of several sets of columns."""

    def part(epsilon: Exact | None) -> str | None:
        return None if epsilon is None else str(as_epsilon(epsilon) / among)

    usual = max(Fraction(1, among), method.smallest_epsilon(rate)) if rate < 1 else None
    return replace(
        method,
        levels={name: level for name, level in method.levels.items() if name in schema.quasi},
        epsilon=part(method.epsilon) or (None if usual is None else str(usual)),
        scheme_epsilon=part(method.scheme_epsilon),
    )


def _together(promises: Sequence[PrivacyPromise], *, most_rows: int | None, note: str) -> PrivacyPromise:
    total = sum((promise.price for promise in promises), start=Budget.nothing())
    if total.delta >= 1:
        raise RecipeError("δ adds up to 1 or more: nothing would be promised.  Hint: raise k, or sample less.")
    model = DifferentialPrivacy(str(total.epsilon), str(total.delta), most_rows)
    told = {"tables published together": len(promises), "each": [dict(promise.told) for promise in promises]}
    return PrivacyPromise(Guarantee(model, "by construction", float(total.epsilon), note=note), total, told)


def _promising(release: Release | None, together: PrivacyPromise) -> Release | None:
    """Return a release whose promise is that of all of them: nobody gets only one."""
    if release is None:
        return None
    return replace(release, guarantees=(*release.guarantees[:-1], together.guarantee), promise=together)
