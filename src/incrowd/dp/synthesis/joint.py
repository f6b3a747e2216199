"""What a model says of columns that are in no clique together: exact, by sums sent along its junction tree.

Every clique collects, from the leaves to the root, how likely the cells of all columns below it are together with what
it shares with the clique above. Two columns meet in the clique where their branches come together. All columns of a
branch are one matrix, so that a whole branch meets another in one product. A third column, the class, may be carried
with every column: it is then in all cliques. Cost: a product of matrices for each two branches of a clique.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.dp.synthesis.beliefs import other_axes
from incrowd.dp.synthesis.junction_tree import Columns
from incrowd.dp.synthesis.maximum_entropy import Fitted


@dataclass(frozen=True, eq=False)
class _Branch:
    """What a clique and those below it tell the one above: the cells that they share × those of columns below."""

    shared: Columns
    columns: tuple[int, ...]
    likely: Floats
    """As an array with an axis for each shared column; the last axis has the cells of all columns one by one."""

    def first(self, axes: Columns) -> Floats:
        """Return it with some of the shared columns first, as blocks × cells of the others × cells below."""
        order = [self.shared.index(one) for one in (*axes, *(each for each in self.shared if each not in axes))]
        turned = self.likely.transpose(*order, len(self.shared))
        return turned.reshape(math.prod(turned.shape[: len(axes)]), -1, turned.shape[-1])


def _alike(branches: Sequence[_Branch]) -> list[list[_Branch]]:
    """Return branches by what they share with the clique above: there are often many that share the same column."""
    found: dict[Columns, list[_Branch]] = {}
    for branch in branches:
        found.setdefault(branch.shared, []).append(branch)
    return list(found.values())


def _merged(branches: Sequence[_Branch]) -> list[_Branch]:
    """Return one branch for all that share the same columns."""
    return [
        _Branch(
            alike[0].shared,
            tuple(one for branch in alike for one in branch.columns),
            np.concatenate([branch.likely for branch in alike], axis=-1),
        )
        for alike in _alike(branches)
    ]


class Joint:
    """The joint probabilities of sets of columns under a model."""

    def __init__(self, model: Fitted, carried: int | None) -> None:
        self._tree, self._beliefs, self._carried = model.tree, model.probabilities, carried
        self._holding: dict[int, set[int]] = defaultdict(set)
        self._size: dict[int, int] = {}
        for place, clique in enumerate(model.tree.cliques):
            for axis, column in enumerate(clique):
                self._holding[column].add(place)
                self._size[column] = model.probabilities[place].shape[axis]
        # The clique nearest to the root that holds a column: parents come before their children.
        self._home = {column: min(places) for column, places in self._holding.items()}
        self._below: dict[int, list[int]] = defaultdict(list)
        for place, above in enumerate(model.tree.parents):
            if above >= 0:
                self._below[above].append(place)

    def within(self, columns: Columns) -> int | None:
        """Return the smallest clique that holds some columns, if there is one."""
        holding = set.intersection(*(self._holding[one] for one in columns))
        return min(holding, key=lambda place: (self._beliefs[place].size, place)) if holding else None

    def tables(self, wanted: Iterable[Columns]) -> dict[Columns, Floats]:
        """Return the probabilities of each set: one in a clique, two columns, or two and the one that is carried."""
        found: dict[Columns, Floats] = {}
        apart: dict[Columns, list[Columns]] = defaultdict(list)
        for columns in wanted:
            host = self.within(columns)
            if host is not None:
                found[columns] = self._beliefs[host].sum(axis=other_axes(self._tree.cliques[host], columns))
            else:
                apart[tuple(one for one in columns if one != self._carried)].append(columns)
        if apart:
            for pair, table in self._all_apart():  # class × one × other
                for columns in apart.get(pair, ()):
                    found[columns] = table.sum(axis=0) if len(columns) == len(pair) else np.moveaxis(table, 0, 2)
        return found

    def _all_apart(self) -> Iterator[tuple[Columns, Floats]]:
        """Yield all pairs of columns that are in no clique together, the smaller first, by class."""
        branches: dict[int, _Branch] = {}
        for place in range(len(self._beliefs) - 1, -1, -1):
            here = [branches.pop(one) for one in self._below[place]]
            own = tuple(one for one in self._tree.cliques[place] if self._home[one] == place and one != self._carried)
            for branch in _merged(here):
                for one, table in self._met(place, branch, own):
                    yield from self._pairs(branch.columns, (one,), table)
            for left, right in combinations(_merged(here), 2):
                yield from self._pairs(left.columns, right.columns, self._together(place, left, right))
            for alike in _alike(here):
                yield from self._meeting(place, alike)
            if place:
                branches[place] = self._branch(place, here, own)

    def _branch(self, place: int, here: Sequence[_Branch], own: Columns) -> _Branch:
        """Return what a clique tells the one above it."""
        shared = self._tree.shared[place]
        parts = [self._table(place, (*shared, one)) for one in own]
        for branch in _merged(here):
            both = tuple(one for one in shared if one in branch.shared)
            rest = tuple(one for one in shared if one not in both)
            carried_on = self._ratio(place, both, rest, branch) @ branch.first(both)
            shape = [self._size[one] for one in (*both, *rest)]
            turned = carried_on.reshape(*shape, carried_on.shape[-1])
            parts.append(turned.transpose(*((*both, *rest).index(one) for one in shared), len(shared)))
        columns = (*own, *(one for branch in _merged(here) for one in branch.columns))
        return _Branch(shared, columns, np.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0])

    def _met(self, place: int, branch: _Branch, own: Columns) -> Iterator[tuple[int, Floats]]:
        """Yield how a branch goes with each column of the clique above it: class × cells below × cells."""
        blocks = self._blocks
        below = branch.first(blocks)
        for one in own:
            if one in branch.shared:
                turned = branch.first((*blocks, one)).sum(axis=1)
                yield one, np.swapaxes(turned.reshape(len(below), self._size[one], -1), 1, 2)
            else:
                given = self._ratio(place, blocks, (one,), branch)
                yield one, np.swapaxes(given @ below, 1, 2)

    def _together(self, place: int, one: _Branch, other: _Branch) -> Floats:
        """Return how likely the cells below one branch and below another are: class × cells × cells."""
        both = tuple(each for each in one.shared if each in other.shared)
        both = (*self._blocks, *(each for each in both if each not in self._blocks))
        rest = tuple(each for each in one.shared if each not in both)
        weights = self._ratio(place, both, rest, other)
        alone = self._table(place, (*both, *rest)).reshape(weights.shape[0], weights.shape[1], 1)
        weights = np.divide(weights, alone, out=np.zeros_like(weights), where=alone > 0)
        carried_on = weights @ other.first(both)
        blocks = self._size[self._blocks[0]] if self._blocks else 1
        left = one.first((*both, *rest)).reshape(blocks, -1, one.likely.shape[-1])
        return np.asarray(np.swapaxes(left, 1, 2) @ carried_on.reshape(blocks, left.shape[1], -1))

    def _meeting(self, place: int, alike: Sequence[_Branch]) -> Iterator[tuple[Columns, Floats]]:
        """Yield the pairs of columns of different branches that share the same columns with the clique above."""
        if len(alike) == 1:
            return
        [merged] = _merged(alike)
        table, first = self._together(place, merged, merged), 0
        for number, branch in enumerate(alike):
            last = first + branch.likely.shape[-1]
            others = [one for other in alike[number + 1 :] for one in other.columns]
            yield from self._pairs(branch.columns, others, table[:, first:last, last:])
            first = last

    @property
    def _blocks(self) -> Columns:
        return () if self._carried is None else (self._carried,)

    def _ratio(self, place: int, both: Columns, rest: Columns, branch: _Branch) -> Floats:
        """Return how likely `both` and `rest` are, given what a branch shares: blocks × rest × others shared."""
        others = tuple(one for one in branch.shared if one not in both)
        joint = self._table(place, (*both, *rest, *others))
        alone = joint.sum(axis=tuple(range(len(both), len(both) + len(rest))), keepdims=True)
        given = np.divide(joint, alone, out=np.zeros_like(joint), where=alone > 0)
        cells = [math.prod(self._size[one] for one in some) for some in (both, rest, others)]
        return np.asarray(given.reshape(cells))

    def _table(self, place: int, columns: Columns) -> Floats:
        """Return how likely the cells of some columns of a clique are, with its axes in their order."""
        clique = self._tree.cliques[place]
        sums = self._beliefs[place].sum(axis=other_axes(clique, columns))
        kept = [one for one in clique if one in columns]
        return np.ascontiguousarray(sums.transpose([kept.index(one) for one in columns]))

    def _pairs(self, ones: Sequence[int], others: Sequence[int], table: Floats) -> Iterator[tuple[Columns, Floats]]:
        """Cut a table of all columns of two branches into one for each pair."""
        first = 0
        for one in ones:
            rows = table[:, first : first + self._size[one]]
            first += self._size[one]
            start = 0
            for other in others:
                found = rows[:, :, start : start + self._size[other]]
                start += self._size[other]
                yield ((one, other), found) if one < other else ((other, one), np.swapaxes(found, 1, 2))
