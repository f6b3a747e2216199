"""How many people have each combination of items that occurs: for checking, and for frequent combinations.

Combinations are walked item by item in ascending order. A combination of i - 1 items comes with the list of places
where its last item is; what follows those places in their sets are the candidates for the last item, and one counter
per item counts them. So nothing is stored but one list per size, each no longer than all sets together, and time grows
with the combinations that occur in sets, each set counted by itself. The loops are in `native/set_supports.cpp`, the
walk in `native/set_walk.hpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Bools, Codes, Counts, Ints


def survey_supports(
    offsets: Ints, items: Codes, counts: Counts, sensitive: Codes, values: int, numbers: int, size: int, k: int,
    share: float, first: int, smallest_of: Counts, exposed: Bools,
) -> tuple[int, int, int, float]:  # fmt: skip
    """Look at all combinations of exactly `size` items; `numbers` bounds the items, `values` the sensitive codes.

    Return how many combinations there are, how many are unsafe (fewer than k people, or a sensitive value that more
    than `share` of them have; codes below `first` are missing values that are ignored), the smallest support, and the
    largest share. `smallest_of[s]` is lowered to the smallest support of a combination in set s, and `exposed[s]` set
    if one is unsafe; neither if they are empty arrays.
    """
    combinations, unsafe, smallest, largest = call(
        "survey_supports", offsets, items, counts, sensitive, values, numbers, size, k, float(share), first,
        smallest_of, exposed,
    )  # fmt: skip
    return combinations, unsafe, smallest, largest


def frequent_combinations(
    offsets: Ints, items: Codes, counts: Counts, numbers: int, size: int, least: int, capacity: int
) -> tuple[Codes, Counts, int]:
    """Return the combinations of exactly `size` items that at least `least` people have, and their supports.

    Return up to `capacity` of them, and how many there are. A combination is only followed while it has `least` people.
    """
    combinations, supports, known = call(
        "frequent_combinations", offsets, items, counts, numbers, size, least, capacity
    )
    return combinations.reshape(-1, size), supports, known


def count_itemsets(starts: Ints, holders: Codes, counts: Counts, itemsets: Codes) -> Counts:
    """Return how many people have each of the given combinations; `holders` lists the sets of each item, ascending."""
    supports = np.empty(len(itemsets), dtype=np.int64)
    call("count_itemsets", starts, holders, counts, itemsets, supports)
    return supports
