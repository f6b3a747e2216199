"""Tables recoded at random, and the same row by row: what each row was, and what its published labels may stand for.

Labels are read by `incrowd.testing.reading`, as a stranger to the package would; nothing here looks at runs of codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.core.recoding import WITHHELD, Recoding, Shown
from incrowd.core.tally import Tally
from incrowd.forms.generalized import Generalized
from incrowd.hierarchies.tree import Tree
from incrowd.testing import Case
from incrowd.testing.reading import covers, is_missing
from incrowd.testing.strategies import cases

CHECKED = settings(max_examples=18)


@dataclass(frozen=True, eq=False)
class Recoded:
    """A table and what a recoding publishes of it."""

    case: Case
    tally: Tally
    recoding: Recoding

    @cached_property
    def release(self) -> Generalized:
        return Generalized.of(self.tally, self.case.table().schema, self.recoding)

    @property
    def quasi(self) -> tuple[str, ...]:
        return tuple(self.case.quasi)

    def tree(self, name: str) -> Tree:
        return self.tally.trees[name]

    @cached_property
    def rows(self) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
        """Each row's own values, and the labels that it shows: None if it is withheld."""
        found = []
        form = self.release
        known = {name: self.tree(name).values.to_list() for name in self.tally.columns}
        codes = {name: self.tally.column(name).tolist() for name in self.tally.columns}
        labels = {name: form.shown.labels[name].to_list() for name in self.quasi}
        for part, (place, count) in enumerate(zip(self.recoding.tuples, self.recoding.counts, strict=True)):
            group = form.shown.group_of[part]
            values = {name: known[name][codes[name][place]] for name in self.tally.columns}
            shown = None if group == WITHHELD else {name: labels[name][group] for name in self.quasi}
            found += [(values, shown)] * int(count)
        return found

    def known(self, name: str) -> list[Any]:
        """A column's values, without missing."""
        return self.tree(name).values.to_list()[1:]

    def domain(self, name: str) -> list[Any]:
        """A column's values, with missing where some row misses it."""
        return self._domains[name]

    @cached_property
    def _domains(self) -> dict[str, list[Any]]:
        missing = {name: any(is_missing(values[name]) for values, _ in self.rows) for name in self.tally.columns}
        return {name: [*([None] if missing[name] else []), *self.known(name)] for name in self.tally.columns}

    def may_be(self, name: str, label: str | None) -> list[Any]:
        """What a label may stand for."""
        if (name, label) not in self._meant:
            hierarchy, ordered = self.case.hierarchy(name), self.tree(name).ordered
            covered = [value for value in self.domain(name) if covers(label, value, hierarchy, ordered=ordered)]
            self._meant[name, label] = covered
        return self._meant[name, label]

    @cached_property
    def _meant(self) -> dict[tuple[str, str | None], list[Any]]:
        return {}


_counted: list[tuple[Case, Tally]] = []


def tallied(case: Case) -> Tally:
    """Count a table, once for as long as the same is asked for."""
    if not _counted or _counted[0][0] is not case:
        table = case.table()
        _counted[:] = [(case, table.engine.count(table.schema).tally)]
    return _counted[0][1]


def recode(
    case: Case,
    groups: Sequence[int],
    *,
    shown: Shown = "region",
    tuples: Sequence[int] | None = None,
    counts: Sequence[int] | None = None,
) -> Recoded:
    """Put tuples, or given parts of them, into groups that show what their members span; -1 withholds."""
    tally = tallied(case)
    columns = tuple(sorted(case.quasi))
    codes = np.stack([tally.column(name) for name in columns], axis=1)
    places = np.arange(len(tally)) if tuples is None else np.array(tuples, dtype=np.int64)
    sizes = tally.counts if counts is None else np.array(counts, dtype=np.int64)
    group_of = np.array(groups, dtype=np.int64)
    number = int(group_of.max(initial=WITHHELD)) + 1
    lows = np.zeros((number, len(columns)), dtype=np.int32)
    highs = np.zeros((number, len(columns)), dtype=np.int32)
    for group in range(number):
        members = codes[places[group_of == group]]
        lows[group], highs[group] = members.min(axis=0), members.max(axis=0) + 1
    for column, name in enumerate(columns):
        low, high = lows[:, column], highs[:, column]
        everything = (low == 0) & (high > 1)  # missing, and something that is there
        high[everything] = tally.trees[name].size
        if shown == "hierarchy":
            low[~everything], high[~everything] = tally.trees[name].common_nodes(low[~everything], high[~everything])
    return Recoded(case, tally, Recoding(places, sizes, group_of, columns, lows, highs, shown))


