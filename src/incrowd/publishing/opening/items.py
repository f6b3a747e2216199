"""Guarantees about sets of items, judged on the files of a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Ints
from incrowd.core.form import PublishedFiles
from incrowd.core.item_sets import ItemSets
from incrowd.core.items import read_lists
from incrowd.core.people import number_in_all, number_people
from incrowd.core.set_model import SetModel
from incrowd.core.source import OpenedTable
from incrowd.errors import IncrowdError, SchemaError
from incrowd.forms.people_crowds import number_rows
from incrowd.hierarchies.flat import Exact
from incrowd.publishing.items import sets_as_written, verify_items
from incrowd.publishing.opening.claims import Claim
from incrowd.publishing.opening.description import Description
from incrowd.sources import reading


def judge_claims_of_sets(
    models: Sequence[SetModel], files: PublishedFiles, described: Description
) -> tuple[Claim, ...]:
    """Judge what a release claims of its sets."""
    if not models:
        return ()
    sets = sets_in_files(files, described)
    if sets is None:
        reason = "there is no column of items"
        return tuple(Claim(model, "does not hold", reason=reason) for model in models)
    found = []
    for model in models:
        try:
            (guarantee,) = verify_items(sets, [model])
        except IncrowdError:
            found.append(Claim(model, "does not hold", reason="too few people show some of the items together"))
        else:
            found.append(Claim(model, "holds", guarantee))
    return tuple(found)


def sets_in_files(files: PublishedFiles, described: Description) -> ItemSets | None:
    """Return the sets that people show in a column of items, or in a table of events; None where there are none."""
    if described.items is not None and described.items in files.data.columns:
        return _sets_in(files, described.items, described.item_separator)
    if described.event_items is None or described.event_items[0] not in files.others:
        return None
    return _sets_of_events(files, *described.event_items, described.person_pseudonyms)


def _sets_of_events(files: PublishedFiles, table: str, column: str, person: tuple[str, ...]) -> ItemSets:
    """Return the sets of a linked table; people who show nothing are there without an item."""
    quasi, sensitive = tuple(files.schema.quasi), tuple(files.schema.sensitive)
    with reading(files.data):
        people = files.data.frame.select(cs.by_name(*quasi, *sensitive, *person)).collect(engine="streaming")
    events = files.others[table]
    with reading(events):
        rows = events.frame.select(cs.by_name(*person, column)).collect(engine="streaming")
    owner = number_in_all({"": people, table: rows}, person, files.data.texts)
    order = np.argsort(owner[""])
    labels = pl.DataFrame({"owner": owner[table], "label": rows[column].alias("")}).drop_nulls()
    lists = labels.group_by("owner").agg("label")
    every = pl.DataFrame({"owner": np.arange(people.height)}).join(lists, on="owner", how="left", maintain_order="left")
    parts = number_rows(people, quasi)[order] if quasi else None
    values = _values(people[sensitive[0]])[order] if len(sensitive) == 1 else None
    return sets_as_written(every["label"].fill_null([]), np.ones(people.height, dtype=np.int64), parts, values)


def _sets_in(files: PublishedFiles, column: str, separator: str | None) -> ItemSets:
    return sets_of_rows(files.data, tuple(files.schema.quasi), tuple(files.schema.sensitive), column, separator)


def sets_of_rows(
    table: OpenedTable,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    column: str,
    separator: str | None,
    person: Sequence[str] = (),
) -> ItemSets:
    """Return the sets of a table's rows, or of the people whose rows they are, in parts by what the rows show."""
    with reading(table):
        rows = table.frame.select(cs.by_name(*quasi, *sensitive, *person, column)).collect(engine="streaming")
    lists = read_lists(column, rows[column], separator)
    parts = number_rows(rows, quasi) if quasi else None
    values = _values(rows[sensitive[0]]) if len(sensitive) == 1 else None
    if person:
        owner = number_people(rows, person, table.texts)
        parts, values = (_one_each(owner, facts, names) for facts, names in ((parts, quasi), (values, sensitive)))
        held = pl.DataFrame({"owner": owner, "items": lists}).group_by("owner").agg(pl.col("items").list.explode())
        lists = held.sort("owner")["items"].list.drop_nulls()
    return sets_as_written(lists, np.ones(len(lists), dtype=np.int64), parts, values)


def _one_each(owner: Ints, facts: NDArray[Any] | None, columns: Sequence[str]) -> NDArray[Any] | None:
    """Return what is the same in all rows of each person; where it is not, refuse."""
    if facts is None:
        return None
    found = np.empty(int(owner.max(initial=-1)) + 1, dtype=facts.dtype)
    found[owner] = facts
    if (found[owner] != facts).any():
        raise SchemaError(
            f"rows of one person differ in {', '.join(columns)}, and sets of items are judged person by person.  Hint: "
            "name only columns that are the person's own."
        )
    return found


def _values(shown: pl.Series) -> Codes:
    """Number the sensitive values that rows show; the missing one is 0, as everywhere."""
    return Exact().build(shown.name, shown.alias(""))[1]
