"""Groups made by hand or drawn, and what tests of models share: exact shares, joined groups, pyCANON's frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from incrowd.core.groups import Groups, histogram
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy

Value = Any
Crowd = Sequence[Value]
"""The sensitive values of one group's members; a text is one value per letter, and `?` is missing."""

QUASI = ["q0", "q1"]
CHECKED = settings(max_examples=15, deadline=None, derandomize=True, database=None)


def crowd(*groups: Crowd, withheld: Crowd = (), hierarchy: Hierarchy | None = None, with_whole: bool = True) -> Groups:
    """Count groups by one sensitive column `s0`; withheld members belong to the whole table only."""
    return crowds({"s0": groups}, withheld={"s0": withheld}, hierarchy=hierarchy, with_whole=with_whole)


def crowds(
    columns: dict[str, Sequence[Crowd]],
    *,
    withheld: dict[str, Crowd] | None = None,
    hierarchy: Hierarchy | None = None,
    with_whole: bool = True,
) -> Groups:
    """Count groups by several sensitive columns, each given as the values of every group's members in turn."""
    sensitive, whole, trees = {}, {}, {}
    for name, groups in columns.items():
        outside = list(_plain((withheld or {}).get(name, ())))
        everybody = [value for group in groups for value in _plain(group)] + outside
        tree, codes = (hierarchy or Exact()).build(name, pl.Series(everybody, dtype=_dtype(everybody)))
        group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        inside = codes[: len(group_of)]
        sensitive[name] = histogram(group_of, inside, np.ones(len(inside), dtype=np.int64), len(groups))
        trees[name] = tree
        if with_whole:
            whole[name] = np.bincount(codes, minlength=tree.size).astype(np.int64)
    sizes = np.array([len(group) for group in next(iter(columns.values()))], dtype=np.int64)
    return Groups(sizes, sensitive, whole, trees)


def verdicts(model: Any, groups: Groups) -> list[bool]:
    """Return the model's verdicts as plain values; they are one yes or no per group."""
    found = model.satisfied(groups)
    assert found.dtype == np.bool_
    assert found.shape == (len(groups),)
    return found.tolist()


def shares(members: Crowd) -> dict[Value, Fraction]:
    """Return each value's exact share."""
    values = list(_plain(members))
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def whole_of(groups: Sequence[Crowd], withheld: Crowd) -> list[Value]:
    """Return everybody's values."""
    return [value for group in (*groups, withheld) for value in _plain(group)]


def exact(parameter: float) -> Fraction:
    """Return the number that was written: 0.1 is a tenth, not the binary fraction next to it."""
    return Fraction(str(parameter))


def drawn_groups(values: Sequence[Value] = (None, "a", "b", "c", "d")) -> st.SearchStrategy[list[list[Value]]]:
    """Draw a few groups of a few members."""
    return st.lists(st.lists(st.sampled_from(values), min_size=1, max_size=12), min_size=1, max_size=6)


def drawn_crowd(values: Sequence[Value] = (None, "a", "b", "c", "d")) -> st.SearchStrategy[list[Value]]:
    """Draw members who are withheld."""
    return st.lists(st.sampled_from(values), max_size=8)


def joined_pairs(
    model: Any, groups: Sequence[Crowd], withheld: Crowd, hierarchy: Hierarchy | None = None
) -> list[bool]:
    """Join every two groups that satisfy a model, in the same whole table; return the verdict on each union."""
    before = crowd(*groups, withheld=withheld, hierarchy=hierarchy)
    safe = [list(group) for group, verdict in zip(groups, verdicts(model, before), strict=True) if verdict]
    unions = [first + second for first, second in combinations(safe, 2)]
    # Counted next to the groups that they are made of, so that values keep their codes; the whole stays as it was.
    after = crowd(*groups, *unions, withheld=withheld, hierarchy=hierarchy)
    return verdicts(model, replace(after, whole=before.whole))[len(groups) :]


def random_tables(number: int, *, numeric: bool = False) -> Iterator[tuple[Groups, Any, list[list[Value]]]]:
    """Make tables without missing values; yield each as groups, as a pandas frame, and plainly.

    The frame has the columns of `QUASI`, two since pandas warns of the way in which pyCANON groups by one, and `s`.
    """
    import pandas as pd

    rng = np.random.default_rng(20)
    while number:
        rows, classes, values = rng.integers(2, 40), rng.integers(1, 6), rng.integers(2, 7)
        q = rng.integers(0, classes, rows)
        s = np.minimum(rng.integers(0, values, rows), rng.integers(0, values, rows))
        if len(set(s.tolist())) < 2:
            continue  # pyCANON divides by m - 1 = 0
        number -= 1
        names = s * 10 if numeric else np.array(list("abcdefgh"))[s]
        plain = [names[q == name].tolist() for name in np.unique(q)]
        yield crowd(*plain), pd.DataFrame({"q0": q // 2, "q1": q % 2, "s": names}), plain


def _plain(members: Crowd) -> Iterator[Value]:
    return (None if value == "?" else value for value in members)


def _dtype(values: Sequence[Value]) -> Any:
    return pl.Int64 if any(isinstance(value, int) for value in values) else pl.String
