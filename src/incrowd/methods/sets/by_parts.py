"""Each part of the sets by itself: what (k, k^m)-anonymity asks for, where parts are the groups of people who show the
same quasi-identifiers (Poulis, Loukides, Gkoulalas-Divanis & Skiadopoulos 2013).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.common.progress import Progress, silent
from incrowd.core.item_sets import ItemSets
from incrowd.core.set_method import SetMethod
from incrowd.core.set_model import SetModel
from incrowd.core.set_recoding import SetRecoding
from incrowd.hierarchies.nodes import Nodes


def recode_parts(
    method: SetMethod, sets: ItemSets, nodes: Nodes, model: SetModel, *, progress: Progress = silent
) -> SetRecoding:
    """Return a recoding that is safe within each part of the sets; the same as `method.recode` if there are none."""
    if sets.parts is None:
        return method.recode(sets, nodes, model, progress=progress)
    shown = np.zeros(len(sets.items), dtype=np.int32)
    order = np.argsort(sets.parts, kind="stable")
    parts, starts = np.unique(sets.parts[order], return_index=True)
    for number, members in enumerate(np.split(order, starts[1:]) if len(parts) else []):
        own = replace(sets.take(members), parts=None)
        places = np.repeat(sets.offsets[members] - own.offsets[:-1], own.lengths) + np.arange(len(own.items))
        shown[places] = method.recode(own, nodes, model).shown
        progress("recoding parts", (number + 1) / len(parts))
    return SetRecoding(shown)
