"""How well sets of columns tell rows apart.

After Motwani & Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007). The distinction ratio of
a set of columns is its number of distinct tuples per row; its separation ratio is the share of pairs of rows that
differ in it: 1 − Σ C(nᵢ, 2) / C(n, 2) over the sizes nᵢ of its groups. A set that separates almost all pairs singles
people out, whatever its columns are called.

Rows come as one 64-bit code per cell, and measuring a set is one sort of a column of 64-bit keys. Sets are searched on
at most `SEARCHED_ROWS` of the rows, which is enough to rank them (the paper: of the order of the number of columns
divided by the share of pairs that may stay together), and what is found is measured on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.common.records import dataclass

Keys = NDArray[np.uint64]

SEARCHED_ROWS = 50_000
SEARCHED_COLUMNS = 24
"""Only this many columns, those that separate best alone, are combined with each other."""
LARGEST_SET = 6
LARGEST_LISTED = 3
"""All sets of so many columns are looked at for the smallest that singles people out."""
LOOKED_AT_ROWS = 5_000
MEASURED_AGAIN = 10
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
        """Return so many of the rows, or all if there are fewer, drawn at random: always the same ones."""
        if self.rows <= rows:
            return self
        # Not every tenth row or the like: tables are often written in an order that repeats.
        chosen = np.sort(np.random.default_rng(0).choice(self.rows, rows, replace=False))
        return CodedRows({name: codes[chosen] for name, codes in self.codes.items()}, rows, self.total)


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


def singling_out(rows: CodedRows, columns: Sequence[str], *, share: float = 0.5) -> Separation | None:
    """Return the smallest set of columns that leaves at least this share of the rows unique, or None if none does.

    Sets of up to three columns are all looked at, on some of the rows, and the best of each size are measured on all;
    larger ones are grown greedily.
    """
    few = rows.thinned(LOOKED_AT_ROWS)
    candidates = _worth_combining(few, columns)
    for size in range(1, min(LARGEST_LISTED, len(candidates)) + 1):
        looked = [measure(few, chosen) for chosen in combinations(candidates, size)]
        looked.sort(key=lambda found: (found.unique_rows, *_quality(found)), reverse=True)
        best = max((measure(rows, found.columns) for found in looked[:MEASURED_AGAIN]), key=lambda it: it.unique_rows)
        if best.unique_share >= share:
            return best
    grown = separating_sets(rows, columns)
    return next((found for found in grown if found.unique_share >= share), None)


def separating_sets(rows: CodedRows, columns: Sequence[str]) -> list[Separation]:
    """Grow a set of columns greedily, one column at a time, until its rows are all but distinct; return every step.

    The last step is pared down: a column that the others have made superfluous is left out.
    """
    searched = rows.thinned(SEARCHED_ROWS)
    candidates = _worth_combining(searched, columns)
    if not candidates:
        return []
    most = measure(rows, candidates).groups
    steps: list[Separation] = []
    chosen: tuple[str, ...] = ()
    key = _join(rows, chosen)
    while len(chosen) < min(LARGEST_SET, len(candidates)) and not (steps and _is_key(steps[-1], most)):
        best = _best_next(searched, chosen, candidates)
        if chosen and best.groups == measure(searched, chosen).groups:
            # The rows that were searched are as distinct as they get; only all of them can tell more.
            if searched is rows:
                break
            searched = rows
            continue
        chosen = best.columns
        key = _mix(key, rows.codes[chosen[-1]])
        steps.append(_judge(chosen, key, rows.rows))
    pared = _pared(rows, steps[-1])
    return [*(step for step in steps[:-1] if step.columns != pared.columns), pared]


def _is_key(found: Separation, most: int) -> bool:
    return found.unique_share >= ALL_BUT_DISTINCT or found.groups == most


def _best_next(rows: CodedRows, chosen: tuple[str, ...], candidates: Sequence[str]) -> Separation:
    key = _join(rows, chosen)
    others = [name for name in candidates if name not in chosen]
    return max((_judge((*chosen, name), _mix(key, rows.codes[name]), rows.rows) for name in others), key=_quality)


def repeats(rows: CodedRows, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of columns that say the same: each value of the second goes with exactly one value of the first."""
    alike = [list(columns)]
    for looked_at in (rows.thinned(SEARCHED_ROWS), rows):  # few columns are left to compare when all rows are
        alike = [same for names in alike for same in _say_the_same(looked_at, names)]
    return [(first, other) for first, *others in alike for other in others]


def _say_the_same(rows: CodedRows, columns: Sequence[str]) -> list[list[str]]:
    """Group columns by which of the rows have equal values in them; return the groups of more than one column."""
    groups: dict[bytes, list[str]] = {}
    for name in columns:
        _, first, number = np.unique(rows.codes[name], return_index=True, return_inverse=True)
        # Every value is replaced by the row where it comes first: whatever the values are, equal ones stay equal.
        groups.setdefault(sha256(first[number].tobytes()).digest(), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def _worth_combining(rows: CodedRows, columns: Sequence[str]) -> list[str]:
    alone = [measure(rows, [name]) for name in columns]
    ranked = sorted((found for found in alone if found.groups > 1), key=_quality, reverse=True)
    chosen = {found.columns[0] for found in ranked[:SEARCHED_COLUMNS]}
    return [name for name in columns if name in chosen]


def _quality(found: Separation) -> tuple[float, int, tuple[str, ...]]:
    """Order by separation; names settle what is equal, so that the order of columns does not."""
    return found.separation, found.groups, found.columns


def _pared(rows: CodedRows, key: Separation) -> Separation:
    few = rows.thinned(SEARCHED_ROWS)
    for name in key.columns:
        others = tuple(other for other in key.columns if other != name)
        # What is superfluous in all rows is so in some of them, where it is quicker to see.
        if others and measure(few, others).groups == measure(few, key.columns).groups:
            without = measure(rows, others)
            key = without if without.groups == key.groups else key
    return key


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
    ordered = np.sort(key)
    ends = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    sizes = np.diff(np.concatenate(([0], ends, [rows])))
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
