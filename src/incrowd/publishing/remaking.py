"""A release made again with other options, or looked at without some of its columns: so audits measure what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from incrowd.common.records import dataclass
from incrowd.core.engine import PublishedRows
from incrowd.core.form import PublishedFiles
from incrowd.core.method import AnyMethod
from incrowd.core.model import Model
from incrowd.core.schema import Schema
from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.engines.local import LocalEngine
from incrowd.publishing.table import Table
from incrowd.sources import open_table

if TYPE_CHECKING:
    from incrowd.publishing.release import Release


def why_not_remade(release: Release) -> str | None:
    """Return why a release cannot be made again of its table; None if it can."""
    if not release.method.listed:
        return (
            "how it was made is not known, so that options such as a larger k cannot be tried.  Hint: audit a release "
            "that carries its recipe."
        )
    if release.hides_rows:
        return "releases under differential privacy are not made again.  Hint: compare budgets with incrowd compare."
    if release.changes.by_chance:
        return "releases whose values chance changed are not made again.  Hint: compare options with incrowd compare."
    if not _each_row_a_person(release):
        return (
            "tables in which people have several rows, households, sets of items or a population are not made again.  "
            "Hint: compare options with incrowd compare."
        )
    return None


def made_again(
    release: Release,
    before: OpenedTable,
    *,
    models: Sequence[Model],
    method: AnyMethod,
    kept: Sequence[str],
    seed: int,
) -> Release:
    """Publish a table as a release of it was, with other models, another method or fewer kept columns."""
    from incrowd.publishing.publish import publish

    own = release.schema
    schema = Schema(own.quasi, own.sensitive, kept=tuple(kept), weight=own.weight, each_row_a_person=True)
    table = Table(LocalEngine(before), schema)
    effort = release.effort if method.moves is not None else 0
    form, rate = release.asked_form, release.rate
    return publish(table, models, method=method, form=form, sample=rate, seed=seed, effort=effort)


def without(release: Release, columns: Sequence[str], smaller_than: int = 0) -> Release | None:
    """Return a release as if some columns, or rows of small groups, were not published; None where its form or its
    people do not allow it.
    """
    quasi = [name for name in columns if name in release.schema.quasi]
    aside = replace(release, left_aside=(*release.left_aside, *columns), passed=[])
    if not quasi and not smaller_than:
        return aside
    form, own = release.form, release.schema
    if form.labelled is None or form.private or not _each_row_a_person(release) or len(quasi) == len(own.quasi):
        return None
    if own.weights:  # which go with the groups as they are
        return None
    schema = replace(own, quasi={name: hierarchy for name, hierarchy in own.quasi.items() if name not in quasi})
    kept = [*schema.published, *(name for name in aside.kept_beside if name not in schema.published)]
    rows = pl.concat([batch.select(cs.by_name(*kept)) for batch in release.batches()])
    if smaller_than:
        rows = rows.filter(pl.len().over(list(schema.quasi)) >= smaller_than)
    files = PublishedFiles(
        data=replace(open_table(rows, ReadOptions(lists=None)), texts=release.source.texts),
        others={},
        schema=schema,
        described=frozenset(kept),
        summary={},
        known=release.table_before,
    )
    shown, _ = type(form).read_back(files)
    return replace(aside, shown=shown, published=FrameRows(rows), claims=(), guarantees=(), passed=[])


@dataclass(frozen=True, eq=False)
class FrameRows(PublishedRows):
    """Rows in memory."""

    frame_of_rows: pl.DataFrame

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield them at once."""
        yield self.frame_of_rows


def _each_row_a_person(release: Release) -> bool:
    several = release.people is not None or release.counts_people or release.households.household
    return not (several or release.item_sets or release.linked or release.population)
