"""Linked tables: people, and what happened to them, in tables of their own that a key joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from incrowd.common.names import same_file, why_no_file
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role
from incrowd.core.engine import Engine
from incrowd.core.schema import Schema
from incrowd.engines.linked import EventTable, LinkedEngine
from incrowd.errors import SchemaError, escaped
from incrowd.publishing.table import Table

RESERVED = ("data", "people", "sensitive", "recipe", "summary")
"""Names that a table of events cannot have: files of a release are called so."""


@dataclass(frozen=True, eq=False)
class LinkedTables(Table):
    """A table of people, and tables of events; see `read_tables`."""

    @property
    def events(self) -> Mapping[str, EventTable]:
        """The tables of events, by name."""
        return _engine(self).events

    def __repr__(self) -> str:
        return f"LinkedTables(people={super().__repr__()}, events={list(_engine(self).events)})"


def read_tables(people: Table, **events: Table) -> LinkedTables:
    """Join a table of people with tables of what happened to them: visits, purchases, ratings.

    Parameters
    ----------
    people : one row for each person, as `read` opens it, with `person` naming the key.
    events : tables by name, each with the same key as `person`; their columns are sensitive, kept, dropped, or items.

    What an adversary may know of a person are quasi-identifiers of `people` and a few items of a table of events. All
    tables are published again, under keys that the release makes up: stable from one release to the next only if a
    pseudonym key is given to `publish`. What is kept of events is published as it is, outside of every guarantee.

    >>> import polars as pl
    >>> import incrowd as ic
    >>> patients = pl.DataFrame({"pid": [1, 2, 3, 4], "age": [30, 31, 50, 51]})
    >>> visits = pl.DataFrame({"pid": [1, 1, 2, 3, 4], "disease": ["flu", "cold", "flu", "cold", "gout"]})
    >>> tables = read_tables(
    ...     ic.read(patients, person="pid", quasi=["age"]), visits=ic.read(visits, person="pid", sensitive=["disease"])
    ... )
    >>> release = ic.publish(tables, [ic.KAnonymity(2)])
    >>> release.rows, release.tables["visits"].height
    (4, 5)
    """
    if not events:
        raise SchemaError("there is no table of events.  Hint: read_tables(people=…, visits=…).")
    schema = people.schema
    if not schema.person:
        raise SchemaError(
            f"the table of people does not say who is who.  Hint: read it with {as_role('person')}, its key."
        )
    _require_linking(people.engine)
    for table in (people, *events.values()):
        if table.schema.changes:
            raise SchemaError(
                f"column '{next(iter(table.schema.changes))}' is to be changed, and linked tables are published "
                "without changes.  Hint: change it before, or publish one table."
            )
    tables: dict[str, EventTable] = {}
    taken = set(schema.published) | set(schema.person)
    for name, table in events.items():
        for other in tables:
            if same_file(other) == same_file(name):
                raise SchemaError(
                    f"the tables '{other}' and '{name}' would be one file on some systems.  Hint: rename one."
                )
        tables[name] = _event_table(name, table, schema)
        if table.engine.name != people.engine.name:
            raise SchemaError(
                f"table '{name}' is on the engine {table.engine.name}, and the people are on {people.engine.name}.  "
                "Hint: read all tables in the same way."
            )
        twice = taken & {*table.schema.sensitive, *table.schema.items}
        if twice:
            raise SchemaError(f"column '{min(twice)}' is in two tables.  Hint: rename it in one of them.")
        taken |= {*table.schema.sensitive, *table.schema.items}
    if sum(len(table.schema.items) for table in tables.values()) + len(schema.items) > 1:
        raise SchemaError("one table has one column of items, since an adversary may know items of several together.")
    linked = replace(
        schema,
        pseudonyms=(*schema.person, *(name for name in schema.pseudonyms if name not in schema.person)),
        removed=tuple(name for name in schema.removed if name not in schema.person),
        events={name: hierarchy for table in tables.values() for name, hierarchy in table.schema.sensitive.items()},
        event_items={name: given for table in tables.values() for name, given in table.schema.items.items()},
    )
    return LinkedTables(LinkedEngine(people.engine, tables), linked, people.population)


def split_rows(table: Table, events: str = "events") -> LinkedTables:
    """Split a flat table, in which people have several rows, into people and their events.

    Columns that are the same in all rows of a person are the person's; all others are those of events. Quasi-
    identifiers are the person's, so a table in which one of them changes from row to row is refused.

    Parameters
    ----------
    table : as `read` opens it, with `person` telling whose a row is.
    events : what the table of events is called (default: "events").

    >>> import polars as pl
    >>> import incrowd as ic
    >>> visits = pl.DataFrame({"pid": [1, 1, 2], "age": [30, 30, 31], "disease": ["flu", "cold", "flu"]})
    >>> split_rows(ic.read(visits, person="pid", quasi=["age"], sensitive=["disease"]), "visits")
    LinkedTables(people=Table(person=['pid'], quasi=['age'], pseudonyms=['pid']), events=['visits'])
    """
    schema, engine = table.schema, table.engine
    if not schema.person:
        raise SchemaError(f"nothing tells whose a row is.  Hint: read the table with {as_role('person')}.")
    _require_linking(engine)
    used = (*schema.quasi, *schema.sensitive, *schema.items, *schema.kept, *schema.dates, *schema.weights)
    home = tuple(name for name in schema.household if name not in schema.person)
    changing = engine.changing((*used, *home), schema.person)
    for name in schema.weights:
        if name in changing:
            raise SchemaError(
                f"'{name}' changes from row to row of a person, and a person has one weight.  Hint: keep or drop it."
            )
    for name in home:
        if name in changing:
            raise SchemaError(
                f"'{name}' changes from row to row of a person, and a person is of one household.  Hint: drop it."
            )
    for name in (*schema.quasi, *(name for name in schema.pseudonyms if name not in schema.person)):
        if name in changing:
            raise SchemaError(
                f"'{name}' changes from row to row of a person, and quasi-identifiers are the person's.  Hint: make it "
                "an item, which an adversary may know a few of, or keep or drop it."
            )
    own = tuple(name for name in (*schema.person, *home, *used) if name not in changing)
    of_people = replace(
        schema,
        sensitive={name: given for name, given in schema.sensitive.items() if name not in changing},
        items={name: given for name, given in schema.items.items() if name not in changing},
        kept=tuple(name for name in schema.kept if name not in changing),
        dates={name: given for name, given in schema.dates.items() if name not in changing},
        removed=(*(name for name in schema.person if name not in schema.pseudonyms), *home),
        identifiers=(),
    )
    of_events = replace(
        schema,
        quasi={},
        sensitive={name: given for name, given in schema.sensitive.items() if name in changing},
        items={name: given for name, given in schema.items.items() if name in changing},
        kept=tuple(name for name in schema.kept if name in changing),
        dates={name: given for name, given in schema.dates.items() if name in changing},
        pseudonyms=(),
        weight=None,
        household=(),
        removed=schema.person,
        identifiers=(),
    )
    people = Table(engine.only(own, distinct=True), of_people, table.population)
    rows = Table(engine.only((*schema.person, *changing), distinct=False), of_events)
    linked = read_tables(people, **{events: rows})
    return replace(linked, engine=replace(_engine(linked), split=events))


def _event_table(name: str, table: Table, people: Schema) -> EventTable:
    schema = table.schema
    if same_file(name) in RESERVED:
        raise SchemaError(f"a table of events is not called '{name}', since a file of the release is.")
    if (why := why_no_file(name)) is not None:
        raise SchemaError(f"a table of events is not called '{escaped(name)}', since no file can be everywhere: {why}.")
    if schema.person != people.person:
        raise SchemaError(
            f"table '{name}' has the key {list(schema.person)}, and that of people is {list(people.person)}.  "
            f"Hint: read both with the same {as_role('person')}, renaming columns where they differ."
        )
    if schema.quasi:
        raise SchemaError(
            f"table '{name}' has quasi-identifiers.  Hint: what an adversary may know of events are items; quasi-"
            "identifiers are those of people."
        )
    if schema.weight is not None:
        raise SchemaError(
            f"table '{name}' has a weight, '{schema.weight}', and weights are those of people.  Hint: put it into the "
            "table of people, or keep or drop it."
        )
    if schema.items and (schema.sensitive or schema.kept or schema.dates):
        raise SchemaError(f"table '{name}' has items, and so no other column but its key.  Hint: drop the others.")
    _require_linking(table.engine)
    return EventTable(table.engine, schema)


def _require_linking(engine: Engine) -> None:
    if not engine.links_tables:
        raise SchemaError(f"the engine {engine.name} has no linked tables.  Hint: read them on one machine.")


def _engine(tables: LinkedTables) -> LinkedEngine:
    assert isinstance(tables.engine, LinkedEngine)
    return tables.engine
