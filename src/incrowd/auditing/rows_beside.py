"""Rows of people who have several, with what is kept of them beside the labels.

Cost: both tables are read once, and one number a row is held of each column that is looked at.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.auditing.dated_rows import groups_by_labels, histories_of
from incrowd.auditing.whole_release import code_alike
from incrowd.common.arrays import Codes, Ints
from incrowd.core.dated import DateFacts
from incrowd.core.labelled import Labelled
from incrowd.core.people import number_in_all
from incrowd.core.rows_beside import KeptRows, KeptTable
from incrowd.core.source import OpenedTable
from incrowd.core.tally import group_tuples
from incrowd.core.target import MOST_PEOPLE
from incrowd.hierarchies.coding import code_values
from incrowd.sources import reading

_GROUP = "\0group"


def kept_rows(
    whose: DateFacts,
    tables: list[KeptTable],
    people_before: OpenedTable | None,
    form: Labelled,
    *,
    seed: int,
    most_people: int = MOST_PEOPLE,
) -> tuple[KeptRows, ...]:
    """Return each table whose kept columns the table before has; nothing where that does not tell who is who.

    `people_before` holds the quasi-identifiers: the first of the `tables` are the published people.
    """
    quasi = form.shown.columns
    if not tables or people_before is None or not whose.person:
        return ()
    if not {*whose.person, *quasi} <= set(people_before.columns):
        return ()
    people = tables[0]
    with reading(people_before):
        wanted = cs.by_name(*dict.fromkeys((*whose.person, *quasi, *_known(people, people_before))))
        before = people_before.frame.select(wanted).collect(engine="streaming")
    codes = np.stack(
        [code_values(form.tally.trees[name], people_before.texts.read(before[name])) for name in quasi], axis=1
    )
    named = (*quasi, *whose.linked_by, *_known(people, people_before))
    rows = pl.concat([batch.select(cs.by_name(*dict.fromkeys(named))) for batch in people.published()])
    groups = groups_by_labels(rows, form)
    if groups is None:
        return ()
    found = []
    if columns := _known(people, people_before):
        owner = number_in_all({"": before}, whose.person, people_before.texts)[""]
        made = _kept(columns, "", whose, rows, groups, before, owner, codes, seed, most_people)
        found.append(made)
    for table in tables[1:]:
        source = table.before
        columns = () if source is None else _known(table, source)
        if source is None or not columns or not whose.linked_by or not set(whose.person) <= set(source.columns):
            continue
        with reading(source):
            true = source.frame.select(cs.by_name(*whose.person, *columns)).collect(engine="streaming")
        owners = number_in_all({"": before, "events": true}, whose.person, people_before.texts)
        first = np.zeros(int(max(owners[""].max(initial=0), owners["events"].max(initial=0))) + 1, dtype=np.int64)
        first[owners[""]] = np.arange(before.height)
        events = pl.concat([batch.select(cs.by_name(*whose.linked_by, *columns)) for batch in table.published()])
        keys = rows.select(cs.by_name(*whose.linked_by)).with_columns(pl.Series(_GROUP, groups)).unique()
        at = events.join(keys, on=list(whose.linked_by), how="left", nulls_equal=True, maintain_order="left")[_GROUP]
        if at.null_count() or not events.height:
            continue
        tuples = codes[first[owners["events"]]]
        group_of = at.to_numpy().astype(np.int64)
        found.append(
            _kept(columns, table.events, whose, events, group_of, true, owners["events"], tuples, seed, most_people)
        )
    return tuple(found)


def _known(table: KeptTable, before: OpenedTable) -> tuple[str, ...]:
    return tuple(sorted(name for name in table.columns if name in before.columns))


def _kept(
    columns: tuple[str, ...],
    events: str,
    whose: DateFacts,
    rows: pl.DataFrame,
    groups: Ints,
    before: pl.DataFrame,
    owner: Ints,
    codes: Codes,
    seed: int,
    most_people: int,
) -> KeptRows:
    coded = [code_alike([rows, before], name) for name in columns]
    both = np.stack([np.concatenate([part for part in parts if part is not None]) for _, parts in coded], axis=1)
    numbers, _ = group_tuples(both, [tree.size for tree, _ in coded])
    shown, known = numbers[: rows.height], numbers[rows.height :]
    # Sorted, so that the order of rows makes no difference to who is drawn.
    pairs, first, times = np.unique(np.stack([owner, known], axis=1), axis=0, return_index=True, return_counts=True)
    people = np.unique(owner)
    if len(people) > most_people:
        rng = np.random.default_rng([seed, 60_000])
        people = rng.choice(people, size=most_people, replace=False, shuffle=False)
    tried = np.isin(pairs[:, 0], people)
    return KeptRows(
        columns=columns,
        events=events,
        linked=bool(whose.linked_by),
        groups=groups,
        histories=histories_of(rows, whose.linked_by),
        shown=shown,
        owner=pairs[tried, 0],
        known=pairs[tried, 1],
        times=times[tried].astype(np.int64),
        tuples=np.ascontiguousarray(codes[first[tried]]),
        everybody=len(np.unique(owner)),
        rows=len(owner),
    )
