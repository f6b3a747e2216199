"""What several releases tell together, in plain Python: people, groups and counts in dictionaries, no array.

A release is a list of `(person, value, group)`, and `fakes[group]` values that nobody has. People whose value changed
are other people. Classes are people with the same groups in all releases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

Unit = tuple[Hashable, str]


@dataclass
class Shown:
    """One release as the adversary sees it."""

    people: dict[Hashable, tuple[str, Hashable]]
    fakes: dict[Hashable, list[str]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[tuple[Hashable, str], int]:
        found: Counter[tuple[Hashable, str]] = Counter((group, value) for value, group in self.people.values())
        found.update((group, value) for group, values in self.fakes.items() for value in values)
        return dict(found)


Class = tuple[Hashable, ...]


def classes_of(releases: Sequence[Shown]) -> tuple[dict[Class, int], dict[Unit, Class]]:
    """Return how many people each class has, counterfeits of a group as a class of their own, and whose it is."""
    vectors: dict[Unit, list[Hashable]] = defaultdict(lambda: [None] * len(releases))
    for at, release in enumerate(releases):
        for person, (value, group) in release.people.items():
            vectors[person, value][at] = group
    class_of = {unit: tuple(vector) for unit, vector in vectors.items()}
    sizes: dict[Class, int] = dict(Counter(class_of.values()))
    for at, release in enumerate(releases):
        for group, values in release.fakes.items():
            if values:
                sizes[("fake", at, group)] = len(values)
    return sizes, class_of


def groups_of(one: Class) -> list[tuple[int, Hashable]]:
    if one[0] == "fake":
        return [(one[1], one[2])]  # type: ignore[list-item]
    return [(at, group) for at, group in enumerate(one) if group is not None]


def possible(releases: Sequence[Shown], sizes: Mapping[Class, int], rounds: int) -> dict[tuple[Class, str], list[int]]:
    """Return the least and the most people of each class who have a value."""
    counts = [release.counts for release in releases]
    own_groups = {one: groups_of(one) for one in sizes}
    cells: dict[tuple[Class, str], list[int]] = {}
    shown: dict[tuple[int, Hashable], set[str]] = defaultdict(set)
    for at, counted in enumerate(counts):
        for group, value in counted:
            shown[at, group].add(value)
    for one in sizes:
        for value in set.intersection(*(shown[at, group] for at, group in own_groups[one])):
            cells[one, value] = [0, sizes[one]]
    members: dict[tuple[int, Hashable, str], list[Class]] = defaultdict(list)
    values: dict[Class, list[str]] = defaultdict(list)
    for one, value in cells:
        values[one].append(value)
        for at, group in own_groups[one]:
            members[at, group, value].append(one)
    for _ in range(rounds):
        old = {cell: list(bounds) for cell, bounds in cells.items()}
        for (one, value), bounds in cells.items():
            others = [old[one, other] for other in values[one] if other != value]
            least, most = [sizes[one] - sum(b for _, b in others)], [sizes[one] - sum(a for a, _ in others)]
            for at, group in own_groups[one]:
                same = [old[other, value] for other in members[at, group, value] if other != one]
                least.append(counts[at][group, value] - sum(b for _, b in same))
                most.append(counts[at][group, value] - sum(a for a, _ in same))
            bounds[0], bounds[1] = max(bounds[0], *least), min(bounds[1], *most)
        if cells == old:
            break
    return cells


def likely(
    releases: Sequence[Shown],
    sizes: Mapping[Class, int],
    cells: Mapping[tuple[Class, str], Sequence[int]],
    sweeps: int,
    close: float,
) -> dict[tuple[Class, str], float]:
    """Return how many people of each class have a value, most likely; numbers that are known are taken out first."""
    counts: list[dict[tuple[Hashable, str], float]] = [dict(release.counts) for release in releases]
    own_groups = {one: groups_of(one) for one in sizes}
    left: dict[Class, float] = dict(sizes)
    values: dict[Class, list[str]] = defaultdict(list)
    for (one, value), (least, most) in cells.items():
        if least < most:
            values[one].append(value)
            continue
        left[one] -= least
        for at, group in own_groups[one]:
            counts[at][group, value] -= least
    found = {(one, value): left[one] / len(listed) for one, listed in values.items() for value in listed}
    alike: list[dict[tuple[Hashable, str], list[tuple[Class, str]]]] = [defaultdict(list) for _ in releases]
    for one, value in found:
        for at, group in own_groups[one]:
            alike[at][group, value].append((one, value))
    for _ in range(sweeps if found else 0):
        before = dict(found)
        for at, counted in enumerate(counts):
            for shown, members in alike[at].items():
                total = sum(found[cell] for cell in members)
                for cell in members if total > 0 else ():
                    found[cell] *= counted[shown] / total
        for one, listed in values.items():
            total = sum(found[one, value] for value in listed)
            for value in listed:
                found[one, value] *= left[one] / total if total else 1
        if max(abs(found[cell] - before[cell]) / sizes[cell[0]] for cell in found) <= close:
            break
    cut = {cell: float(min(max(found.get(cell, 0), least), most)) for cell, (least, most) in cells.items() if most > 0}
    for one in values:
        own = {value: cut[which, value] for which, value in cut if which == one}
        settled = settle(own, {value: cells[one, value] for value in own}, sizes[one])
        cut |= {(one, value): amount for value, amount in settled.items()}
    return cut


def settle(own: dict[str, float], bounds: Mapping[str, Sequence[int]], size: int) -> dict[str, float]:
    """Let the numbers of a class add up to its size again after they were cut to their bounds."""
    for _ in range(20):
        gap = size - sum(own.values())
        if abs(gap) <= 1e-9 * size:
            break
        moving = {v: x for v, x in own.items() if (x < bounds[v][1] if gap > 0 else x > bounds[v][0])}
        movable = sum(moving.values())
        if movable <= 0 or movable + gap <= 0:
            break
        scaled = {value: amount * (movable + gap) / movable for value, amount in moving.items()}
        own = own | {value: min(max(amount, bounds[value][0]), bounds[value][1]) for value, amount in scaled.items()}
    return own


def beliefs(
    releases: Sequence[Shown], rounds: int = 40, sweeps: int = 60, close: float = 1e-6
) -> dict[Unit, dict[str, float]]:
    """Return how much the adversary believes in each value of each person."""
    sizes, class_of = classes_of(releases)
    cells = possible(releases, sizes, rounds)
    amounts = likely(releases, sizes, cells, sweeps, close)
    of_class: dict[Class, dict[str, float]] = defaultdict(dict)
    for (one, value), amount in amounts.items():
        of_class[one][value] = amount / sizes[one]
    return {unit: of_class[one] for unit, one in class_of.items()}


def assignments(releases: Sequence[Shown]) -> Iterator[dict[Unit, str]]:
    """Yield every way to give everybody a value that agrees with all counts; without counterfeits, for few people."""
    _, class_of = classes_of(releases)
    units = sorted(class_of, key=repr)
    values = sorted({value for _, value in units})
    for drawn in product(values, repeat=len(units)):
        given = dict(zip(units, drawn, strict=True))
        if all(_agrees(release, given) for release in releases):
            yield given


def _agrees(release: Shown, given: Mapping[Unit, str]) -> bool:
    found = Counter((group, given[person, value]) for person, (value, group) in release.people.items())
    return found == Counter(release.counts)
