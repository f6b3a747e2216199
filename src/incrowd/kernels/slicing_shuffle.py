"""Shuffle runs of a list, each by itself (Fisher & Yates), with words of chance drawn beforehand.

The loop is in `native/slicing_shuffle.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.common.threads import threads
from incrowd.kernels.native.calling import call

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incrowd.common.arrays import Ints


def shuffle_runs(items: Ints, starts: Ints, words: NDArray[np.unsignedinteger[Any]], shuffled: Ints) -> bool:
    """Write the items into `shuffled`, each run `starts[i]:starts[i + 1]` in random order; tell if the words did.

    All items are in runs. Words have 16, 32 or 64 bits, and more choices than these count are in no run. One gives an
    even draw below n if it is below the largest multiple of n that fits them. One that is not is thrown away, which
    `len(words) - len(items)` words are there to make good.
    """
    return bool(call(f"shuffle_by_{words.dtype.name}", items, starts, words, shuffled, threads()))
