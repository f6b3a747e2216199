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

from incrowd.groups import Groups, Histogram
from incrowd.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
)

Row = Mapping[str, object]

Members = Sequence[Row]
"""The rows of one group: each maps a sensitive column to its value, None where it is missing."""

Definition = Callable[[Any, Members], bool]
"""Whether a group satisfies a model: the model with its parameters, and the group's members."""


def groups_of_rows(rows: Iterable[Row], quasi: Sequence[str], sensitive: Sequence[str]) -> list[list[Row]]:
    """Collect rows that show the same in every quasi-identifier; missing is a value like any other."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in quasi)
        found.setdefault(key, []).append({name: row[name] for name in sensitive})
    return list(found.values())


def count_groups(groups: Sequence[Members], sensitive: Sequence[str]) -> Groups:
    """Count groups one member at a time, for models that have no definition here."""
    return Groups(
        sizes=np.array([len(members) for members in groups], dtype=np.int64),
        sensitive={name: _histogram(groups, name) for name in sensitive},
    )


def _histogram(groups: Sequence[Members], name: str) -> Histogram:
    codes: dict[object, int] = {}
    offsets, values, counts = [0], [], []
    for members in groups:
        for value, count in Counter(member[name] for member in members).items():
            values.append(codes.setdefault(value, len(codes)))
            counts.append(count)
        offsets.append(len(values))
    return Histogram(
        np.array(offsets, dtype=np.int64), np.array(values, dtype=np.int32), np.array(counts, dtype=np.int64)
    )


def k_anonymity(model: KAnonymity, members: Members) -> bool:
    """At least k members."""
    return len(members) >= model.k


def distinct_l_diversity(model: DistinctLDiversity, members: Members) -> bool:
    """At least l different values."""
    return all(len(set(values)) >= model.l for values in _columns(model, members))


def probabilistic_l_diversity(model: ProbabilisticLDiversity, members: Members) -> bool:
    """No value has more than a share of 1/l."""
    return all(max(Counter(values).values()) * _exact(model.l) <= len(values) for values in _columns(model, members))


def recursive_l_diversity(model: RecursiveLDiversity, members: Members) -> bool:
    """r1 < c · (rl + … + rm)."""
    for values in _columns(model, members):
        counts = sorted(Counter(values).values(), reverse=True)
        if not counts[0] < _exact(model.c) * sum(counts[model.l - 1 :]):
            return False
    return True


def entropy_l_diversity(model: EntropyLDiversity, members: Members) -> bool:
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


def satisfied(model: Any, groups: Sequence[Members], sensitive: Sequence[str]) -> list[bool]:
    """Return one verdict per group, by definition where there is one, else by the model itself on naive counts."""
    definition = DEFINITIONS.get(type(model))
    if definition is not None:
        return [definition(model, members) for members in groups]
    return [bool(verdict) for verdict in model.satisfied(count_groups(groups, sensitive))]


def _columns(model: Any, members: Members) -> list[list[object]]:
    names = [model.column] if model.column is not None else list(members[0])
    return [[member[name] for member in members] for name in names]


def _exact(parameter: float) -> Fraction:
    """Return the number that the user wrote: 0.1 is a tenth, not the binary fraction next to it."""
    return Fraction(str(parameter))
