"""Dates of rows that were found again: whose each row is, and what becomes of its dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

import polars as pl

from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass
from incrowd.core.people import name_people
from incrowd.core.pseudonyms import PseudonymKey, identifier_text
from incrowd.core.schema import Schema
from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import DateTreatment, Whose, Window
from incrowd.hierarchies.texts import TextRules


@dataclass(frozen=True, eq=False)
class KeyedPeople:
    """People, what their names are as bytes, and what was drawn for each of them under a key."""

    person_of: Ints
    names: list[bytes] = field(repr=False)
    key: PseudonymKey
    _drawn: dict[tuple[int, str], Ints] = field(default_factory=dict, init=False, repr=False)

    def draw(self, below: int, purpose: str) -> Ints:
        """Return a secret number of each person, the same whenever it is asked for."""
        if (below, purpose) not in self._drawn:
            self._drawn[below, purpose] = self.key.draws(self.names, below, purpose)
        return self._drawn[below, purpose]


def keyed_people(raw: pl.DataFrame, schema: Schema, texts: TextRules, key: PseudonymKey) -> KeyedPeople:
    """Number the people that the rows of `raw` name; the order in which columns are named makes no difference."""
    person_of, names = name_people(raw, sorted(schema.person), texts)
    columns = [identifier_text(column).to_list() for column in names.get_columns()]
    return KeyedPeople(person_of, [b"".join(map(_delimited, name)) for name in zip(*columns, strict=True)], key)


def _delimited(name: str) -> bytes:
    """Return a name with its length before it, so that two names are never taken for two others."""
    encoded = name.encode()
    return len(encoded).to_bytes(4) + encoded


def treated(
    column: Callable[[str], pl.Series], schema: Schema, texts: TextRules, whose: Whose | None
) -> Mapping[str, pl.Series]:
    """Return what is published of each column of dates; `column` returns one of the rows' columns by its name."""
    names = {*schema.dates, *(other for treatment in schema.dates.values() for other in treatment.looks_at)}
    dates = {name: DateColumn.read(name, column(name), texts) for name in sorted(names)}
    return {name: treatment.treat(dates[name], dates, whose) for name, treatment in schema.dates.items()}


def reaches(dates: Mapping[str, DateTreatment]) -> dict[str, int]:
    """Return, for each column that a treatment reads, by how many days its dates may be moved, sorted by name."""
    found = {other: 0 for treatment in dates.values() for other in treatment.looks_at}
    found |= {name: treatment.reach for name, treatment in dates.items()}
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class DateFacts:
    """What is known of a release's dates: what became of each column, and what tells whose a row is.

    `person` are columns of the table before; `linked_by` are those of the release by which rows of one person are
    known to be one person's, if there are any.
    """

    treatments: Mapping[str, DateTreatment] = field(default_factory=dict)
    person: tuple[str, ...] = ()
    linked_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema) -> DateFacts:
        """Return those of a release that is made with a schema."""
        linked = set(schema.person) <= set(schema.pseudonyms)
        return cls(schema.dates, schema.person, schema.person if linked else ())


@dataclass(frozen=True, eq=False)
class DatedRows:
    """A column of dates in a release, row by row, and people of whom an adversary knows one true date.

    Published row i is in group `groups[i]` and of history `histories[i]`; `dates` are texts that sort as the calendar
    does, missing where a row has no date, `clocks` times of day, and `values` what is published. Person j has the codes
    `tuples[j]` in the columns that may be known, and the true date may be published as anything in `window`.
    """

    column: str
    linked: bool
    """Whether rows of one person are known to be one person's: otherwise each row is a history of its own."""
    keeps_intervals: bool
    groups: Ints
    histories: Ints
    dates: pl.Series
    clocks: pl.Series
    values: pl.Series
    tuples: Codes
    window: Window
    known_share: float
    """How many histories with a date are published, for each one that the table has."""
    units: int
    """How many histories with a date the table has."""
