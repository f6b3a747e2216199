"""Move people between groups so that these lose less: the loops of `effort=` and `seconds=`.

An item is one or more rows with the same codes that stay together; `group_of[item]` is its group, -1 if it is withheld.
A group shows, column by column, all codes from its members' lowest to their highest, and what that loses is looked up
by `Losses`; columns that show means lose what their numbers are off by. The loops are in `native/improving.cpp`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.common.records import dataclass
from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Codes, Counts, Floats, Ints

MATRIX, NODES, LINE, SQUARED_LINE = 0, 1, 2, 3
"""How a column's losses are laid out: by lowest and highest code; by level and code, with the nodes of each level; or
by where each code's run begins and ends on a line, missing apart. The last is the square of such a length."""


@dataclass(frozen=True, eq=False)
class Losses:
    """What each column loses if it shows all codes between two, and how far it then has climbed, in the same places."""

    kinds: Ints
    sizes: Ints
    firsts: Ints
    node_firsts: Ints
    table: Floats
    climbs: Floats
    nodes: Codes


@dataclass(frozen=True, eq=False)
class Region:
    """Items that move among themselves: `members`, in their order; and of all items their region and place in it."""

    members: Ints
    region_of: Codes
    place_of: Codes

    @classmethod
    def whole(cls, items: int) -> Region:
        """Return all items as one."""
        every = np.arange(items)
        return cls(every, np.zeros(items, dtype=np.int32), every.astype(np.int32))


@dataclass(frozen=True, eq=False)
class Items:
    """Items to move, the items near each of them, and what bounds groups.

    `withheld` is what a withheld row loses, and no group may have climbed by more than `max_climb`. `numbers` are those
    of columns that show means, NaN where missing.
    """

    codes: Codes
    counts: Counts
    near: Codes
    losses: Losses
    max_climb: float
    withheld: float
    min_rows: int
    numbers: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def _layout(self) -> tuple[Any, ...]:
        lost = self.losses
        return (
            self.codes, self.counts, self.near, lost.kinds, lost.sizes, lost.firsts, lost.node_firsts, lost.table,
            lost.climbs, lost.nodes, float(self.max_climb), float(self.withheld), self.min_rows, self.numbers,
        )  # fmt: skip

    def anneal(
        self,
        values: Codes,
        min_values: Ints,
        tries: int,
        warmth: float,
        scale: float,
        seed: int,
        group_of: Ints,
        *,
        region: Region | None = None,
    ) -> float:
        """Try moves by chance, and keep those that lower the loss, or raise it by little; return what is lost then.

        Groups keep `min_rows` rows, and `min_values[c]` different values of `values[:, c]`, negative ones apart.
        `warmth` is how much a move that is kept may add, on average; `scale` what a group loses. Only items of the
        region move, and only among the groups of these: `group_of` and what is lost are theirs.
        """
        own = Region.whole(len(self.counts)) if region is None else region
        return float(
            call(
                "anneal", *self._layout(), values, min_values, own.members, own.region_of, own.place_of, tries,
                float(warmth), float(scale), seed, group_of,
            )
        )  # fmt: skip

    def propose(self, items: Ints, wanted: int, swaps: int, seed: int, group_of: Ints) -> tuple[Ints, Ints, Floats]:
        """Find the moves of some items that lower the loss most.

        Return where each item may go, which member of that group comes in its place (-1 for none), and the change of
        the loss, each with a row per item and `wanted` columns; where there are fewer, the change is 0. Of each group,
        `swaps` members are tried.
        """
        targets = np.empty((len(items), wanted), dtype=np.int64)
        partners, changes = np.empty_like(targets), np.empty(targets.shape)
        call("propose", *self._layout(), swaps, items, seed, group_of, threads(), targets, partners, changes)
        return targets, partners, changes


def near_items(codes: Codes, losses: Losses, wanted: int, may_visit: int) -> Codes:
    """Find the items with which each one would lose least, the nearest first; some are repeated where there are few.

    Items are searched as a tree, column by column; of each search, no more than `may_visit` branches are looked at.
    """
    near = np.empty((len(codes), min(wanted, max(len(codes) - 1, 0))), dtype=np.int32)
    call(
        "near_items", codes, losses.kinds, losses.sizes, losses.firsts, losses.node_firsts, losses.table, losses.nodes,
        may_visit, threads(), near,
    )  # fmt: skip
    return near
