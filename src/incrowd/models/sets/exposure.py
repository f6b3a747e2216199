"""Checking sets of items: how many people have each combination that occurs, and who is exposed by one.

This is independent of all methods: it looks at the sets that are published and at nothing else.

Cost: time grows with the combinations of at most m items in all sets, each set counted by itself; memory with m times
the items of all sets. A set of 70 items has 54,740 combinations of 3.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Bools, Codes, Counts, Ints
from incrowd.common.records import dataclass
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


def holds(sets: ItemSets, model: SetModel) -> bool:
    """Whether the sets satisfy a model; where they are in parts, whether those of each part do by themselves.

    >>> from incrowd.models.sets.km_anonymity import KmAnonymity
    >>> sets, _ = ItemSets.from_pairs(np.array([0, 0, 1, 1, 2]), np.array([1, 2, 1, 2, 1]))
    >>> holds(sets, KmAnonymity(2, m=2)), holds(sets, KmAnonymity(3, m=1))
    (True, False)
    """
    return all(one.unsafe == 0 for one in _survey(sets, model, np.empty(0, np.int64), np.empty(0, np.bool_)))


def exposure(sets: ItemSets, model: SetModel) -> SetExposure:
    """Tell how exposed people are by their sets; where they are in parts, among those of their own part."""
    part = _part_of(sets)
    smallest = _sizes(sets, part)[part]  # knowing nothing leaves everybody
    exposed = np.zeros(len(sets), dtype=bool)
    by_size = _survey(sets, model, smallest, exposed)
    people = sets.people
    success = float((sets.counts / np.maximum(smallest, 1)).sum() / people) if people else 0.0
    return SetExposure(by_size, people, int(sets.counts[exposed].sum()), success)


def _survey(sets: ItemSets, model: SetModel, smallest: Counts, exposed: Bools) -> tuple[SizeExposure, ...]:
    """Look at combinations of growing size; note what each set is exposed to, unless the arrays for that are empty."""
    watch = model.max_share < 1
    if watch and sets.sensitive is None:
        raise SchemaError(f"{model} needs a sensitive value of each person.")
    none = np.full(len(sets), -1, dtype=np.int32)
    sensitive = none if sets.sensitive is None else sets.sensitive
    values = int(sensitive.max(initial=-1)) + 1 if watch else 0
    found = [_without_items(sets, model, sensitive, values, exposed)]
    items, numbers = _apart(sets)
    for size in range(1, model.known_items + 1):
        many, unsafe, least, share = survey_supports(
            sets.offsets, items, sets.counts, sensitive, values, numbers, size, model.min_people, model.max_share,
            model.first_value, smallest, exposed,
        )  # fmt: skip
        found.append(SizeExposure(size, int(many), int(unsafe), int(least) if many else None, float(share)))
        if many == 0:
            break
    return tuple(found)


def _part_of(sets: ItemSets) -> Ints:
    return np.zeros(len(sets), dtype=np.int64) if sets.parts is None else sets.parts


def _sizes(sets: ItemSets, part: Ints) -> Counts:
    """Return how many people each part has."""
    sizes = np.zeros(int(part.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sizes, part, sets.counts)
    return sizes


def _without_items(sets: ItemSets, model: SetModel, sensitive: Codes, values: int, exposed: Bools) -> SizeExposure:
    """Judge what is known of people without any item: sensitive values only, since nothing tells people apart."""
    part = _part_of(sets)
    sizes = _sizes(sets, part)
    held = np.zeros((len(sizes), max(values, 1)), dtype=np.int64)
    watched = sensitive >= 0 if values else np.zeros(len(sets), dtype=bool)
    np.add.at(held, (part[watched], sensitive[watched]), sets.counts[watched])
    of_all = sizes.copy()
    if values:
        of_all -= held[:, : model.first_value].sum(axis=1)
        held[:, : model.first_value] = 0
    most = held.max(axis=1, initial=0)
    if values:  # where nobody's value is recorded, all are taken to have one
        most, of_all = np.where(of_all > 0, most, sizes), np.where(of_all > 0, of_all, sizes)
    unsafe = most > model.max_share * of_all + 1e-9
    if len(exposed):
        exposed |= unsafe[part]
    there = sizes > 0
    share = float((most[there] / of_all[there]).max(initial=0.0))
    smallest = int(sizes[there].min()) if there.any() else None
    return SizeExposure(0, int(there.sum()), int(unsafe.sum()), smallest, share)


def _apart(sets: ItemSets) -> tuple[Codes, int]:
    """Number items so that those of different parts differ: then no combination is shared between parts."""
    numbers = int(sets.items.max(initial=0)) + 1
    if sets.parts is None:
        return sets.items, numbers
    distinct, renumbered = np.unique(sets.parts[sets.owners] * numbers + sets.items, return_inverse=True)
    return renumbered.astype(np.int32), max(len(distinct), 1)
