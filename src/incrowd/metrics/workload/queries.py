"""Random counting queries: `count(*) where A1 in r1 and … and S = s`.

A query asks about some quasi-identifiers, each number of them as likely as any other, and about the sensitive column.
Of an ordered column it asks for a range between two values drawn evenly from its domain; of names, for a random set of
them: neither is aligned with a hierarchy's nodes. Of the sensitive column it asks in half of the cases for one value,
else for a range or set (no single one of fifty values is held by a tenth of the rows, as large queries need).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Bools, Ints
from incrowd.common.records import dataclass
from incrowd.core.query import Query
from incrowd.core.tally import group_tuples
from incrowd.hierarchies.tree import Tree


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries as masks: query q asks column c for the codes where `matches[c][q]`, if `asked[q, place of c]` at all."""

    columns: tuple[str, ...]
    trees: Mapping[str, Tree]
    matches: Mapping[str, Bools]
    asked: Bools

    def __len__(self) -> int:
        return len(self.asked)

    def take(self, queries: NDArray[np.integer]) -> Workload:
        """Return some of the queries."""
        return replace(
            self, matches={name: mask[queries] for name, mask in self.matches.items()}, asked=self.asked[queries]
        )

    def by_columns(self) -> Iterator[tuple[tuple[str, ...], Ints]]:
        """Yield each combination of columns that is asked about, and the queries that ask about it."""
        if len(self):
            pattern_of, first = group_tuples(self.asked.astype(np.int32), [2] * len(self.columns))
            for number, pattern in enumerate(self.asked[first]):
                names = tuple(name for name, used in zip(self.columns, pattern, strict=True) if used)
                yield names, np.flatnonzero(pattern_of == number)

    def query(self, number: int) -> Query:
        """Return one of the queries as a release's `count` takes it."""
        conditions: dict[str, object] = {}
        for place, name in enumerate(self.columns):
            if self.asked[number, place]:
                codes = np.flatnonzero(self.matches[name][number])
                values = self._values[name]
                if self.trees[name].ordered and len(codes):
                    conditions[name] = (values[codes[0]], values[codes[-1]])
                else:
                    conditions[name] = [values[code] for code in codes]
        return conditions

    @cached_property
    def _values(self) -> dict[str, list[object]]:
        return {name: self.trees[name].values.to_list() for name in self.columns}


def draw_queries(
    trees: Mapping[str, Tree], quasi: Sequence[str], sensitive: str | None, number: int, rng: np.random.Generator
) -> Workload:
    """Draw queries, whatever their answers are; without a sensitive column, about quasi-identifiers only."""
    columns = (*quasi, *(() if sensitive is None else (sensitive,)))
    asked = np.ones((number, len(columns)), dtype=bool)
    how_many = rng.integers(1, len(quasi) + 1, size=number)
    asked[:, : len(quasi)] = _random_subsets(rng, how_many, len(quasi))
    matches = {name: _draw_conditions(trees[name], number, rng) for name in quasi}
    if sensitive is not None:
        one_value = _one_value(trees[sensitive], number, rng)
        several = _draw_conditions(trees[sensitive], number, rng)
        matches[sensitive] = np.where(rng.random((number, 1)) < 0.5, one_value, several)
    for place, name in enumerate(columns):
        matches[name][~asked[:, place]] = True
    return Workload(columns, {name: trees[name] for name in columns}, matches, asked)


def _draw_conditions(tree: Tree, number: int, rng: np.random.Generator) -> Bools:
    """Draw ranges or sets of a column's values; missing, code 0, is in none."""
    matches = np.zeros((number, tree.size), dtype=bool)
    known = tree.size - 1
    if not known:
        return matches
    if tree.ordered:
        ends = np.sort(rng.integers(0, known, size=(number, 2)), axis=1)
        codes = np.arange(known)
        matches[:, 1:] = (codes >= ends[:, :1]) & (codes <= ends[:, 1:])
    else:
        matches[:, 1:] = _random_subsets(rng, rng.integers(1, max(known, 2), size=number), known)
    return matches


def _one_value(tree: Tree, number: int, rng: np.random.Generator) -> Bools:
    matches = np.zeros((number, tree.size), dtype=bool)
    if tree.size > 1:
        matches[np.arange(number), rng.integers(1, tree.size, size=number)] = True
    return matches


def _random_subsets(rng: np.random.Generator, sizes: Ints, among: int) -> Bools:
    """Return a random subset of each size, all subsets of a size as likely as each other."""
    drawn = rng.random((len(sizes), among))
    # Those with the smallest numbers: to sort these is faster than to sort places by them.
    largest = np.sort(drawn, axis=1)[np.arange(len(sizes)), sizes - 1]
    return (drawn <= largest[:, None]) & (sizes[:, None] > 0)


def join_workloads(parts: Sequence[Workload]) -> Workload:
    """Put workloads about the same columns one after the other."""
    first = parts[0]
    matches = {name: np.concatenate([part.matches[name] for part in parts]) for name in first.matches}
    return replace(first, matches=matches, asked=np.concatenate([part.asked for part in parts]))
