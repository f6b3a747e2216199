"""Kullback-Leibler divergence (Kifer & Gehrke 2006, "Injecting utility into anonymized datasets").

How far the distribution that an analyst makes of a release is from the original one, over combinations of
quasi-identifiers and sensitive values: Σ p·log2(p / q) in bits, p being a combination's share of the original rows. The
analyst spreads every published row evenly over all combinations that it may stand for, its sensitive values being as
published, and every withheld row over the whole domain, sensitive values included: that there are withheld rows is
known, and nothing else of them. So q is above 0 wherever p is, the shares of q add up to 1, and the divergence is 0 for
a table that is published as it is. Regions of groups may overlap, and do in local recoding: a combination's q is the
sum over all groups that cover it, its own or not. A sample may miss a combination altogether; of a sample the analyst
allows for one row besides those that are known, which may be anything, so that the divergence stays finite.

There is no upper bound but the bits of the domain: rows that are spread thin where others are many can mislead more
than `*`. Cost: one search for the boxes of all points (see `kernels/boxes_and_points.py`), about a second for a million
rows in 8 columns.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.records import dataclass
from incrowd.core.labelled import Labelled
from incrowd.core.metric import Goal, Metric
from incrowd.core.tally import Tally
from incrowd.forms.reach import boxes_of_groups, domain
from incrowd.kernels.boxes_and_points import sum_of_boxes_at_points

_WIDEST = 1000.0
"""Powers of two from minus this to plus this are floats, and so are sums of them."""


@dataclass(frozen=True)
class KLDivergence(Metric):
    """How many bits an analyst's picture of the table is off.

    0: not at all. There is no upper bound but the bits of the domain.

    Reference: Kifer & Gehrke (2006).
    """

    name: ClassVar[str] = "kl-divergence"
    plain_name: ClassVar[str] = "how far off the picture of the table is, in bits"
    goal: ClassVar[Goal] = "minimize"
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def measure(self, before: Tally, release: Labelled) -> float:
        """Return the divergence in bits."""
        names = (*release.shown.columns, *release.schema.sensitive)
        original = before if set(names) == set(before.columns) else before.project(names)[0]
        if not original.rows:
            return 0.0
        points = original.codes_of(names)
        published = _published_bits(before, release, points)
        unseen = int(original.rows > release.rows_in)
        domain_bits = sum(np.log2(last - first) for first, last in (domain(before, name) for name in names))
        with np.errstate(divide="ignore"):  # nobody is withheld
            anywhere = np.log2(release.withheld + unseen) - domain_bits
        expected = np.logaddexp2(published, anywhere) - np.log2(release.rows_in + unseen)
        bits = np.log2(original.counts / original.rows) - expected
        return max(float((original.counts * bits).sum()) / original.rows, 0.0)


def _published_bits(before: Tally, release: Labelled, points: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return log2 of how many published rows the analyst expects of each combination of codes."""
    boxes = boxes_of_groups(before, release)
    density = np.log2(release.counts) - boxes.bits[release.groups]
    # Of hundreds of columns, shares are too small for floats; only how they compare matters.
    unit = (density.max() + density.min()) / 2 if density.size else 0.0
    many = np.diff(boxes.starts)[release.groups]
    line = np.repeat(np.arange(len(many)), many)
    box = np.arange(len(line)) - (np.cumsum(many) - many)[line] + boxes.starts[release.groups][line]
    published = sum_of_boxes_at_points(
        np.concatenate([boxes.lows[box], release.sensitive[line]], axis=1),
        np.concatenate([boxes.highs[box], release.sensitive[line] + 1], axis=1),
        np.exp2(np.clip(density - unit, -_WIDEST, _WIDEST))[line],
        points,
    )
    with np.errstate(divide="ignore"):  # everybody with some combination is withheld
        return np.asarray(np.log2(published) + unit)
