"""Local recoding of sets, occurrence by occurrence: an item may be shown as itself in one set and as a node in another.

Local recoding loses less than global, since an item that is rare together with others is common without them
(Terrovitis, Mamoulis & Kalnis 2011 cut the sets into parts for that, and He & Naughton 2009 split them from the top).
Here there are no parts to choose: what is counted are the labels that all sets show. See `label_search` for how, and
for the cost; `core.set_model` says what is guaranteed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.core.set_recoding import SetRecoding
from incrowd.hierarchies.nodes import Nodes
from incrowd.methods.sets.label_search import show_more
from incrowd.methods.sets.possible import require_possible
from incrowd.methods.sets.subtree_generalization import SubtreeGeneralization

HALVINGS = 6
"""How many ways there are to put rare items last: after all items, after the more frequent half, after a quarter, …"""


@dataclass(frozen=True)
class OccurrenceRecoding(SetMethod):
    """Each set shows of its own items what is safe: the item, a node above it, or nothing.

    It never loses more than `SubtreeGeneralization`: that recoding is made as well, what it suppresses is shown where
    that is safe, and the best that was found is returned.
    """

    name: ClassVar[str] = "occurrence-recoding"

    def recode(self, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent) -> SetRecoding:
        """Return a node for each occurrence, or nothing."""
        require_possible(sets, model)
        whole = SubtreeGeneralization().recode(sets, nodes, model, progress=progress)
        nothing = np.zeros(len(sets.items), dtype=np.int32)
        thresholds = _thresholds(sets, nodes, model)

        def found_at(place: int) -> SetRecoding:
            return SetRecoding(show_more(sets, nodes, model, nothing, progress, frequent=thresholds[place]))

        start = SetRecoding(show_more(sets, nodes, model, whole.shown, progress))
        found = _lowest(found_at, lambda recoding: recoding.loss(sets, nodes), len(thresholds))
        return min([start, *found], key=lambda recoding: recoding.loss(sets, nodes))


def _lowest(
    found_at: Callable[[int], SetRecoding], loss_of: Callable[[SetRecoding], float], number: int
) -> list[SetRecoding]:
    """Return the recoding at the place from which the loss rises in both directions, beginning in the middle."""
    if not number:
        return []
    place = number // 2
    best = found_at(place)
    least = loss_of(best)
    for direction in (1, -1):
        moved = False
        while 0 <= place + direction < number:
            other = found_at(place + direction)
            if loss_of(other) >= least:
                break
            best, least, place, moved = other, loss_of(other), place + direction, True
        if moved:
            break
    return [best]


def _thresholds(sets: ItemSets, nodes: Nodes, model: SetModel) -> list[int]:
    """Return numbers of people that all items, half of the items, a quarter of them, and so on, reach."""
    counts = np.sort(sets.item_counts(nodes.size))[::-1]
    counts = counts[counts >= model.min_people]
    places = [len(counts) >> halvings for halvings in range(HALVINGS + 1)]
    return sorted({int(counts[place - 1]) for place in places if place})
