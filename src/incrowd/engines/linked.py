"""Linked tables as one home of rows: a table of people, and tables of what happened to them, joined by a key.

People are counted with the values of their events, as sets; each table is written by itself, under keys of the
release's own. Cost: one pass over each table to count it, and one to write it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import polars as pl
import polars.selectors as cs

from incrowd.common.arrays import Codes, Counts, Ints
from incrowd.common.records import dataclass
from incrowd.core.dated import keyed_people
from incrowd.core.engine import Counted, Engine, LinkedRows, LinkedTask, OwnedTuples, PublishedRows
from incrowd.core.form import Form
from incrowd.core.items import ItemsOfPeople, code_items
from incrowd.core.people import (
    People,
    PlacedPeople,
    count_people,
    households_of_people,
    names_as_read,
    number_households,
    number_in_all,
    with_households,
    with_nobody_left_out,
    with_values,
)
from incrowd.core.pseudonyms import PseudonymKey
from incrowd.core.recoding import WITHHELD, Recoding
from incrowd.core.schema import Schema
from incrowd.core.source import Origin, ReadOptions
from incrowd.core.tally import code_column, code_table
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import EmptyTable, SchemaError, SourceError
from incrowd.hierarchies.tree import Tree


@dataclass(frozen=True, eq=False)
class EventTable:
    """What happened to people, one row each time: who it was, sensitive values, items, and columns that are kept."""

    engine: Engine
    schema: Schema

    @property
    def source(self) -> Origin:
        """Where it comes from."""
        return self.engine.source


@dataclass(frozen=True, eq=False)
class LinkedEngine(Engine):
    """A table of people, and tables of events."""

    people: Engine
    events: Mapping[str, EventTable]
    split: str | None = None
    """What the events are called, where one flat table was split into people and events."""
    name: ClassVar[str] = "linked"
    listed: ClassVar[bool] = False
    treats_dates: ClassVar[bool] = True
    carries_weights: ClassVar[bool] = True

    @property
    def source(self) -> Origin:  # type: ignore[override]
        """Where the people come from."""
        return self.people.source

    @classmethod
    def takes(cls, given: object) -> bool:
        """Take nothing: linked tables are put together by `read_tables`."""
        return False

    @classmethod
    def open(cls, given: Any, options: ReadOptions) -> LinkedEngine:
        """Refuse: linked tables are put together by `read_tables`."""
        raise SourceError("linked tables are opened by read_tables.")

    def distinct(self, columns: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
        """Count distinct tuples of people."""
        return self.people.distinct(columns)

    def repeated(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Look at the people alone."""
        return self.people.repeated(columns)

    def count(
        self, schema: Schema, population: Engine | None = None, *, values: bool = True, by_name: bool = False
    ) -> Counted:
        """Count people with the values of their events, as sets."""
        raw, counts = self.people.distinct(schema.found_again_by)
        if raw.height == 0:
            raise EmptyTable("the table of people has columns but no rows.")
        tally, tuple_of = code_table(raw, counts, {**schema.quasi, **schema.sensitive}, texts=self.source.texts)
        found = {name: self._owned(table, schema.person) for name, table in self.events.items()}
        person_of = number_in_all({"people": raw, **found}, schema.person, self.source.texts)
        whose = person_of.pop("people")
        number = raw.height
        if tally.rows > number or len(np.unique(whose)) < number:
            raise SchemaError(
                f"a person has one row in the table of people, and {schema.person[0]!r} repeats there.  "
                "Hint: leave one row for each person, or read the rows as events."
            )
        _refuse_strangers(person_of)
        people, places = count_people(tally, whose, tuple_of, counts, tuple(schema.sensitive), values=values)
        people, items = self._with_events(people, found, person_of, values=values)
        if schema.household:
            households = number_households(raw, schema.household, self.source.texts)
            people = with_households(people, households_of_people(whose, households), values=values)
        names = None
        if by_name:
            names = pl.DataFrame([names_as_read(raw[name], self.source.texts).alias(name) for name in schema.person])
            names = names[np.argsort(whose)]
        counted = Counted(tally, raw, places, people, items, names)
        if schema.weight is None:
            return counted
        return self._weighed(counted, schema, schema.weight, OwnedTuples(raw, counts, raw, tuple_of, counts))

    def _owned(self, table: EventTable, person: tuple[str, ...]) -> pl.DataFrame:
        """Return who has which sensitive values and items in a table of events, each combination once."""
        columns = (*person, *table.schema.sensitive, *table.schema.items)
        return table.engine.distinct(columns)[0]

    def _with_events(
        self, people: People, found: Mapping[str, pl.DataFrame], person_of: Mapping[str, Ints], *, values: bool
    ) -> tuple[People, ItemsOfPeople | None]:
        number, trees = len(people), dict[str, Tree]()
        events: dict[str, tuple[Ints, Codes]] = {}
        items = None
        for table_name, table in self.events.items():
            rows, owner = found[table_name], person_of[table_name]
            for name, hierarchy in table.schema.sensitive.items():
                trees[name], codes = code_column(name, rows[name].alias(""), hierarchy, table.source.texts)
                events[name] = with_nobody_left_out(owner, codes, number, trees[name].size)
            for name, given in table.schema.items.items():
                lists = pl.DataFrame({"item": rows[name].cast(pl.String)}).select(pl.concat_list("item")).to_series()
                items = code_items(name, lists, owner, given, table.source.texts)
        return with_values(people, events, trees, values=values), items

    def rows_of(self, form: Form) -> PublishedRows:
        """Make the people's rows from the form's counts."""
        return self.people.rows_of(form)

    def joined(
        self, counted: Counted, recoding: Recoding, form: Form, key: PseudonymKey | None, *, shuffle: int | None
    ) -> PublishedRows:
        """Find the people's rows again in their table."""
        return self.people.joined(counted, recoding, form, key, shuffle=shuffle)

    def require_dates(self, dates: Mapping[str, DateTreatment]) -> None:
        """Look at the dates of people, and at those of each table of events."""
        self.people.require_dates(dates)
        for table in self.events.values():
            table.engine.require_dates(table.schema.dates)

    def linked(
        self, counted: Counted, placed: PlacedPeople, schema: Schema, key: PseudonymKey, items: PublishedItems | None
    ) -> dict[str, LinkedRows]:
        """Return the rows of published people in each table of events, under the keys that people have."""
        names = _names_of_people(counted, schema.person)
        published = placed.group_of != WITHHELD
        # As the table of people is written: somebody whose key is spelt in two ways has one.
        read = {name: names_as_read(names[name].alias(""), self.source.texts) for name in schema.person}
        codes = {name: key.pseudonyms(texts) for name, texts in read.items()}
        tables = {}
        for name, table in self.events.items():
            if table.schema.items:
                assert items is not None
                owner, shown = _lists_of_people(table, items)
                told = pl.DataFrame([*(codes[one].gather(owner).alias(one) for one in schema.person), shown])
                rows = table.engine.held(told.filter(pl.Series(published[owner])))
            else:
                keyed = keyed_people(names, schema, self.source.texts, key) if table.schema.dates else None
                task = LinkedTask(table.schema, schema.person, names, self.source.texts, codes, published, keyed)
                rows = table.engine.linked_rows(task)
            assert rows is not None  # engines that link no tables are refused when tables are put together
            tables[name] = rows
        return tables


