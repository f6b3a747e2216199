"""What every method for sets of items can do: find out how to show them so that a model is satisfied."""

from __future__ import annotations

from typing import Protocol

from incrowd.common.progress import Progress, silent
from incrowd.common.registry import Named
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_model import SetModel
from incrowd.core.set_recoding import SetRecoding
from incrowd.hierarchies.nodes import Nodes


class SetMethod(Named, Protocol):
    """How to show sets safely. Implementations are frozen dataclasses that inherit from this, one file each.

    They see counts of distinct sets, never people. The same sets give the same recoding; no chance is used.
    """

    def recode(self, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent) -> SetRecoding:
        """Return how the sets are shown, or raise `Unsatisfiable`."""
        ...
