"""An adversary in plain Python, who counts people: dictionaries and sets, and nobody else's code.

They have the published rows, the table before, and can tell whose each published row is: by a number that was kept
beside it, or by a pseudonym. What a release claims of people is judged by enumerating these.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Person = object
Holders = dict[Any, set[Person]]
"""Who has each value of a sensitive column."""

MOST_WAYS = 3000
"""So many ways to take everybody for one of their values are tried one by one."""


@dataclass(frozen=True)
class Published:
    """Published rows, and whose each of them is."""

    rows: Sequence[Row]
    whose: Sequence[Person]
    quasi: Sequence[str]
    sensitive: Sequence[str]

    @property
    def groups(self) -> dict[tuple[Any, ...], set[Person]]:
        """The people who have a row with each combination of labels."""
        found: dict[tuple[Any, ...], set[Person]] = {}
        for row, person in zip(self.rows, self.whose, strict=True):
            found.setdefault(tuple(row[name] for name in self.quasi), set()).add(person)
        return found

    @property
    def histories(self) -> dict[Person, set[tuple[Any, ...]]]:
        """The combinations of labels that each person's rows have."""
        found: dict[Person, set[tuple[Any, ...]]] = {}
        for row, person in zip(self.rows, self.whose, strict=True):
            found.setdefault(person, set()).add(tuple(row[name] for name in self.quasi))
        return found

    @property
    def crowds(self) -> list[set[Person]]:
        """Of each set of groups that somebody's rows are in, those who have a row in all of these."""
        groups = self.groups
        kinds = {frozenset(history) for history in self.histories.values()}
        return [set.intersection(*(groups[label] for label in kind)) for kind in kinds]

    def holders(self, crowd: set[Person], column: str) -> Holders:
        """Return who of a crowd has each value, in any row."""
        return holders(zip(self.rows, self.whose, strict=True), crowd, column)


def holders(rows: Iterator[tuple[Row, Person]] | zip[tuple[Row, Person]], crowd: set[Person], column: str) -> Holders:
    """Return who of a crowd has each value of a column."""
    found: Holders = {}
    for row, person in rows:
        if person in crowd:
            found.setdefault(row[column], set()).add(person)
    return found


def recorded(people: int, have: Holders, ignored: bool) -> tuple[int, Holders]:
    """Return how many people count, and who has what: missing is nobody's value who has another.

    Where missing values are ignored, people without any other are left out, unless all are.
    """
    others = set().union(*(those for value, those in have.items() if value is not None))
    have = {value: those if value is not None else those - others for value, those in have.items()}
    have = {value: those for value, those in have.items() if those}
    if not ignored or not others:
        return people, have
    return len(others), {value: those for value, those in have.items() if value is not None}


@dataclass(frozen=True)
class Crowd:
    """People who hide together, as one sensitive column shows them, next to everybody in the table."""

    size: int
    have: dict[Any, set[Person]]
    everybody: int
    all_have: dict[Any, set[Person]]

    def share(self, value: Any) -> Fraction:
        """The share of these people who have a value."""
        return Fraction(len(self.have.get(value, ())), self.size)

    def table_share(self, value: Any) -> Fraction:
        """The share of everybody in the table."""
        return Fraction(len(self.all_have[value]), self.everybody)

    def counts_each_way(self) -> Iterator[list[int]]:
        """Yield the counts of values, largest first, for each way to take everybody for one of their values."""
        values: dict[Person, list[Any]] = {}
        for value, people in self.have.items():
            for person in people:
                values.setdefault(person, []).append(value)
        for way in itertools.product(*values.values()):
            yield sorted((way.count(value) for value in set(way)), reverse=True)

    @property
    def ways(self) -> int:
        """How many such ways there are."""
        values: dict[Person, int] = {}
        for people in self.have.values():
            for person in people:
                values[person] = values.get(person, 0) + 1
        return math.prod(values.values())

    @property
    def least_spread(self) -> list[int]:
        """Counts at least as one-sided as each of these ways: the most frequent value takes all who have it, and so on.

        Whatever the way, its j most frequent values are taken for at most so many people as have one of j values.
        """
        left, found = self.size, []
        for count in sorted((len(people) for people in self.have.values()), reverse=True):
            if left:
                found.append(min(count, left))
                left -= found[-1]
        return found


def entropy(counts: Sequence[int]) -> float:
    """Return the entropy of counts."""
    total = sum(counts)
    return -math.fsum(count / total * math.log(count / total) for count in counts)


def recursive_ratio(counts: Sequence[int], l: int) -> float:
    """Return r1 / (rl + … + rm)."""
    rest = sum(sorted(counts, reverse=True)[l - 1 :])
    return max(counts) / rest if rest else math.inf


