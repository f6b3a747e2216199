"""Models by their definitions and groups by counting, in plain Python: slow, short, and nobody else's code.

The suite judges a release with what is here and never with the package's own `groups`, `tally` or `verification`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.core.groups import Groups, Histogram
from incrowd.hierarchies.tree import Tree
from incrowd.models.distinct_l_diversity import DistinctLDiversity
from incrowd.models.entropy_l_diversity import EntropyLDiversity
from incrowd.models.k_anonymity import KAnonymity
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.models.recursive_l_diversity import RecursiveLDiversity

Row = Mapping[str, Any]

Members = Sequence[Row]
"""The rows of one group: each maps a sensitive column to its value, None where it is missing."""

Definition = Callable[[Any, Members, Members], bool]
"""Whether a group satisfies a model: the model with its parameters, the group's members, and all rows of the table."""


def groups_of_rows(rows: Iterable[Row], quasi: Sequence[str], sensitive: Sequence[str]) -> list[Members]:
    """Collect rows that show the same in every quasi-identifier; missing is a value like any other."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in quasi)
        found.setdefault(key, []).append({name: row[name] for name in sensitive})
    return list(found.values())


def count_groups(groups: Sequence[Members], table: Members, trees: Mapping[str, Tree]) -> Groups:
    """Count groups and the whole table one row at a time; `trees` are the sensitive columns' own, for their codes."""
    codes = {name: {value: code for code, value in enumerate(tree.values.to_list())} for name, tree in trees.items()}
    combinations: dict[tuple[object, ...], int] = {}

    def combination(row: Row) -> int:
        return combinations.setdefault(tuple(row[name] for name in trees), len(combinations))

    return Groups(
        sizes=np.array([len(members) for members in groups], dtype=np.int64),
        sensitive={name: _histogram([[codes[name][row[name]] for row in rows] for rows in groups]) for name in trees},
        whole={name: _count([codes[name][row[name]] for row in table], tree.size) for name, tree in trees.items()},
        trees=trees,
        joint=lambda: _histogram([[combination(row) for row in rows] for rows in groups]),
    )


def _count(codes: Iterable[int], size: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    counted = Counter(codes)
    return np.array([counted[code] for code in range(size)], dtype=np.int64)


def _histogram(groups: Sequence[Sequence[int]]) -> Histogram:
    offsets, values, counts = [0], [], []
    for codes in groups:
        for code, count in Counter(codes).items():
            values.append(code)
            counts.append(count)
        offsets.append(len(values))
    return Histogram(
        np.array(offsets, dtype=np.int64), np.array(values, dtype=np.int32), np.array(counts, dtype=np.int64)
    )


def k_anonymity(model: KAnonymity, members: Members, table: Members) -> bool:
    """At least k members."""
    return len(members) >= model.k


def distinct_l_diversity(model: DistinctLDiversity, members: Members, table: Members) -> bool:
    """At least l different values."""
    return all(len(set(values)) >= model.l for values in _columns(model, members))


def probabilistic_l_diversity(model: ProbabilisticLDiversity, members: Members, table: Members) -> bool:
    """No value has more than a share of 1/l."""
    return all(max(Counter(values).values()) * _exact(model.l) <= len(values) for values in _columns(model, members))


def recursive_l_diversity(model: RecursiveLDiversity, members: Members, table: Members) -> bool:
    """r1 < c · (rl + … + rm)."""
    for values in _columns(model, members):
        counts = sorted(Counter(values).values(), reverse=True)
        if not counts[0] < _exact(model.c) * sum(counts[model.l - 1 :]):
            return False
    return True


def entropy_l_diversity(model: EntropyLDiversity, members: Members, table: Members) -> bool:
    """−Σ p·log p ≥ log l, up to the rounding of logarithms."""
    for values in _columns(model, members):
        shares = [count / len(values) for count in Counter(values).values()]
        if -math.fsum(share * math.log(share) for share in shares) < math.log(model.l) - 1e-12:
            return False
    return True


DEFINITIONS: Mapping[type, Definition] = {
    KAnonymity: k_anonymity,
    DistinctLDiversity: distinct_l_diversity,
    EntropyLDiversity: entropy_l_diversity,
    ProbabilisticLDiversity: probabilistic_l_diversity,
    RecursiveLDiversity: recursive_l_diversity,
}
"""Models that are judged by definition; any other model judges itself, on groups that were counted here."""


def satisfied(model: Any, groups: Sequence[Members], table: Members, trees: Mapping[str, Tree]) -> list[bool]:
    """Return one verdict per group."""
    definition = DEFINITIONS.get(type(model))
    if definition is not None:
        return [definition(model, members, table) for members in groups]
    return [bool(verdict) for verdict in model.satisfied(count_groups(groups, table, trees))]


def _columns(model: Any, members: Members) -> list[list[object]]:
    """Return what counts of each column that the model looks at: all values, or those that are recorded, if any is."""
    names = [model.column] if model.column is not None else list(members[0])
    columns = [[member[name] for member in members] for name in names]
    if model.missing == "counts":
        return columns
    return [[value for value in values if value is not None] or values for values in columns]


def _exact(parameter: float) -> Fraction:
    """Return the number that the user wrote: 0.1 is a tenth, not the binary fraction next to it."""
    return Fraction(str(parameter))
