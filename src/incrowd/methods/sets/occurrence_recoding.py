"""Local recoding of sets, occurrence by occurrence: an item may be shown as itself in one set and as a node in another.

Local recoding loses less than global, since an item that is rare together with others is common without them
(Terrovitis, Mamoulis & Kalnis 2011 cut the sets into parts for that, and He & Naughton 2009 split them from the top).
Here there are no parts to choose: what is counted are the labels that all sets show. See `label_search` for how, and for
the cost; `core.set_model` says what is guaranteed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.core.set_recoding import SetRecoding
from incrowd.hierarchies.nodes import Nodes
from incrowd.methods.sets.label_search import show_more
from incrowd.methods.sets.possible import require_possible
from incrowd.methods.sets.subtree_generalization import SubtreeGeneralization


@dataclass(frozen=True)
class OccurrenceRecoding(SetMethod):
    """Each set shows of its own items what is safe: the item, a node above it, or nothing.

    It never loses more than `SubtreeGeneralization`: that recoding is made as well, what it suppresses is shown where
    that is safe, and the better of the two is returned.
    """

    name: ClassVar[str] = "occurrence-recoding"

    def recode(self, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent) -> SetRecoding:
        """Return a node for each occurrence, or nothing."""
        require_possible(sets, model)
        one_part = np.zeros(len(sets), dtype=np.int64)
        nothing = np.zeros(len(sets.items), dtype=np.int32)
        fresh = SetRecoding(show_more(sets, nodes, model, nothing, progress), one_part)
        whole = SubtreeGeneralization().recode(sets, nodes, model, progress=progress)
        more = SetRecoding(show_more(sets, nodes, model, whole.shown, progress), one_part)
        return min(fresh, more, key=lambda recoding: recoding.loss(sets, nodes))
