"""Guarantees about people, judged on the files of a release in which somebody has several rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import polars.selectors as cs

from incrowd.core.form import PublishedFiles
from incrowd.core.groups import Groups
from incrowd.core.people import number_in_all
from incrowd.core.source import OpenedTable
from incrowd.core.tally import Tally
from incrowd.forms.people_crowds import crowds_of_people
from incrowd.forms.reading.labels import labels_as_text
from incrowd.forms.reading.stand_ins import shown_columns, with_labels
from incrowd.forms.verify import COUNT, read_regions
from incrowd.sources import reading


def tells_of_people(summary: Mapping[str, Any]) -> bool:
    """Whether a release says that some people have several rows."""
    return "people" in summary


def crowds_in_files(
    files: PublishedFiles,
    person: tuple[str, ...],
    before: Tally | None,
    events: Mapping[str, tuple[str, ...]],
    also: tuple[str, ...] = (),
) -> Groups | None:
    """Return the crowds that hide people, as the files show them; None where these do not tell who is who.

    `before` counts the people of the table before, if that is known; `events` are the sensitive columns of linked
    tables, by the names of these. Columns that are named in `also` tell people apart like labels.
    """
    if not person or not set(person) <= set(files.data.columns):
        return None
    schema = files.schema
    columns = cs.by_name(*schema.written_quasi, *schema.sensitive, *also, *person)
    with reading(files.data):
        counted = files.data.frame.group_by(columns).agg(pl.len().alias(COUNT)).collect(engine="streaming")
    counted = with_labels(labels_as_text(counted, schema), schema, files.meanings)
    quasi, sensitive = tuple(schema.quasi), tuple(schema.sensitive)
    regions = None if before is None else read_regions(counted, quasi, before)
    linked = {name: _distinct(files.others[name], (*person, *columns)) for name, columns in events.items()}
    person_of = number_in_all({"": counted, **linked}, person, files.data.texts)
    values = {
        column: (person_of[name], linked[name][column].alias(""))
        for name, columns in events.items()
        for column in columns
    }
    return crowds_of_people(
        counted,
        (*quasi, *shown_columns(schema), *also),
        sensitive,
        person_of[""],
        before=before,
        stands_for=regions,
        events=values,
    )


def _distinct(table: OpenedTable, columns: tuple[str, ...]) -> pl.DataFrame:
    with reading(table):
        return table.frame.select(cs.by_name(*columns)).unique().collect(engine="streaming")
