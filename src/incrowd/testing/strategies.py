"""Small nasty tables for Hypothesis: every kind of column, few distinct values, missing ones, and names that clash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from itertools import product
from random import Random
from typing import Any

import polars as pl
from hypothesis import strategies as st

from incrowd.common.records import dataclass
from incrowd.core.model import Model
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals
from incrowd.hierarchies.masking import Masking
from incrowd.models.alpha_k_anonymity import AlphaKAnonymity
from incrowd.models.beta_likeness import BasicBetaLikeness
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.full_k_anonymity import FullKAnonymity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.recursive_l_diversity import RecursiveLDiversity
from incrowd.models.t_closeness import TCloseness
from incrowd.testing.case import Case
from incrowd.testing.claims import SENSITIVE, VALUES
from incrowd.testing.naive import Members
from incrowd.testing.reading import as_read, is_missing, text_of

TELLTALE = "Zoë Ånd-Ωmega, O'Neil"
"""A value that no message, report or parameter holds by accident: where it turns up, it came out of a row."""

_NAMES = (
    "age",
    "Zip",
    "a,b",
    "group",
    "value",
    "code",
    "count",
    "n",
    "c0",
    "label",
    "number",
    "tuple",
    "part",
    "é",
    "s0",
)
_TEXTS = (
    TELLTALE,
    "a",
    "b",
    "",
    "*",
    "**",
    "{a}",
    "{a, b}",
    '"a"',
    "a, b",
    "a-b",
    "[1, 2)",
    "<=50K",
    ">=5",
    "-5",
    " a",
    "a\n",
)
_MOST_ROWS = 60


@dataclass(frozen=True)
class Kind:
    """A kind of column: its type, its values, and the hierarchies that fit some of them."""

    dtype: Any
    values: st.SearchStrategy[Any]
    hierarchies: Callable[[Sequence[Any]], st.SearchStrategy[Hierarchy]]


@st.composite
def _categories(draw: st.DrawFn, values: Sequence[Any]) -> Hierarchy:
    """Put the values, and one that the table does not have, into a few groups and those into fewer."""
    # Texts that look alike are one value, and one leaf.
    leaves = sorted({str(as_read(text_of(value))) for value in values if not is_missing(value)} | {"nobody's value"})
    small = draw(st.lists(st.integers(0, 3), min_size=len(leaves), max_size=len(leaves)))
    return Categories(
        tuple((leaf, f"small, {group}", f"{{large}} {group // 2}") for leaf, group in zip(leaves, small, strict=True))
    )


_NUMBER_HIERARCHIES: tuple[Hierarchy, ...] = (
    Automatic(),
    Flat(),
    Intervals(widths=(5, 10, 40)),
    Intervals(widths=(0.1, 0.3)),
    Intervals(widths=(2.5, 5), origin=-1, lower=-20, upper=30),
    Intervals(cuts=((-10, 0, 0.5, 7, 40), (0, 7))),
)


def _number_hierarchies(values: Sequence[Any]) -> st.SearchStrategy[Hierarchy]:
    return st.one_of(st.sampled_from(_NUMBER_HIERARCHIES), _categories(values))


def _float_hierarchies(values: Sequence[Any]) -> st.SearchStrategy[Hierarchy]:
    # Not as categories: 1e-07 has more spellings than one.
    return st.sampled_from(_NUMBER_HIERARCHIES)


def _date_hierarchies(values: Sequence[Any]) -> st.SearchStrategy[Hierarchy]:
    return st.sampled_from([Automatic(), Flat(), Dates(), Dates(units=("month", "year")), Dates(units=("decade",))])


def _text_hierarchies(values: Sequence[Any]) -> st.SearchStrategy[Hierarchy]:
    return st.one_of(st.sampled_from([Automatic(), Flat()]), _categories(values))


def _code_hierarchies(values: Sequence[Any]) -> st.SearchStrategy[Hierarchy]:
    return st.one_of(
        st.sampled_from([Automatic(), Flat(), Masking(), Masking(side="left", steps=(2, 4), mask="#")]),
        _categories(values),
    )


_ODD_FLOATS = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 0.1 + 0.2, 1e-7, 2.5, 1e12, -1e12)

KINDS: tuple[Kind, ...] = (
    Kind(pl.Int64, st.integers(-20, 60) | st.integers(-(10**12), 10**12), _number_hierarchies),
    Kind(pl.UInt8, st.integers(0, 255), _number_hierarchies),
    Kind(
        pl.Float64,
        st.sampled_from(_ODD_FLOATS) | st.integers(-2000, 5000).map(lambda tenths: tenths / 100),
        _float_hierarchies,
    ),
    Kind(pl.String, st.integers(-20, 60).map(str) | st.sampled_from(["3.0", "3", " 4", "4"]), _number_hierarchies),
    Kind(pl.Date, st.dates(date(1899, 1, 1), date(2101, 12, 31)), _date_hierarchies),
    Kind(pl.Datetime("us"), st.datetimes(datetime(1969, 12, 1), datetime(1971, 2, 1)), _date_hierarchies),
    Kind(pl.String, st.dates(date(1987, 1, 1), date(1988, 12, 31)).map(str), _date_hierarchies),
    Kind(pl.String, st.sampled_from(_TEXTS) | st.text('ab,-"{}*[]<>= é漢\\', max_size=4), _text_hierarchies),
    Kind(pl.String, st.text("0123456789", min_size=5, max_size=5), _code_hierarchies),
    Kind(pl.Boolean, st.booleans(), _text_hierarchies),
)


@st.composite
def column(draw: st.DrawFn, kind: Kind, rows: int, *, most_values: int = 12) -> pl.Series:
    """Draw a column: constant, of few values or of many, with or without missing ones."""
    pool = draw(st.lists(kind.values, min_size=1, max_size=most_values))
    if draw(st.booleans()):
        pool.append(None)
    if draw(st.integers(0, 9)) == 0:
        pool = [None]
    # One seed for all rows, not a choice for each: a failing table is made smaller in seconds, not in minutes.
    dice = Random(draw(st.integers(0, 2**16)))
    return pl.Series(dice.choices(pool, k=rows), dtype=kind.dtype)


def columns_for(declared: pl.Series | None = None) -> st.SearchStrategy[pl.Series]:
    """Draw a column of any kind; where a hierarchy declares values, of these."""
    if declared is None:
        return st.sampled_from(KINDS).flatmap(lambda kind: column(kind, 14, most_values=8))
    pool = declared.to_list()
    return column(Kind(declared.dtype, st.sampled_from(pool), lambda values: st.nothing()), 14, most_values=8)


@st.composite
def cases(
    draw: st.DrawFn, *, most_rows: int = _MOST_ROWS, most_quasi: int = 4, most_sensitive: int = 2, most_kept: int = 2
) -> Case:
    """Draw a table with a role and a hierarchy for each of its columns."""
    rows = draw(st.integers(1, most_rows))
    quasi = draw(st.integers(1, most_quasi))
    sensitive = draw(st.integers(0, most_sensitive))
    kept = draw(st.integers(0, most_kept))
    total = quasi + sensitive + kept
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=total, max_size=total, unique=True))
    columns: dict[str, pl.Series] = {}
    hierarchies: dict[str, Hierarchy] = {}
    for place, name in enumerate(names):
        kind = draw(st.sampled_from(KINDS))
        columns[name] = draw(column(kind, rows, most_values=12 if place < quasi else 4))
        if place < quasi:
            hierarchies[name] = draw(kind.hierarchies(columns[name].to_list()))
    return Case(
        frame=pl.DataFrame(columns),
        quasi=tuple(names[:quasi]),
        sensitive=tuple(names[quasi : quasi + sensitive]),
        kept=tuple(names[quasi + sensitive :]),
        hierarchies=hierarchies,
    )


@st.composite
def requirements(draw: st.DrawFn, case: Case) -> list[Model]:
    """Draw one to three models that the case may or may not be able to satisfy."""
    found: list[Model] = [KAnonymity(draw(st.integers(1, 8)))]
    if case.sensitive:
        column = draw(st.sampled_from([None, *case.sensitive]))
        l = draw(st.integers(1, 3))
        diverse: list[Model] = [
            DistinctLDiversity(l, column=column),
            EntropyLDiversity(draw(st.sampled_from([1.0, 1.5, 2.0])), column=column),
            ProbabilisticLDiversity(draw(st.sampled_from([1.0, 1.5, 2.0])), column=column),
            RecursiveLDiversity(draw(st.sampled_from([0.5, 1.0, 3.0])), l, column=column),
            AlphaKAnonymity(draw(st.sampled_from([0.5, 0.8])), draw(st.integers(1, 4)), column=column),
            TCloseness(draw(st.sampled_from([0.2, 0.5])), draw(st.sampled_from(["equal", "ordered"])), column=column),
            BasicBetaLikeness(draw(st.sampled_from([0.5, 2.0])), column=column),
        ]
        if not case.kept:  # which are outside of what it promises, so that it refuses them
            diverse.append(FullKAnonymity(draw(st.integers(1, 3))))
        found += draw(st.lists(st.sampled_from(diverse), max_size=2, unique=True))
    return found


def groups(*, most_groups: int = 6, most_members: int = 12) -> st.SearchStrategy[list[Members]]:
    """Draw a table in groups, whose members each have a value in the sensitive columns `s0` and `s1`."""
    every = [dict(zip(SENSITIVE, values, strict=True)) for values in product(VALUES, repeat=len(SENSITIVE))]
    member = st.sampled_from(every)  # one choice each: choosing is most of what it takes to draw a table
    return st.lists(st.lists(member, min_size=1, max_size=most_members), min_size=1, max_size=most_groups)
