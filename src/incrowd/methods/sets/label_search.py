"""Recoding by occurrence: one label after the other is shown in as many sets as is safe."""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Codes
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_model import SetModel
from incrowd.hierarchies.nodes import Nodes
from incrowd.kernels.set_arrays import holders
from incrowd.kernels.set_labels import give_label, peel, sets_lacking, write_labels


def show_labels(sets: ItemSets, nodes: Nodes, model: SetModel, order) -> Codes:
    size = nodes.size
    starts, having, places = holders(sets.offsets, sets.items, size)
    labels = np.zeros(len(sets.items), dtype=np.int32)
    counts_for = np.zeros(len(sets.items), dtype=bool)
    seen = np.full(len(sets), -1, dtype=np.int32)
    sensitive = np.full(len(sets), -1, dtype=np.int32) if sets.sensitive is None else sets.sensitive
    values = int(sensitive.max(initial=-1)) + 1 if model.max_share < 1 else 0
    for stamp, node in enumerate(order):
        low, high = int(nodes.lows[node]), int(nodes.highs[node])
        members = sets_lacking(starts, having, places, labels, low, high, seen, stamp)
        offsets, items = write_labels(sets.offsets, labels, counts_for, members)
        inside = peel(offsets, items, sets.counts[members], sensitive[members], values, len(nodes),
                      model.known_items, model.min_people, model.max_share)
        give_label(sets.offsets, sets.items, labels, counts_for, members[inside], low, high, node)
    return labels