def distance_of_people(crowd: Crowd, order: Sequence[Any] | None = None) -> float:
    """Return the distance between a crowd's shares and the table's, where people have several values.

    Both are scaled to add up to 1; what that takes away is how many values people have. With an `order`, moving a share
    costs as many steps as it goes, of all there are.
    """
    here = {value: crowd.share(value) for value in crowd.all_have}
    there = {value: crowd.table_share(value) for value in crowd.all_have}
    each, on_average = sum(here.values()), sum(there.values())
    if order is None:
        moved = sum(abs(here[value] / each - there[value] / on_average) for value in here) / 2
    else:
        moved, carried = Fraction(0), Fraction(0)
        for value in order[:-1]:
            carried += here[value] / each - there[value] / on_average
            moved += abs(carried)
        moved = moved / (len(order) - 1) if len(order) > 1 else Fraction(0)
    return float(abs(each - on_average) + min(each, on_average) * moved)


@dataclass(frozen=True)
class Verdict:
    """Whether something holds, and the number that it reaches, where one is defined."""

    holds: bool
    reached: float | None = None


def _exact(number: Any) -> Fraction:
    return Fraction(str(number))


def _sizes(asked: Row, sizes: Sequence[int], name: str) -> Verdict:
    return Verdict(min(sizes) >= asked[name], float(min(sizes)))


def _prosecutor(asked: Row, sizes: Sequence[int]) -> Verdict:
    return Verdict(all(Fraction(1, size) <= _exact(asked["risk"]) for size in sizes), 1 / min(sizes))


def _marketer(asked: Row, sizes: Sequence[int]) -> Verdict:
    mean = Fraction(len(sizes), sum(sizes))
    return Verdict(mean <= _exact(asked["risk"]), float(mean))


OF_SIZES: Mapping[str, Callable[[Row, Sequence[int]], Verdict]] = {
    "k-anonymity": lambda asked, sizes: _sizes(asked, sizes, "k"),
    "bucket-size": lambda asked, sizes: _sizes(asked, sizes, "rows"),
    "prosecutor-risk": _prosecutor,
    "marketer-risk": _marketer,
}


