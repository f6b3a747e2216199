"""Top-down specialization and bottom-up generalization once more, in plain Python over rows: the oracle for both.

A column is a dictionary from each name to its parent; the root is "*". Every name below it is in the table, so that no
node holds the same names as its child. The class is each row's last value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import log2

Row = tuple[str, ...]
Parents = dict[str, str]
Cut = frozenset[str]


def entropy(rows: Sequence[Row]) -> float:
    return -sum(n / len(rows) * log2(n / len(rows)) for n in Counter(row[-1] for row in rows).values())


def path(name: str, parents: Parents) -> list[str]:
    return [name] if name == "*" else [name, *path(parents[name], parents)]


class Column:
    def __init__(self, place: int, parents: Parents, rows: Sequence[Row], leaves: Sequence[str]) -> None:
        self.place, self.parents, self.leaves = place, parents, leaves
        self.paths = {name: path(name, parents) for name in {"*", *parents}}
        self.under = {node: [row for row in rows if node in path(row[place], parents)] for node in {"*", *parents}}
        self.children = {node: [name for name in parents if parents[name] == node] for node in {"*", *parents}}
        self.gains = {node: self._gain(node) for node in {"*", *parents} if self.under[node]}

    def show(self, row: Row, cut: Cut) -> str:
        return next(node for node in self.paths[row[self.place]] if node in cut)

    def gain(self, node: str) -> float:
        return self.gains[node]

    def _gain(self, node: str) -> float:
        rows = self.under[node]
        parts = [self.under[child] for child in self.children[node]]
        return round(entropy(rows) - sum(len(part) / len(rows) * entropy(part) for part in parts), 9)

    def penalty(self, node: str) -> float:
        names = sum(node in path(leaf, self.parents) for leaf in self.leaves)
        return len(self.under[node]) * (names - 1) / (len(self.leaves) - 1)

    def cost(self, node: str) -> float:
        return round(self.penalty(node) - sum(map(self.penalty, self.children[node])), 9)

    def first_leaf(self, node: str) -> int:
        return next(i for i, leaf in enumerate(self.leaves) if node in path(leaf, self.parents))


Cuts = tuple[Cut, ...]
Safe = Callable[[Sequence[Row]], bool]


def groups(rows: Sequence[Row], columns: Sequence[Column], cuts: Cuts) -> dict[tuple[str, ...], list[Row]]:
    # What a name is shown as is looked up once for each name, not for each row.
    shown = [
        {name: next(node for node in column.paths[name] if node in cut) for name in column.leaves}
        for column, cut in zip(columns, cuts, strict=True)
    ]
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = tuple(shown[place][row[column.place]] for place, column in enumerate(columns))
        found.setdefault(key, []).append(row)
    return found


def smallest(rows: Sequence[Row], columns: Sequence[Column], cuts: Cuts) -> int:
    return min(map(len, groups(rows, columns, cuts).values()))


def is_safe(rows: Sequence[Row], columns: Sequence[Column], cuts: Cuts, safe: Safe) -> bool:
    return all(safe(group) for group in groups(rows, columns, cuts).values())


def specialized(columns: Sequence[Column], cuts: Cuts) -> Iterator[tuple[Column, str, Cuts]]:
    for place, column in enumerate(columns):
        for node in cuts[place]:
            if column.children[node]:
                cut = (cuts[place] - {node}) | set(column.children[node])
                yield column, node, (*cuts[:place], cut, *cuts[place + 1 :])


def generalized(columns: Sequence[Column], cuts: Cuts) -> Iterator[tuple[Column, str, Cuts]]:
    for place, column in enumerate(columns):
        for node, children in column.children.items():
            if children and set(children) <= cuts[place]:
                cut = (cuts[place] - set(children)) | {node}
                yield column, node, (*cuts[:place], cut, *cuts[place + 1 :])


def specialize(rows: Sequence[Row], columns: Sequence[Column], safe: Safe) -> Cuts:
    cuts: Cuts = tuple(frozenset({"*"}) for _ in columns)
    while True:
        now = smallest(rows, columns, cuts)
        steps = []
        for column, node, then in specialized(columns, cuts):
            if is_safe(rows, columns, then, safe):
                loss = now - smallest(rows, columns, then)
                rank = (-column.gain(node) / (loss + 1), loss, -column.cost(node), column.place)
                steps.append((*rank, len(path(node, column.parents)) * -1, column.first_leaf(node), then))
        if not steps:
            return cuts
        cuts = min(steps, key=lambda step: step[:-1])[-1]


def generalize(rows: Sequence[Row], columns: Sequence[Column], safe: Safe) -> Cuts:
    cuts: Cuts = tuple(frozenset(column.leaves) for column in columns)
    while not is_safe(rows, columns, cuts, safe):
        now = smallest(rows, columns, cuts)
        steps = []
        for column, node, then in generalized(columns, cuts):
            gain = smallest(rows, columns, then) - now
            rank = (gain == 0, column.gain(node) / max(gain, 1), column.cost(node), column.place)
            steps.append((*rank, len(path(node, column.parents)) * -1, column.first_leaf(node), then))
        cuts = min(steps, key=lambda step: step[:-1])[-1]
    return cuts