@dataclass(frozen=True, eq=False)
class PublishedItems:
    """The lists that people show: person p that at the place `list_of[p]`."""

    list_of: Ints
    lists: pl.Series = field(repr=False)


def _lists_of_people(table: EventTable, items: PublishedItems) -> tuple[Ints, pl.Series]:
    """Return whose each item is that a published person shows, and the items."""
    (column,) = table.schema.items
    there = np.flatnonzero(items.list_of >= 0)
    lists = items.lists.gather(items.list_of[there])
    lengths = lists.list.len().to_numpy()
    shown = lists.filter(pl.Series(lengths > 0)).explode().alias(column)
    return np.repeat(there, lengths), shown


def _names_of_people(counted: Counted, person: Sequence[str]) -> pl.DataFrame:
    """Return the key of each person, in the order of their numbers."""
    assert counted.people is not None
    order = np.empty(len(counted.people), dtype=np.int64)
    order[counted.people.owner[counted.tuple_of]] = np.arange(len(counted.tuple_of))
    return counted.raw.select(cs.by_name(*person))[order]


def _refuse_strangers(person_of: Mapping[str, Ints]) -> None:
    for name, owner in person_of.items():
        if (owner < 0).any():
            raise SchemaError(
                f"table '{name}' has rows of people who are not in the table of people.  "
                "Hint: add them, or leave their rows out."
            )
