"""A release whose values chance changed, read beside what people truly have: so attacks are right or wrong about
people, and usefulness is measured against the table.

It is read as its readers read it, from its published rows. True values are those of the table in the words of the
release: changed as far as that takes no chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar

import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.core.changed import ChangeFacts
from incrowd.core.engine import Counted
from incrowd.core.form import PublishedFiles
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.engines.local import LocalEngine
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.tree import Tree
from incrowd.hierarchies.values import as_text, natural_kind
from incrowd.publishing.recipe_format import roles_in
from incrowd.sources import open_table, reading

if TYPE_CHECKING:
    from incrowd.publishing.release import Release


@dataclass(frozen=True)
class AlsoHolding(Hierarchy):
    """A hierarchy of a column that holds other values besides: those that chance made of its own."""

    hierarchy: Hierarchy
    values: pl.Series = field(repr=False)
    name: ClassVar[str] = "also holding"
    listed: ClassVar[bool] = False

    def build(self, column: str, values: pl.Series) -> tuple[Tree, Codes]:
        """Return a tree over all of these values, and the codes of those that were given."""
        others = self.values.alias("")
        if others.dtype != values.dtype and pl.String in (others.dtype, values.dtype):
            others, values = as_text(others), as_text(values)
        both = pl.concat([values.alias("").to_frame(), others.to_frame()], how="vertical_relaxed").to_series()
        if both.dtype == pl.String and (natural := natural_kind(both)).dtype.is_numeric():
            both = natural  # numbers of a text file have an order: with noise, being near is being right
        tree, codes = self.hierarchy.build(column, both)
        return tree, codes[: len(values)]


def count_truth(before: OpenedTable, schema: Schema, facts: ChangeFacts, published: OpenedTable) -> Counted:
    """Count a table in trees that also hold what is published of columns which chance changed."""
    held = {}
    for name in facts.by_chance:
        if name in schema.sensitive and name in published.columns:
            with reading(published):
                found = published.frame.select(cs.by_name(name)).unique().collect(engine="streaming")
            held[name] = AlsoHolding(schema.sensitive[name], published.texts.read(found[name].alias("")))
    return LocalEngine(before).count(replace(schema, sensitive={**schema.sensitive, **held}))


def beside_truth(release: Release, several_rows: str) -> Release:
    """Return a release of this session as it reads beside what people truly have; itself where that is not known."""
    before, own, form = release.rows_before, release.schema, release.form
    if before is None:
        return release
    schema = Schema(own.quasi, own.sensitive, person=own.person, weight=own.weight, show=own.show)
    rows = pl.concat(list(release.batches()))
    data = _opened(rows, release)
    counted = count_truth(before, schema, release.changes, data)
    several = counted.people is not None
    files = PublishedFiles(
        data=data,
        others={name: _opened(frame, release) for name, frame in release.tables_of_form.items()},
        schema=own,
        described=frozenset(roles_in(own)),
        summary=release.summary,
        asked=_asked(release),
        known=counted.tally,
        rows_in=release.rows_in if release.people is None else counted.tally.rows,
        meanings=release.label_meanings if own.show else None,
    )
    shown, _ = type(form).read_back(files)
    return replace(
        release,
        shown=shown,
        of_people=None,
        told_totals=None if counted.weighted is None else counted.weighted.totals(counted.tally),
        notes=(*release.notes, *((several_rows,) if several else ())),
        truth_known=True,
    )


def _opened(rows: pl.DataFrame, release: Release) -> OpenedTable:
    return replace(open_table(rows, ReadOptions(lists=None)), texts=release.source.texts)


def _asked(release: Release) -> Mapping[str, object]:
    """Return the parameters of the method, and of the form that was asked for."""
    made = (release.method, release.asked_form)
    return {key: value for part in made if part is not None for key, value in vars(part).items()}
