"""How strongly two columns of a release go together, as an analyst finds it who draws whole rows from its labels.

Cramér's V is corrected for what chance adds to it in a table of so many rows. A table of expected counts has no chance
in it: corrected all the same, weak associations come out as 0. So rows are drawn, each value evenly from what its
label may stand for, counted and corrected, and the result is the mean over several draws. Cost: that of counting the
rows of each pair, as often as they are drawn: at least once, and until some 200,000 rows are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from incrowd.common.arrays import Codes
from incrowd.core.labelled import Labelled
from incrowd.core.tally import Tally
from incrowd.forms.spreading import meaning_of_lines
from incrowd.metrics.distributions import association, joint_counts

_ROWS_TO_DRAW = 200_000
_MOST_DRAWS = 20
_SEED = 0x5EED
"""A metric has no chance of its own: the same release always gives the same number."""


def drawn_associations(before: Tally, release: Labelled, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the corrected association of each pair of columns, over rows that are drawn from the labels."""
    if not pairs:
        return []
    rng = np.random.default_rng(_SEED)
    names = sorted({name for pair in pairs for name in pair})
    rows = int(release.counts.sum())
    draws = min(max(_ROWS_TO_DRAW // max(rows, 1), 1), _MOST_DRAWS)
    meant = {name: meaning_of_lines(before, release, name) for name in names}
    widths = {name: meant[name].widths(before.trees[name].size) for name in names}
    # Chance falls on lines in an order that depends on nothing but what they show.
    order = np.lexsort([end for name in names for end in (meant[name].lows, meant[name].highs)])
    lines = np.repeat(order, release.counts[order])
    found = np.zeros(len(pairs))
    for _ in range(draws):
        drawn = {
            name: meant[name].codes(lines, rng.integers(0, widths[name][lines])).astype(np.int32) for name in names
        }
        found += associations_of_rows(before, drawn, pairs)
    return [float(value) for value in found / draws]


def associations_of_rows(before: Tally, codes: Mapping[str, Codes], pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the corrected association of each pair of columns over rows."""
    found = []
    for one, two in pairs:
        sizes = before.trees[one].size, before.trees[two].size
        found.append(association(joint_counts(codes[one], codes[two], np.ones(len(codes[one])), sizes)))
    return found
