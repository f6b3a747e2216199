"""Checking sets of items: how many people have each combination that occurs, and who is exposed by one.

This is independent of all methods: it looks at the sets that are published and at nothing else.

Cost: time grows with the combinations of at most m items in all sets, each set counted by itself; memory with m times
the items of all sets. A set of 70 items has 54,740 combinations of 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.common.arrays import Codes, Ints
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_model import SetModel
from incrowd.errors import SchemaError
from incrowd.kernels.set_supports import survey_supports


@dataclass(frozen=True)
class SizeExposure:
    """The combinations of one size: how many occur, how many are unsafe, and the worst of them."""

    size: int
    combinations: int
    unsafe: int
    smallest_support: int | None
    """People who have the rarest combination; None if there is no combination of this size."""
    largest_share: float
    """The largest share of one sensitive value among the people who have one combination."""


@dataclass(frozen=True)
class SetExposure:
    """What somebody can find who knows some items of a person."""

    by_size: tuple[SizeExposure, ...]
    people: int
    exposed: int
    """People with an unsafe combination."""
    expected_success: float
    """Mean, over people, of the chance to find the person among those who share the rarest combination of theirs."""

    @property
    def holds(self) -> bool:
        """Whether no combination is unsafe."""
        return all(one.unsafe == 0 for one in self.by_size)

    @property
    def exposed_share(self) -> float:
        """Share of people with an unsafe combination."""
        return self.exposed / self.people if self.people else 0.0

    @property
    def smallest_support(self) -> int | None:
        """People who have the rarest combination of any size; None if nothing is shown."""
        found = [one.smallest_support for one in self.by_size if one.size and one.smallest_support is not None]
        return min(found, default=None)


def holds(sets: ItemSets, model: SetModel, parts: Ints | None = None) -> bool:
    """Whether the sets satisfy a model; with `parts`, whether those of each part do by themselves.

    >>> from incrowd.models.sets.km_anonymity import KmAnonymity
    >>> sets, _ = ItemSets.from_pairs(np.array([0, 0, 1, 1, 2]), np.array([1, 2, 1, 2, 1]))
    >>> holds(sets, KmAnonymity(2, m=2)), holds(sets, KmAnonymity(3, m=1))
    (True, False)
    """
    return all(one.unsafe == 0 for one in _survey(sets, model, parts, np.empty(0, np.int64), np.empty(0, np.bool_)))


def exposure(sets: ItemSets, model: SetModel, parts: Ints | None = None) -> SetExposure:
    """Tell how exposed people are by their sets; with `parts`, among those of their own part."""
    if parts is None:
        smallest = np.full(len(sets), sets.people, dtype=np.int64)  # knowing nothing leaves everybody
    else:
        members = np.zeros(int(parts.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(members, parts, sets.counts)
        smallest = members[parts]
    exposed = np.zeros(len(sets), dtype=bool)
    by_size = _survey(sets, model, parts, smallest, exposed)
    people = sets.people
    if by_size[0].unsafe:
        exposed[:] = True
    success = float((sets.counts / np.maximum(smallest, 1)).sum() / people) if people else 0.0
    return SetExposure(by_size, people, int(sets.counts[exposed].sum()), success)


def _survey(
    sets: ItemSets, model: SetModel, parts: Ints | None, smallest: Ints, exposed: np.ndarray
) -> tuple[SizeExposure, ...]:
    watch = model.max_share < 1
    if watch and sets.sensitive is None:
        raise SchemaError(f"{model} needs a sensitive value of each person.")
    none = np.full(len(sets), -1, dtype=np.int32)
    sensitive = none if sets.sensitive is None else sets.sensitive
    values = int(sensitive.max(initial=-1)) + 1 if watch else 0
    found = [_whole(sets, model, parts, sensitive, values)]
    items, numbers = (sets.items, int(sets.items.max(initial=0)) + 1) if parts is None else _apart(sets, parts)
    for size in range(1, model.known_items + 1):
        many, unsafe, least, share = survey_supports(
            sets.offsets, items, sets.counts, sensitive, values, numbers, size, model.min_people, model.max_share,
            smallest, exposed,
        )  # fmt: skip
        found.append(SizeExposure(size, int(many), int(unsafe), int(least) if many else None, float(share)))
        if many == 0:
            break
    return tuple(found)


def _whole(sets: ItemSets, model: SetModel, parts: Ints | None, sensitive: Codes, values: int) -> SizeExposure:
    """Judge what is known of everybody without any item: sensitive values only, since nobody is told apart by nothing."""
    part = np.zeros(len(sets), dtype=np.int64) if parts is None else parts
    groups = int(part.max(initial=-1)) + 1
    totals = np.zeros(groups, dtype=np.int64)
    np.add.at(totals, part, sets.counts)
    held = np.zeros((groups, max(values, 1)), dtype=np.int64)
    watched = sensitive >= 0 if values else np.zeros(len(sets), dtype=bool)
    np.add.at(held, (part[watched], sensitive[watched]), sets.counts[watched])
    most = held.max(axis=1, initial=0)
    unsafe = int((most > model.max_share * totals + 1e-9).sum())
    there = totals > 0
    share = float((most[there] / totals[there]).max(initial=0.0))
    return SizeExposure(0, groups, unsafe, int(totals[there].min()) if there.any() else None, share)


def _apart(sets: ItemSets, parts: Ints) -> tuple[Codes, int]:
    """Number items anew so that those of different parts differ: then no combination is shared between parts."""
    numbers = int(sets.items.max(initial=0)) + 1
    keys = parts[sets.owners] * numbers + sets.items
    distinct, renumbered = np.unique(keys, return_inverse=True)
    return renumbered.astype(np.int32), max(len(distinct), 1)
