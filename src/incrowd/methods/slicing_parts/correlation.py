"""How strongly attributes hang together: the mean-square contingency coefficient (Cramér 1948; Li et al. 2012).

φ²(A,B) = 1/(min(a,b) − 1) · ΣΣ (f_ij − f_i f_j)² / (f_i f_j), where a and b are the numbers of different values, f_ij
the share of rows with the i-th value of A and the j-th of B, and f_i, f_j those with either. It is 0 for attributes
that are independent, and 1 where the one with more values decides the other.

Cost: one pass over the distinct tuples for each attribute, which skips the tuples with its most frequent value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Codes, Counts, Floats, side_by_side
from incrowd.common.threads import do_together
from incrowd.core.tally import Tally
from incrowd.hierarchies.tree import MISSING, Tree
from incrowd.kernels.slicing_pairs import count_pairs

Binning = Literal["width", "frequency"]


def contingency(
    tally: Tally,
    attributes: Sequence[str],
    *,
    bins: int = 10,
    binning: Binning = "frequency",
    most_names: int = 100,
) -> Floats:
    """Return φ² of every two attributes.

    An attribute of numbers or dates with more than `bins` values is first put into as many bins, of equal width or
    of about the same number of rows; a missing value is a bin of its own. Of an attribute of names, the
    `most_names` most frequent are told apart, the rest being one. Rare values would make any two attributes look
    as if they hung together.
    """

    def coarse_codes(name: str) -> Codes:
        return coarsen(tally.trees[name], tally.value_counts(name), bins, binning, most_names)

    coarse = do_together([partial(coarse_codes, name) for name in attributes], steps=tally.codes.size)
    # Each in memory of its own: threads that write into the same lines of it wait for each other.
    columns = do_together(
        [partial(_coarsened, tally, name, own) for name, own in zip(attributes, coarse, strict=True)],
        steps=tally.codes.size,
    )
    return contingency_of_codes(side_by_side(columns, len(tally)), tally.counts)


def contingency_of_codes(codes: Codes, counts: Counts) -> Floats:
    """Return φ² of every two columns of codes; an attribute with a single value is independent of all others."""
    attributes = codes.shape[1]
    phi = np.eye(attributes)
    rows = counts.sum()
    if not rows:
        return phi
    count = partial(np.bincount, weights=counts)
    totals = [
        total.astype(np.int64)
        for total in do_together([partial(count, codes[:, place]) for place in range(attributes)])
    ]
    offsets = np.cumsum([0, *(len(total) for total in totals)])
    everything = np.concatenate(totals)
    kinds = np.array([np.count_nonzero(total) for total in totals])

    def compare(place: int, own: Counts) -> None:
        usual = int(np.argmax(own))
        table = np.zeros((len(own), offsets[-1]), dtype=np.int64)
        count_pairs(codes, counts, place, usual, offsets[:-1], table)
        table[usual] = everything - table.sum(axis=0)
        expected = own[:, None] / rows * everything
        ratios = np.divide(table.astype(np.float64) ** 2, expected, out=np.zeros(table.shape), where=expected > 0)
        spread = np.add.reduceat(ratios.sum(axis=0), offsets[:-1]) / rows - 1.0
        freedom = np.minimum(kinds, kinds[place]) - 1
        phi[place] = np.divide(spread, freedom, out=np.zeros(attributes), where=freedom > 0)

    do_together([partial(compare, place, own) for place, own in enumerate(totals)], steps=codes.size)
    phi = np.clip((phi + phi.T) / 2, 0.0, 1.0)
    np.fill_diagonal(phi, 1.0)
    return phi


def coarsen(tree: Tree, rows: Counts, bins: int, binning: Binning, most_names: int) -> Codes:
    """Return, code by code, the number of the bin or name that stands for it; `rows[code]` rows have a code."""
    present = np.flatnonzero(rows)
    known = present[present != MISSING]
    coarse = np.zeros(tree.size, dtype=np.int32)  # a missing value stays 0
    if not tree.ordered:
        kept = known if len(known) <= most_names else _most_frequent(known, rows, most_names - 1)
        coarse[known] = len(kept) + 1
        coarse[kept] = np.arange(1, len(kept) + 1)
    elif len(known) <= bins:
        coarse[known] = np.arange(1, len(known) + 1)
    elif binning == "width":
        places = tree.positions[known]
        share = (places - places.min()) / ((places.max() - places.min()) or 1.0)
        coarse[known] = np.minimum((share * bins).astype(np.int32), bins - 1) + 1
    else:
        # A value belongs where the middle one of its rows does.
        middles = np.cumsum(rows[known]) - rows[known] / 2
        coarse[known] = (middles / rows[known].sum() * bins).astype(np.int32) + 1
    return coarse


def _most_frequent(codes: NDArray[np.int64], rows: Counts, number: int) -> NDArray[np.int64]:
    chosen = codes[np.lexsort((codes, -rows[codes]))[:number]]
    return np.sort(chosen)


def _coarsened(tally: Tally, name: str, coarse: Codes) -> Codes:
    return coarse.take(tally.column(name))
