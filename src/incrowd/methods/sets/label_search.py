"""Recoding by occurrence: one label after the other is shown in as many sets as is safe.

A label is a node that sets show. Labels come one by one: first the items themselves, the frequent ones first; then the
nodes above them, small ones first, for occurrences that still show nothing. Rare items may wait until the nodes above
them have been offered: shown by themselves in a few sets, they are in the way of others.

A label is offered to every set with such an occurrence. All combinations of at most m labels that it would be in are
counted; sets with an unsafe one are taken out, and the rest is counted again, until all are safe. For k^m-anonymity
that is the largest part of these sets in which the label is safe, since a combination that is too rare in a part is no
less rare in less of it. Combinations without the new label stay as they were. So whatever is shown is safe at all
times, and more labels never lose anything.

Cost: each label counts the combinations that it is in, a few times; together some times m times the combinations of
all sets.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.arrays import Bools, Codes, Ints
from incrowd.common.progress import Progress
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_model import SetModel
from incrowd.hierarchies.nodes import NOTHING, Nodes
from incrowd.kernels.set_arrays import holders
from incrowd.kernels.set_labels import give_label, peel, sets_lacking, write_labels


def show_more(
    sets: ItemSets, nodes: Nodes, model: SetModel, shown: Codes, progress: Progress, *, frequent: int = 0
) -> Codes:
    """Return what is shown at each place of `sets.items` after labels were added to what was, which must be safe.

    Labels that are shown already are shown nowhere else. Nodes that fewer than `frequent` people have come last.
    """
    starts, having, places = holders(sets.offsets, sets.items, nodes.size)
    labels = shown.astype(np.int32)
    leads = _leads(sets, labels)
    seen = np.full(len(sets), -1, dtype=np.int32)
    watch = model.max_share < 1 and sets.sensitive is not None
    none = np.full(len(sets), -1, dtype=np.int32)
    sensitive = none if sets.sensitive is None else sets.sensitive
    values = int(sensitive.max(initial=-1)) + 1 if watch else 0
    order = _order(sets, nodes, model, labels, frequent)
    for stamp, node in enumerate(order.tolist()):
        low, high = int(nodes.lows[node]), int(nodes.highs[node])
        # People who have an item show it by one label each, where shares count: so those who could have the item fall
        # into separate crowds, and what no crowd exceeds, all together do not.
        members = sets_lacking(starts, having, places, labels, low, high, seen, stamp, watch)
        counts = sets.counts[members]
        if counts.sum() < model.min_people:
            continue
        offsets, items = write_labels(sets.offsets, labels, leads, members)
        inside = peel(
            offsets, items, counts, sensitive[members], values, len(nodes), model.known_items, model.min_people,
            model.max_share, model.first_value,
        )  # fmt: skip
        give_label(sets.offsets, sets.items, labels, leads, members[inside], low, high, node)
        progress("showing labels", (stamp + 1) / len(order))
    return labels


def _order(sets: ItemSets, nodes: Nodes, model: SetModel, labels: Codes, frequent: int) -> Ints:
    """Return the labels to offer, small ones first, then frequent ones: none that is shown, too rare or of no use."""
    counts = np.concatenate(([0], np.cumsum(sets.item_counts(nodes.size))))
    occurrences = counts[nodes.highs] - counts[nodes.lows]
    order = np.lexsort((np.arange(len(nodes)), -occurrences, nodes.highs - nodes.lows, occurrences < frequent))
    offered = (occurrences >= model.min_people) & (nodes.penalties < 1.0)
    offered[labels] = False
    offered[NOTHING] = False
    return order[offered[order]]


def _leads(sets: ItemSets, labels: Codes) -> Bools:
    """Mark one place of each label of each set."""
    keys = sets.owners * (int(labels.max(initial=0)) + 1) + labels
    leads: Bools = np.zeros(len(labels), dtype=bool)
    leads[np.unique(keys, return_index=True)[1]] = True
    leads[labels == NOTHING] = False
    return leads
