"""A hierarchy of items made from the data, where the owner gives none: items of like frequency share a group.

Rare items must be shown in common, and frequent ones need not be; so a group of items that are alike in frequency is
generalized or not as a whole, and no frequent item is lost for a rare neighbour. What the groups tell is the order of
the items by frequency, which the published sets tell as well, but for items that they do not show.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.common.arrays import Codes, Counts
from incrowd.common.parameters import require_whole
from incrowd.hierarchies.tree import Tree, grow
from incrowd.hierarchies.values import as_short_text


def group_items(column: str, items: pl.Series, counts: Counts, *, fan_out: int = 10) -> tuple[Tree, Codes]:
    """Return a balanced tree over distinct items, and the code of each; `counts` says how many people have each.

    Groups have `fan_out` members, the last one of a level may have fewer; frequent items come first. Ties are in the
    order of the items' names, so that the order of the rows changes nothing.

    >>> tree, codes = group_items("item", pl.Series(["a", "b", "c", "d", "e"]), np.array([1, 9, 3, 1, 5]), fan_out=2)
    >>> tree.values.to_list(), codes.tolist(), tree.height
    ([None, 'b', 'e', 'c', 'a', 'd'], [4, 1, 3, 5, 2], 3)
    >>> [names.to_list()[1:] for names in tree.names[1:3]]
    [['group 1.1', 'group 1.2', 'group 1.3'], ['group 2.1', 'group 2.2']]
    """
    require_whole("a hierarchy of items", "fan_out", fan_out, at_least=2)
    names = as_short_text(items)
    order = np.lexsort((names.rank("ordinal").to_numpy(), -counts)) if len(items) else np.empty(0, dtype=np.int64)
    word = "group"
    while names.str.starts_with(word).any():  # no group may have an item's name
        word += "'"
    ancestors = []
    group, level = np.arange(len(items)) // fan_out, 1
    while len(items) and group[-1] > 0:
        ancestors.append(pl.Series([f"{word} {level}.{number + 1}" for number in group.tolist()]))
        group, level = group // fan_out, level + 1
    codes = np.empty(len(items), dtype=np.int32)
    codes[order] = np.arange(1, len(items) + 1)
    return grow(column, items.gather(order), "text", ancestors, from_data=True), codes
