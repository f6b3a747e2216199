"""How well sets of columns tell rows apart.

After Motwani & Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007). The distinction ratio of
a set of columns is its number of distinct tuples per row; its separation ratio is the share of pairs of rows that
differ in it: 1 − Σ C(nᵢ, 2) / C(n, 2) over the sizes nᵢ of its groups. A set that separates almost all pairs singles
people out, whatever its columns are called.

Rows come as one 64-bit code per cell. Measuring a set is one group-by over a column of 64-bit keys. Sets are searched
on at most `SEARCHED_ROWS` of the rows, which is enough to rank them (the paper: of the order of the number of columns
divided by the share of pairs that may stay together), and what is found is measured on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

SEARCHED_ROWS = 100_000
SEARCHED_COLUMNS = 24
"""Only this many columns, those that separate best alone, are combined with each other."""
LARGEST_SET = 6
ALL_BUT_DISTINCT = 0.99
"""A set that leaves this share of the rows unique is a key; larger sets say nothing new."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as codes: two cells of a column are equal exactly if their codes are (but for a chance of rows² in 10¹⁹).

    `total` is how many rows the table has; where it is more than `rows`, these are a sample of them.
    """

    codes: Mapping[str, Keys]
    rows: int
    total: int

    @property
    def is_sample(self) -> bool:
        """Whether these are only some of the table's rows."""
        return self.rows < self.total

    def thinned(self, rows: int) -> CodedRows:
        """Return at most so many of the rows, evenly spread."""
        step = -(-self.rows // rows)
        if step <= 1:
            return self
        chosen = {name: codes[::step] for name, codes in self.codes.items()}
        return CodedRows(chosen, -(-self.rows // step), self.total)


@dataclass(frozen=True)
class Separation:
    """How well a set of columns tells `rows` rows apart."""

    columns: tuple[str, ...]
    rows: int
    groups: int
    """Distinct tuples; missing is a value like any other."""
    separation: float
    unique_rows: int
    k: int
    """Size of the smallest group."""

    @property
    def distinction(self) -> float:
        """Distinct tuples per row."""
        return self.groups / self.rows

    @property
    def unique_share(self) -> float:
        """Share of rows that are alone in their group."""
        return self.unique_rows / self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "groups": self.groups,
            "distinction": self.distinction,
            "separation": self.separation,
            "unique_rows": self.unique_rows,
            "unique_share": self.unique_share,
            "k": self.k,
        }


def measure(rows: CodedRows, columns: Sequence[str]) -> Separation:
    """Return how well a set of columns tells the rows apart."""
    return _judge(tuple(columns), _join(rows, columns), rows.rows)


def best_pairs(rows: CodedRows, columns: Sequence[str], *, most: int = 5) -> list[Separation]:
    """Return the pairs of columns that separate best, the best first."""
    few = rows.thinned(SEARCHED_ROWS)
    pairs = [measure(few, pair) for pair in combinations(_worth_combining(few, columns), 2)]
    pairs.sort(key=_quality, reverse=True)
    return [measure(rows, pair.columns) for pair in pairs[:most]]


def separating_sets(rows: CodedRows, columns: Sequence[str]) -> list[Separation]:
    """Grow a set of columns greedily, one column at a time, until its rows are all but distinct; return every step.

    The last step is pared down: a column that the others have made superfluous is left out.
    """
    few = rows.thinned(SEARCHED_ROWS)
    candidates = _worth_combining(few, columns)
    if not candidates:
        return []
    most = _judge((), _join(few, candidates), few.rows).groups
    steps: list[Separation] = []
    chosen: tuple[str, ...] = ()
    key = np.zeros(few.rows, dtype=np.uint64)
    while len(chosen) < min(LARGEST_SET, len(candidates)):
        trials = [
            _judge((*chosen, name), _mix(key, few.codes[name]), few.rows) for name in candidates if name not in chosen
        ]
        best = max(trials, key=_quality)
        if steps and best.groups == steps[-1].groups:
            break
        steps.append(best)
        chosen = best.columns
        key = _mix(key, few.codes[chosen[-1]])
        if best.unique_share >= ALL_BUT_DISTINCT or best.groups == most:
            break
    sets = [*(step.columns for step in steps[:-1]), _pared(few, steps[-1])]
    return [measure(rows, found) for found in dict.fromkeys(sets)]


def repeats(rows: CodedRows, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns that say the same: each value of one goes with exactly one value of the other."""
    few = rows.thinned(SEARCHED_ROWS)
    groups = {name: measure(few, [name]).groups for name in columns}
    same = [
        (first, second)
        for first, second in combinations(columns, 2)
        if groups[first] == groups[second] == measure(few, (first, second)).groups
    ]
    return [
        (first, second)
        for first, second in same
        if measure(rows, [first]).groups == measure(rows, [second]).groups == measure(rows, (first, second)).groups
    ]


def _worth_combining(rows: CodedRows, columns: Sequence[str]) -> list[str]:
    alone = [measure(rows, [name]) for name in columns]
    ranked = sorted((found for found in alone if found.groups > 1), key=_quality, reverse=True)
    chosen = {found.columns[0] for found in ranked[:SEARCHED_COLUMNS]}
    return [name for name in columns if name in chosen]


def _quality(found: Separation) -> tuple[float, int, tuple[str, ...]]:
    """Order by separation; names settle what is equal, so that the order of columns does not."""
    return found.separation, found.groups, found.columns


def _pared(rows: CodedRows, key: Separation) -> tuple[str, ...]:
    columns = key.columns
    for name in key.columns:
        others = tuple(other for other in columns if other != name)
        if others and measure(rows, others).groups == key.groups:
            columns = others
    return columns


def _join(rows: CodedRows, columns: Sequence[str]) -> Keys:
    key = np.zeros(rows.rows, dtype=np.uint64)
    for name in columns:
        key = _mix(key, rows.codes[name])
    return key


def _mix(key: Keys, codes: Keys) -> Keys:
    """Join two columns of codes into one; shift and multiply, as in SplitMix64, keep patterns from colliding."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    mixed += codes
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed


def _judge(columns: tuple[str, ...], key: Keys, rows: int) -> Separation:
    grouped = pl.LazyFrame({"key": key}).group_by("key").agg(pl.len().cast(pl.Int64))
    sizes = grouped.collect(engine="streaming")["len"].to_numpy()
    pairs = rows * (rows - 1) // 2
    together = int((sizes * (sizes - 1) // 2).sum())
    return Separation(
        columns=columns,
        rows=rows,
        groups=len(sizes),
        separation=1.0 - together / pairs if pairs else 1.0,
        unique_rows=int(np.count_nonzero(sizes == 1)),
        k=int(sizes.min()),
    )