def _distinct(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    """However everybody is taken for one of their values; what is said to be reached may be less."""
    true = all(min(map(len, crowd.counts_each_way())) >= asked["l"] for crowd in crowds if crowd.ways <= MOST_WAYS)
    reached = min(len(crowd.least_spread) for crowd in crowds)
    return Verdict(true and reached >= asked["l"], float(reached))


def _entropy(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    enough = math.log(asked["l"]) - 1e-9
    true = all(min(map(entropy, crowd.counts_each_way())) >= enough for crowd in crowds if crowd.ways <= MOST_WAYS)
    reached = min(entropy(crowd.least_spread) for crowd in crowds)
    return Verdict(true and reached >= enough, math.exp(reached))


def _recursive(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    true = all(
        recursive_ratio(counts, asked["l"]) < asked["c"]
        for crowd in crowds
        if crowd.ways <= MOST_WAYS
        for counts in crowd.counts_each_way()
    )
    reached = max(recursive_ratio(crowd.least_spread, asked["l"]) for crowd in crowds)
    return Verdict(true and reached < asked["c"], reached)


def _probabilistic(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    reached = min(1 / crowd.share(value) for crowd in crowds for value in crowd.have)
    return Verdict(reached >= _exact(asked["l"]), float(reached))


def _alpha(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    reached = max(crowd.share(value) for crowd in crowds for value in crowd.have)
    return Verdict(
        reached <= _exact(asked["alpha"]) and all(crowd.size >= asked["k"] for crowd in crowds), float(reached)
    )


def _full(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    reached = min(len(people) for crowd in crowds for people in crowd.have.values())
    return Verdict(reached >= asked["k"], float(reached))


def _bounded(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    bounds, rest = asked["bounds"], asked["default"]
    return Verdict(
        all(crowd.share(value) <= _exact(bounds.get(value, rest)) for crowd in crowds for value in crowd.have)
    )


def _gains(crowds: Sequence[Crowd]) -> Iterator[tuple[float, float]]:
    for crowd in crowds:
        for value in crowd.have:
            share = crowd.table_share(value)
            yield float((crowd.share(value) - share) / share), float(share)


def _basic_beta(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    reached = max(max(gain for gain, _ in _gains(crowds)), 0.0)
    return Verdict(reached <= asked["beta"] + 1e-9, reached)


def _enhanced_beta(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    return Verdict(all(gain <= min(asked["beta"], -math.log(share)) + 1e-9 for gain, share in _gains(crowds)))


def _disclosure(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    ratios = [
        abs(math.log(crowd.share(value) / crowd.table_share(value))) if crowd.share(value) else math.inf
        for crowd in crowds
        for value in crowd.all_have
        if crowd.share(value) or asked["absent"] == "violates"
    ]
    return Verdict(max(ratios) < asked["delta"] + 1e-9, max(ratios))


def _close(asked: Row, crowds: Sequence[Crowd]) -> Verdict:
    order = None
    ordered = asked["distance"] == "ordered" or (
        asked["distance"] is None
        and all(isinstance(value, int | float) for crowd in crowds for value in crowd.all_have)
    )
    if asked["distance"] is None and None in crowds[0].have and None not in crowds[0].all_have:
        return Verdict(True)
    if ordered:
        if any(value is None for crowd in crowds for value in crowd.all_have):
            return Verdict(True)
        order = sorted(crowds[0].all_have)
    elif asked["distance"] == "hierarchical":
        return Verdict(True)
    reached = max(distance_of_people(crowd, order) for crowd in crowds)
    return Verdict(reached <= asked["t"] + 1e-9, reached)


OF_VALUES: Mapping[str, Callable[[Row, Sequence[Crowd]], Verdict]] = {
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "probabilistic-l-diversity": _probabilistic,
    "alpha-k-anonymity": _alpha,
    "full-k-anonymity": _full,
    "confidence-bounds": _bounded,
    "basic-beta-likeness": _basic_beta,
    "enhanced-beta-likeness": _enhanced_beta,
    "delta-disclosure": _disclosure,
    "t-closeness": _close,
}


def judge(
    claim: Row, crowds: Sequence[set[Person]], seen: Published, table: Sequence[tuple[Row, Person]]
) -> str | None:
    """Return what is wrong with a claim about people, or nothing; `table` are the rows before, and whose each is."""
    name, asked = claim["model"], claim["parameters"]
    if name in OF_SIZES:
        verdicts = [OF_SIZES[name](asked, [len(crowd) for crowd in crowds])]
    elif name in OF_VALUES:
        everybody = {person for _, person in table}
        columns = seen.sensitive if asked.get("column") is None else [asked["column"]]
        verdicts = []
        for column in columns:
            ignored = asked.get("missing") == "ignored"
            total, all_have = recorded(len(everybody), holders(iter(table), everybody, column), ignored)
            found = []
            for crowd in crowds:
                size, have = recorded(len(crowd), seen.holders(crowd, column), ignored)
                found.append(Crowd(size, have, total, all_have))
            verdicts.append(OF_VALUES[name](asked, found))
    else:
        return None
    if not all(verdict.holds for verdict in verdicts):
        return f"counted in people, {claim['statement']} does not hold: {verdicts}"
    reached = [verdict.reached for verdict in verdicts if verdict.reached is not None]
    told = claim["achieved"]
    if reached and not any(_same(one, told) for one in reached):
        return f"{claim['statement']}: {told} is said to be achieved, {reached} was counted"
    if reached and len(reached) == len(verdicts) and name not in OF_SIZES and not _is_worst(name, told, reached):
        return f"{claim['statement']}: {told} is not the worst of {reached}"
    return None


_LARGER_IS_BETTER = ("distinct-l-diversity", "entropy-l-diversity", "probabilistic-l-diversity", "full-k-anonymity")


def _is_worst(name: str, told: float | None, reached: Sequence[float]) -> bool:
    return _same(min(reached) if name in _LARGER_IS_BETTER else max(reached), told)


def _same(counted: float, told: float | None) -> bool:
    if told is None:
        return math.isinf(counted)
    return math.isclose(counted, told, rel_tol=1e-9, abs_tol=1e-9)


def label_holds(label: str | None, value: object, nodes: Mapping[str, set[object]] | None = None) -> bool:
    """Whether a published label is true of a value: names, sets of names, ranges of numbers, masked codes, and `*`.

    `nodes` are the names of a hierarchy's nodes, with the values below them.
    """
    if label is None:
        return value is None
    if label == "*":
        return True
    if value is None:
        return False
    if label.startswith("{"):
        return any(label_holds(name, value, nodes) for name in _names(label))
    if nodes and label in nodes:
        return value in nodes[label]
    if isinstance(value, str):
        masked = label.replace("*", "")
        return label == value or ("*" in label and value.startswith(masked) and len(value) == len(label))
    number = float(value)  # type: ignore[arg-type]
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return float(low) <= number and (number <= float(high) if label.endswith("]") else number < float(high))
    if label.startswith("<"):
        return number < float(label[1:])
    if label.startswith(">="):
        return number >= float(label[2:])
    return number == float(label)


def bounds(label: str | None) -> list[float]:
    """Return the finite bounds of a range of numbers that is not a single value."""
    if label is None or label == "*":
        return []
    if label.startswith("["):
        return [float(bound) for bound in label[1:-1].split(", ")]
    if label.startswith("<"):
        return [float(label[1:])]
    return [float(label[2:])] if label.startswith(">=") else []


def _names(label: str) -> list[str]:
    inside, found = label[1:-1], []
    decoder = json.JSONDecoder()
    while inside:
        if inside.startswith('"'):
            name, end = decoder.raw_decode(inside)
        else:
            end = inside.find(", ") if ", " in inside else len(inside)
            name = inside[:end]
        found.append(name)
        inside = inside[end:].removeprefix(", ")
    return found