def untouched(case: Case) -> Recoded:
    """Publish every tuple as it is."""
    return recode(case, range(len(tallied(case))))


def starred(case: Case) -> Recoded:
    """Publish nothing but `*`."""
    tally = tallied(case)
    columns = tuple(sorted(case.quasi))
    places = np.arange(len(tally))
    lows = np.zeros((1, len(columns)), dtype=np.int32)
    highs = np.array([[tally.trees[name].size for name in columns]], dtype=np.int32)
    return Recoded(case, tally, Recoding(places, tally.counts, np.zeros_like(places), columns, lows, highs))


def all_withheld(case: Case) -> Recoded:
    return recode(case, [WITHHELD] * len(tallied(case)))


@st.composite
def recodings(draw: st.DrawFn, *, most_rows: int = 20, most_quasi: int = 3, most_sensitive: int = 1) -> Recoded:
    """Draw a table and put its rows into groups at random; equal rows may come into different groups."""
    case = draw(cases(most_rows=most_rows, most_quasi=most_quasi, most_sensitive=most_sensitive, most_kept=0))
    dice = np.random.default_rng(draw(st.integers(0, 2**32)))
    tally = tallied(case)
    tuples, counts = [], []
    for place, count in enumerate(tally.counts.tolist()):
        apart = int(dice.integers(0, count)) if dice.random() < 0.3 else 0
        for rows in (apart, count - apart):
            if rows:
                tuples.append(place)
                counts.append(rows)
    wanted = dice.integers(WITHHELD if draw(st.booleans()) else 0, draw(st.integers(1, 8)), len(tuples))
    _, groups = np.unique(wanted, return_inverse=True)  # no group is empty
    shown: Shown = draw(st.sampled_from(["region", "hierarchy", "tight"]))
    groups = groups - 1 if wanted.min() == WITHHELD else groups
    return recode(case, groups.tolist(), shown=shown, tuples=tuples, counts=counts)


@cache
def drawn_recodings() -> list[Recoded]:
    """Draw recodings that every metric is tried on: to draw one takes longer than to measure it."""
    found: list[Recoded] = []

    @CHECKED
    @given(recoded=recodings())
    def draw(recoded: Recoded) -> None:
        found.append(recoded)

    draw()
    return found


AGES = Case(
    pl.DataFrame(
        {
            "age": [20, 20, 21, 22, 80, None],
            "job": ["lawyer", "lawyer", "clerk", "writer", "dancer", "writer"],
            "flu": ["yes", "no", "no", "no", "yes", None],
        }
    ),
    quasi=("age", "job"),
    sensitive=("flu",),
    hierarchies={
        "age": ic.Intervals(widths=(10, 40)),
        "job": ic.Categories(
            (("lawyer", "office"), ("clerk", "office"), ("writer", "art"), ("dancer", "art"), ("painter", "art"))
        ),
    },
)
"""Six people; their tuples are sorted by age, missing first, then by job and flu. Nobody is a painter."""

ODD = {
    "one row": Case(pl.DataFrame({"a": [5]}), quasi=("a",)),
    "all equal": Case(pl.DataFrame({"a": ["x"] * 9, "b": [1.5] * 9}), quasi=("a", "b")),
    "one column": Case(pl.DataFrame({"a": [1, 2, 2, 3, 5, 8]}), quasi=("a",)),
    "all missing": Case(pl.DataFrame({"a": [None, None, None], "b": [1, 2, 3]}), quasi=("a", "b")),
    "some missing": Case(pl.DataFrame({"a": [None, 1, None, 2], "s": [None, "x", "x", None]}), ("a",), ("s",)),
}


def torn_labels() -> list[Recoded]:
    """Return recodings in which a label leaves out values that lie between others: what is withheld is not named."""
    zips, towns = ["00000"] * 6 + ["00001"] * 2 + ["10000", "20000", "30000"], ["a", "c"] * 5 + ["b"]
    found = []
    for others in ({}, {"town": towns}):
        case = Case(pl.DataFrame({"zip": zips, **others}), quasi=("zip", *others))
        for groups in ([0, -1, -1, 0, -1], [-1, 0, -1, -1, 0], [0, -1, 0, -1, 1]):
            found.append(recode(case, [*groups, *groups, *groups][: len(tallied(case))]))
    assert sum(bool(one.release.shown.torn) for one in found) >= 3
    return found
