"""A release of people with several rows as one of people, one line each: what an audit attacks.

An adversary looks for a person, and hides among people. So what is attacked has one line for each person: the labels of
the person's group, and the sensitive values of columns in which everybody has one. Columns of which somebody has
several values are left out: there is no *one* value to guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.core.people import People
from incrowd.core.schema import HOUSEHOLD
from incrowd.core.tally import Tally, group_tuples


def one_line_each(people: People, quasi: Sequence[str]) -> tuple[Tally, dict[str, Codes], Ints]:
    """Return the tally of people by quasi-identifiers and the sensitive columns in which everybody has one value.

    Return also these values, person by person, and everybody's place in the tally.
    """
    values = {name: _one_value(people, name) for name in people.sensitive if name != HOUSEHOLD}
    single = {name: codes for name, codes in values.items() if codes is not None}
    known = {name: people.tally.column(name)[people.tuple_of] for name in quasi}
    tally, tuple_of = _tally(people, {**known, **single})
    return tally, single, tuple_of


def _one_value(people: People, name: str) -> Codes | None:
    """Return everybody's one value in a column; None where somebody has several."""
    owner, codes = people.values_of(name, np.ones(len(people), dtype=bool))
    return codes if len(owner) == len(people) else None


def _tally(people: People, columns: dict[str, Codes]) -> tuple[Tally, Ints]:
    names = tuple(sorted(columns))
    codes = np.stack([columns[name] for name in names], axis=1).astype(np.int32)
    trees = {name: people.rows.trees[name] for name in names}
    index, first = group_tuples(codes, [trees[name].size for name in names])
    counts = np.bincount(index, minlength=len(first)).astype(np.int64)
    made = replace(
        people.rows, columns=names, codes=np.ascontiguousarray(codes[first]), counts=counts, trees=trees,
        population=people.tally.population,
    )  # fmt: skip
    return made, index
