"""Global recoding of sets: every item is shown as one node throughout, with all items below that node.

Recoding of the kind of Apriori anonymization (Terrovitis, Mamoulis & Kalnis 2008), found from the root down and with
rare items suppressed where that costs less; see `cut_search` for how, and for the cost.
"""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.progress import Progress, silent
from incrowd.common.records import dataclass
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.core.set_recoding import SetRecoding
from incrowd.errors import Unsatisfiable
from incrowd.hierarchies.nodes import Nodes
from incrowd.methods.sets.cut_search import CutSearch
from incrowd.methods.sets.possible import require_possible


@dataclass(frozen=True)
class SubtreeGeneralization(SetMethod):
    """Items are generalized to nodes of their hierarchy, the same in all sets; items may be suppressed throughout.

    Where fewer than k people have any item, everything is suppressed, or nothing can be done if that is not allowed.

    Parameters
    ----------
    suppress : whether an item may be left out of all sets where that costs less than generalizing (default: True).

    Reference: Terrovitis, Mamoulis & Kalnis (2008).
    """

    suppress: bool = True
    name: ClassVar[str] = "subtree-generalization"

    def recode(self, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent) -> SetRecoding:
        """Return one node for each item, or nothing."""
        require_possible(sets, model)
        search = CutSearch(sets, nodes, model, suppress=self.suppress)
        if not self.suppress and search.hidden[nodes.root] and sets.occurrences:
            raise Unsatisfiable(
                f"{model}: not even whether a person has any item can be shown, for {sets.people:,} people.  Hint: "
                "allow suppression, or ask for less."
            )
        search.improve(progress)
        return SetRecoding.everywhere(sets, search.node_of_item)

    @classmethod
    def examples(cls) -> tuple[SubtreeGeneralization, ...]:
        """With suppression, and without."""
        return (cls(), cls(suppress=False))
