"""Suppression of items alone: rare items are left out of all sets, the rest is shown as it is.

Which items are left out is a hitting set: every unsafe combination must lose one. Combinations of one item come first,
then those of two among the items that are left, and so on; the items with the least cost per combination are taken
(Chvátal 1979), then those that are not needed, or have become safe, are put back. See `cut_search` for the cost.
"""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.core.set_recoding import SetRecoding
from incrowd.hierarchies.nodes import Nodes
from incrowd.methods.sets.cut_search import CutSearch
from incrowd.methods.sets.possible import require_possible


@dataclass(frozen=True)
class ItemSuppression(SetMethod):
    """Items are shown as they are or left out of all sets.

    Reference: Mohammed, Fung, Hung & Lee (2009), for suppression in sets.
    """

    name: ClassVar[str] = "item-suppression"

    def recode(self, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent) -> SetRecoding:
        """Return each item itself, or nothing."""
        require_possible(sets, model)
        search = CutSearch(sets, Nodes.flat(nodes.tree), model, generalize=False)
        search.improve(progress)
        return SetRecoding.everywhere(sets, search.node_of_item)
