"""A release of people with several rows as one of people, one line each: what an audit attacks.

An adversary looks for a person, and hides among people. So what is attacked has one line for each person: the labels of
the person's group, and the sensitive values of columns in which everybody has one. Columns of which somebody has
several values are left out: there is no *one* value to guess.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.common.arrays import Codes
from incrowd.core.groups import WITHHELD
from incrowd.core.people import People, PlacedPeople
from incrowd.core.tally import Tally, group_tuples
from incrowd.forms.generalized import Generalized


def form_of_people(form: Generalized, placed: PlacedPeople, *, people_in: int) -> tuple[Generalized, tuple[str, ...]]:
    """Return what is published as one line for each person, and the sensitive columns that are left out."""
    people, seen = placed.people, form.seen(placed)
    values = {name: _one_value(people, name) for name in people.sensitive}
    single = {name: codes for name, codes in values.items() if codes is not None}
    hierarchies = form.schema.searched.sensitive
    quasi = {name: people.tally.column(name)[people.tuple_of] for name in form.schema.quasi}
    tally = _tally(people, {**quasi, **single})
    published = seen != WITHHELD
    lines = np.stack([seen, *single.values()], axis=1)[published].astype(np.int32)
    sizes = [max(len(form.shown), 1), *(tally.trees[name].size for name in single)]
    index, first = group_tuples(lines, sizes)
    schema = replace(form.schema, sensitive={name: hierarchies[name] for name in single}, items={}, events={})
    made = replace(
        form,
        schema=schema,
        tally=tally,
        shown=replace(form.shown, group_of=np.zeros(0, dtype=np.int64)),
        groups=lines[first][:, 0].astype(np.int64),
        sensitive=lines[first][:, 1:],
        counts=np.bincount(index, minlength=len(first)).astype(np.int64),
        rows_in=people_in,
    )
    return made, tuple(name for name in people.sensitive if name not in single)


def _one_value(people: People, name: str) -> Codes | None:
    """Return everybody's one value in a column; None where somebody has several."""
    owner, codes = people.values_of(name, np.ones(len(people), dtype=bool))
    return codes if len(owner) == len(people) else None


def _tally(people: People, columns: dict[str, Codes]) -> Tally:
    names = tuple(sorted(columns))
    codes = np.stack([columns[name] for name in names], axis=1).astype(np.int32)
    trees = {name: people.rows.trees[name] for name in names}
    index, first = group_tuples(codes, [trees[name].size for name in names])
    counts = np.bincount(index, minlength=len(first)).astype(np.int64)
    return replace(
        people.rows, columns=names, codes=np.ascontiguousarray(codes[first]), counts=counts, trees=trees,
        population=people.tally.population,
    )  # fmt: skip
