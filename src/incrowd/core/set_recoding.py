"""What a method for sets decides: as which node each item of each set is shown, or that it is not."""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Codes
from incrowd.common.records import dataclass
from incrowd.core.item_sets import ItemSets
from incrowd.hierarchies.nodes import NOTHING, Nodes


@dataclass(frozen=True, eq=False)
class SetRecoding:
    """`shown[p]` is the node that stands for the item at place p of `ItemSets.items`, or `NOTHING`.

    A recoding is *global* if every item is shown as one node throughout, or never; *by parts* if that holds within each
    part of the sets; and *by occurrence* if it need not hold at all: then an item may be left out of any set. See
    `core.set_model` for what is guaranteed.
    """

    shown: Codes

    @classmethod
    def everywhere(cls, sets: ItemSets, node_of_item: Codes) -> SetRecoding:
        """Show every item as one node in all sets; `node_of_item` has a node per code."""
        return cls(node_of_item[sets.items].astype(np.int32))

    def published(self, sets: ItemSets) -> ItemSets:
        """Return the sets of nodes that people show, entry by entry."""
        return sets.shown_as(self.shown)

    def loss(self, sets: ItemSets, nodes: Nodes) -> float:
        """Return the mean penalty of all items that people have: 0 if all are shown as they are, 1 if none is."""
        weights = np.repeat(sets.counts, sets.lengths)
        total = int(weights.sum())
        return float((nodes.penalties[self.shown] * weights).sum() / total) if total else 0.0

    def suppressed(self, sets: ItemSets) -> int:
        """Return how many of all items that people have are not shown."""
        return int(np.repeat(sets.counts, sets.lengths)[self.shown == NOTHING].sum())
