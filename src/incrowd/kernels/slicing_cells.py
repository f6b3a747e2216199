"""List the buckets that people match, each with the degree. Everything is laid out as in `slicing_matches.py`.

The loop is in `native/slicing_cells.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    from incrowd.common.arrays import Floats, Ints
    from incrowd.kernels.slicing_matches import Entries, Listed, Nodes


def list_matches(
    most: int, listed: Listed, levels: Ints, trie: Nodes, starts: Ints, entries: Entries, columns: Ints,
    secret_levels: Ints,
) -> tuple[Ints, Ints, Floats]:  # fmt: skip
    """Return each match's leaf (from 0 on), its entry in the column of the secret, and its degree.

    Degrees of one leaf that are too small for a float are scaled up alike, so that only those vanish that are nothing
    beside its others.
    """
    found: tuple[Ints, Ints, Floats] = call(
        "list_matches", most, *listed, levels, *trie, starts, *entries, columns, secret_levels
    )
    return found
