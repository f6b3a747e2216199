"""Dates of rows that were found again: whose each row is, and what becomes of its dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from incrowd.common.arrays import Ints
from incrowd.core.people import name_people
from incrowd.core.pseudonyms import PseudonymKey, identifier_text
from incrowd.core.schema import Schema
from incrowd.dates.column import DateColumn
from incrowd.dates.treatment import Whose
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
