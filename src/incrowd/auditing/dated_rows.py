"""Rows of a release with their dates, and people of whom an adversary knows one true date.

Cost: both tables are read once, and one number a row is held of each column that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Codes, Ints
from incrowd.core.dated import DatedRows, DateFacts
from incrowd.core.labelled import Labelled
from incrowd.core.people import number_people
from incrowd.core.source import OpenedTable
from incrowd.core.target import MOST_PEOPLE
from incrowd.dates.column import DateColumn
from incrowd.hierarchies.coding import code_values
from incrowd.sources import reading


def dated_rows(
    facts: DateFacts,
    before: OpenedTable | None,
    published: Iterable[pl.DataFrame],
    form: Labelled,
    *,
    seed: int,
    most_people: int = MOST_PEOPLE,
) -> tuple[DatedRows, ...]:
    """Return each column of dates whose true dates the table before has; nothing where it does not tell who is who."""
    quasi = form.shown.columns
    if before is None or not {*facts.person, *quasi} <= set(before.columns):
        return ()
    columns = [name for name in sorted(facts.treatments) if name in before.columns]
    wanted = cs.by_name(*quasi, *facts.linked_by, *columns)
    rows = pl.concat([batch.select(wanted) for batch in published])
    groups, histories = groups_by_labels(rows, form), histories_of(rows, facts.linked_by)
    if groups is None:
        return ()
    with reading(before):
        true = before.frame.select(cs.by_name(*{*facts.person, *quasi, *columns})).collect(engine="streaming")
    person_of = number_people(true, facts.person, before.texts) if facts.person else np.arange(true.height)
    codes = np.stack([code_values(form.tally.trees[name], before.texts.read(true[name])) for name in quasi], axis=1)
    return tuple(
        _of_column(name, facts, rows[name], groups, histories, true[name], person_of, codes, before, seed, most_people)
        for name in columns
    )


def _of_column(
    name: str,
    facts: DateFacts,
    shown: pl.Series,
    groups: Ints,
    histories: Ints,
    true: pl.Series,
    person_of: Ints,
    codes: Codes,
    before: OpenedTable,
    seed: int,
    most_people: int,
) -> DatedRows:
    treatment, linked = facts.treatments[name], bool(facts.linked_by)
    dates, clocks = treatment.published(shown)
    known = DateColumn.read(name, true, before.texts)
    chosen = _one_event_each(known, person_of, codes, np.random.default_rng([seed, 40_000]), most_people)
    some, has_date = shown.is_not_null().to_numpy(), known.values.is_not_null().to_numpy()
    units = len(np.unique(person_of[has_date])) if linked else int(has_date.sum())
    published = len(np.unique(histories[some]))
    return DatedRows(
        column=name,
        linked=linked,
        keeps_intervals=treatment.keeps_intervals and linked,
        groups=groups,
        histories=histories,
        dates=dates,
        clocks=clocks,
        values=shown.cast(pl.String),
        tuples=np.ascontiguousarray(codes[chosen]),
        window=treatment.possible(DateColumn(name, known.values.gather(chosen))),
        known_share=published / max(units, 1),
        units=units,
    )


def groups_by_labels(rows: pl.DataFrame, form: Labelled) -> Ints | None:
    """Return the group of each row, by its labels; None where the form writes them otherwise."""
    names = form.shown.columns
    labels = pl.DataFrame([form.shown.labels[name].alias(name) for name in names]).with_row_index("\0group")
    found = rows.select(cs.by_name(*names).cast(pl.String)).join(
        labels, on=cs.by_name(*names), how="left", nulls_equal=True, maintain_order="left"
    )["\0group"]
    return None if found.null_count() else found.to_numpy().astype(np.int64)


def histories_of(rows: pl.DataFrame, linked_by: Sequence[str]) -> Ints:
    """Number the histories that rows are of; a row of its own is one, unless pseudonyms link it to others."""
    if not linked_by:
        return np.arange(rows.height)
    keys = rows.select(cs.by_name(*linked_by).name.prefix("by "))
    numbered = keys.unique().with_row_index("number")
    found = keys.join(numbered, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")
    return found["number"].to_numpy().astype(np.int64)


def _one_event_each(
    dates: DateColumn, person_of: Ints, codes: Codes, rng: np.random.Generator, most_people: int
) -> Ints:
    """Draw an event with a date of each person, and people if there are too many; the order of rows is of no matter."""
    rows = np.flatnonzero(dates.values.is_not_null().to_numpy())
    moments = (dates.days.dt.to_string("%Y-%m-%d") + dates.clock).rank("dense").fill_null(0).to_numpy()
    rows = rows[np.lexsort((moments[rows], *codes[rows].T, person_of[rows]))]
    rows = rows[rng.permutation(len(rows))]
    _, first = np.unique(person_of[rows], return_index=True)
    if len(first) > most_people:
        first = rng.choice(first, size=most_people, replace=False, shuffle=False)
    return np.asarray(rows[first])
