"""An outsider in plain Python, with a published file, hierarchies, and the quasi-identifiers of people.

It knows nothing of the package. Who is behind which row is only used to count how often it is right.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

Label = range | frozenset[str]


@dataclass
class Success:
    """How often the outsider is right, per person, by each rule."""

    links: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    guesses: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    certain: float = 0.0


def read_label(text: str, tree: Mapping[str, frozenset[str]] | tuple[int, int]) -> Label:
    """Return what a label stands for: whole numbers, or names."""
    if isinstance(tree, tuple):
        if text == "*":
            return range(*tree)
        if text.isdigit():
            return range(int(text), int(text) + 1)
        bounds = re.fullmatch(r"\[(\d+), (\d+)\)", text)
        assert bounds is not None, text
        return range(int(bounds[1]), int(bounds[2]))
    names = text[1:-1].split(", ") if text.startswith("{") else [text]
    return frozenset().union(*(tree[name] for name in names))


def attack_file(
    path: Path,
    people: Sequence[Mapping[str, object]],
    trees: Mapping[str, Mapping[str, frozenset[str]] | tuple[int, int]],
    secret: str,
    *,
    own_row: str | None = None,
) -> Success:
    """Look for each person among the rows of a file by some rules; `own_row` is a column that tells whose a row is."""
    quasi = sorted(trees)
    with path.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    home: dict[str, tuple[str, ...]] = {}
    for row in rows:
        labels = tuple(row[name] for name in quasi)
        groups[labels].append(row[secret])
        if own_row is not None:
            home[row[own_row]] = labels
    meant = {
        labels: [read_label(text, trees[name]) for name, text in zip(quasi, labels, strict=True)] for labels in groups
    }
    room = {labels: prod(len(label) for label in meant[labels]) for labels in groups}
    most = Counter(row[secret] for row in rows).most_common(1)[0][0]
    found, fitting_of = Success(), {}
    for person in people:
        known = tuple(person[name] for name in quasi)
        if known not in fitting_of:
            fitting_of[known] = [
                labels
                for labels in groups
                if all(value in label for value, label in zip(known, meant[labels], strict=True))
            ]
        fitting, own = fitting_of[known], str(person[secret])
        found.guesses["most"] += own == most
        if not fitting:
            continue
        tightest = [labels for labels in fitting if room[labels] == min(room[other] for other in fitting)]
        for rule, candidates in (("rows", fitting), ("tightest", tightest)):
            picked_from = sum(len(groups[labels]) for labels in candidates)
            if own_row is not None:
                found.links[rule] += (home.get(str(person[own_row])) in candidates) / picked_from
            found.guesses[rule] += _guess(dict.fromkeys(candidates, 1.0), groups, own)
        found.guesses["densest"] += _guess({labels: 1 / room[labels] for labels in fitting}, groups, own)
        found.certain += {value for labels in tightest for value in groups[labels]} == {own}
    for rates in (found.links, found.guesses):
        for rule in rates:
            rates[rule] /= len(people)
    found.certain /= len(people)
    return found


def _guess(weights: Mapping[tuple[str, ...], float], groups: Mapping[tuple[str, ...], list[str]], own: str) -> float:
    votes: Counter[str] = Counter()
    for labels, weight in weights.items():
        for value in groups[labels]:
            votes[value] += weight  # type: ignore[assignment]
    best = [value for value in votes if votes[value] > max(votes.values()) - 1e-12]
    return (own in best) / len(best)
