"""Which frequent itemsets of the original can still be found in what is published.

Cost: finding them walks the combinations of the original of which every part is frequent; each is then looked up in the
lists of sets that show its items.
"""

from __future__ import annotations

import numpy as np

from incrowd.common.parameters import require_number, require_whole
from incrowd.common.records import dataclass
from incrowd.core.item_sets import ItemSets
from incrowd.kernels.set_arrays import holders
from incrowd.kernels.set_supports import count_itemsets, frequent_combinations

_ROOM = 65_536
_WHERE = "frequent itemsets"


@dataclass(frozen=True)
class FrequentItemsets:
    """What is left of the frequent itemsets of the original."""

    total: int
    """How many there are in the original."""
    kept: float
    """Share of them that is frequent in what is published, every item shown as itself; 1 if there are none."""
    support_error: float
    """Mean of how far their support in what is published is off, relative to that in the original."""


def frequent_itemsets(
    sets: ItemSets, published: ItemSets, *, min_share: float = 0.01, max_size: int = 3
) -> FrequentItemsets:
    """Compare itemsets of at most `max_size` items that at least a share `min_share` of people have.

    >>> sets, _ = ItemSets.from_pairs(np.array([0, 0, 1, 1, 2]), np.array([1, 2, 1, 2, 1]))
    >>> shown = sets.shown_as(np.where(sets.items == 2, 0, sets.items))
    >>> frequent_itemsets(sets, shown, min_share=0.5)
    FrequentItemsets(total=3, kept=0.3333333333333333, support_error=0.6666666666666666)
    """
    require_number(_WHERE, "min_share", min_share, above=0.0)
    require_whole(_WHERE, "max_size", max_size, at_least=1)
    least = max(int(np.ceil(min_share * sets.people - 1e-9)), 1)
    numbers = int(max(sets.items.max(initial=0), published.items.max(initial=0))) + 1
    starts, having, _ = holders(published.offsets, published.items, numbers)
    total, kept, errors = 0, 0, 0.0
    for size in range(1, max_size + 1):
        itemsets, supports, many = frequent_combinations(
            sets.offsets, sets.items, sets.counts, numbers, size, least, _ROOM
        )
        if many > len(itemsets):
            itemsets, supports, many = frequent_combinations(
                sets.offsets, sets.items, sets.counts, numbers, size, least, many
            )
        if many == 0:
            break
        left = count_itemsets(starts, having, published.counts, itemsets)
        total += int(many)
        kept += int((left >= least).sum())
        errors += float((np.abs(left - supports) / supports).sum())
    return FrequentItemsets(total, kept / total if total else 1.0, errors / total if total else 0.0)
