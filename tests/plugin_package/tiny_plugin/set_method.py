"""A method for sets: show nothing at all."""

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


@dataclass(frozen=True)
class TinySetMethod(SetMethod):
    """Leave every item out, which is safe."""

    name: ClassVar[str] = "tiny-set-method"

    def recode(self, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent) -> SetRecoding:
        """Show nothing."""
        return SetRecoding(np.zeros(len(sets.items), dtype=np.int32))
