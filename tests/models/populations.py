"""Groups with a population beside them, drawn or written by hand, and what tests count in them one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Literal

import numpy as np
import polars as pl
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.groups import Groups, Regions, own_regions
from incrowd.core.tally import Population, Tally
from incrowd.errors import Unsatisfiable
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.texts import plain
from incrowd.testing import Case
from incrowd.testing.reading import covers
from incrowd.testing.strategies import cases

Person = tuple[int, ...]
Box = Sequence[tuple[int, int]]
"""What a group shows of each column: the first value, and the one after the last."""

SIDE = 5
"""Drawn values are 1 to this."""


def in_boxes(rows: Sequence[int], boxes: Sequence[Box], people: Sequence[Person]) -> Groups:
    """Return groups of so many rows that show so much, beside a population; values are numbers from 1 to `SIDE`."""
    columns = _columns(people)
    lows, highs = (np.array([[edge[end] for edge in box] for box in boxes], dtype=np.int32) for end in (0, 1))
    shape = (len(boxes), len(columns))
    regions = Regions(columns, lows.reshape(shape), highs.reshape(shape))
    return Groups(np.array(rows, dtype=np.int64), table=_tally(people), regions=lambda: regions)


def around(members: Sequence[Sequence[Person]], people: Sequence[Person]) -> Groups:
    """Return groups of members who show the smallest box around them, beside a population."""
    columns = _columns(people)
    sizes = np.array([len(group) for group in members], dtype=np.int64)
    codes = np.array([member for group in members for member in group], dtype=np.int32).reshape(-1, len(columns))
    regions = own_regions(columns, codes, np.repeat(np.arange(len(sizes)), sizes), len(sizes))
    return Groups(sizes, table=_tally(people), regions=lambda: regions)


def _columns(people: Sequence[Person]) -> tuple[str, ...]:
    return tuple("xyz"[: len(people[0])])


def _tally(people: Sequence[Person]) -> Tally:
    columns, counted = _columns(people), Counter(people)
    tree, _ = Flat().build("", pl.Series(range(1, SIDE + 1)))
    population = Population(
        columns, np.array(sorted(counted), dtype=np.int32), np.array([counted[person] for person in sorted(counted)])
    )
    nobody = np.empty((0, len(columns)), dtype=np.int32)
    return Tally(columns, nobody, np.empty(0, dtype=np.int64), dict.fromkeys(columns, tree), population=population)


def holds(box: Box, person: Person) -> bool:
    """Whether a group that shows a box could be a person's."""
    return all(low <= value < high for (low, high), value in zip(box, person, strict=True))


def drawn_people(columns: int, most: int = 12) -> st.SearchStrategy[list[Person]]:
    """Draw a population."""
    return st.lists(st.tuples(*[st.integers(1, SIDE)] * columns), min_size=1, max_size=most)


def drawn_boxes(columns: int, most: int = 4) -> st.SearchStrategy[list[list[tuple[int, int]]]]:
    """Draw what some groups show; it may overlap."""
    edge = st.tuples(st.integers(1, SIDE), st.integers(1, SIDE)).map(lambda ends: (min(ends), max(ends) + 1))
    return st.lists(st.lists(edge, min_size=columns, max_size=columns), min_size=1, max_size=most)


@st.composite
def cases_with_population(draw: st.DrawFn) -> tuple[Case, pl.DataFrame]:
    """Draw a table, and a population of rows that mix its values; neither need hold the other."""
    case = draw(cases(most_rows=25, most_quasi=3, most_sensitive=1, most_kept=0))
    dice = Random(draw(st.integers(0, 2**16)))
    number = draw(st.integers(1, 60))
    columns = {name: dice.choices(case.frame[name].to_list(), k=number) for name in case.quasi}
    mixed = pl.DataFrame({name: pl.Series(columns[name], dtype=case.frame[name].dtype) for name in case.quasi})
    whole = case.frame.select(case.quasi)
    return case, pl.concat([mixed, whole]) if draw(st.booleans()) else mixed


def publish(
    case: Case, people: pl.DataFrame, model: ic.Model | Sequence[ic.Model], method: ic.Method
) -> ic.Release | None:
    """Publish a case beside a population, whose columns come in another order; None where it cannot be."""
    table = ic.read(
        case.frame,
        quasi=case.quasi,
        sensitive=case.sensitive,
        hierarchies=dict(case.hierarchies),
        population=people.select(people.columns[::-1]),
    )
    try:
        return ic.publish(table, model, method=method)
    except Unsatisfiable:
        return None


def recount(release: ic.Release, case: Case, people: pl.DataFrame) -> list[tuple[int, list[int]]]:
    """Return the rows of each published group, and the places of the people whom its labels hold for, as one reads."""
    trees = release.form.tally.trees
    ordered = {name: trees[name].ordered for name in case.quasi}
    published = Counter(release.to_polars().select(case.quasi).rows())
    everybody = people.select(case.quasi).to_dicts()

    read: dict[tuple[str, Any, type, Any], bool] = {}

    def holds(name: str, label: Any, value: Any) -> bool:
        key = name, label, type(value), value  # people share labels and values, and reading a label takes long
        if key not in read:
            read[key] = covers(label, value, case.hierarchy(name), ordered=ordered[name])
        return read[key]

    def may_be(labels: Mapping[str, Any], person: Mapping[str, Any]) -> bool:
        return all(holds(name, labels[name], person[name]) for name in case.quasi)

    return [
        (
            count,
            [
                place
                for place, person in enumerate(everybody)
                if may_be(dict(zip(case.quasi, row, strict=True)), person)
            ],
        )
        for row, count in published.items()
    ]


def has_missing(*frames: pl.DataFrame) -> bool:
    """Whether any value is missing: the label `*` then holds for more people than the search may count on."""
    return any(_as_read(frame[name]).null_count() for frame in frames for name in frame.columns)


def _as_read(values: pl.Series) -> pl.Series:
    """Return values as they are counted: an empty text is missing, and so is NaN."""
    if values.dtype.is_float():
        return values.fill_nan(None)
    return plain(values) if values.dtype == pl.String else values


CUTS: st.SearchStrategy[Literal["strict", "relaxed"]] = st.sampled_from(["strict", "relaxed"])


def variants(cuts: Literal["strict", "relaxed"]) -> Iterator[ic.Mondrian]:
    """Every way of showing; tests draw how a table is cut."""
    for labels in ("region", "hierarchy", "tight"):
        yield ic.Mondrian(cuts=cuts, labels=labels)
