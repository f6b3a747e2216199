"""How wrong a count from a release may be: bounds that always hold, and a standard error under a stated model.

Labels (`even_spreading`): of a label that stands for m values, an unknown share is asked about. Its mean lies half-way
between that of even spreading and that of values as frequent as all labels tell (`likely_values.py`): either may be
right, since which label a row shows may depend on its value. Its variance is that of a Dirichlet distribution,
s(1 − s)/(1 + a), with a = `_EVENNESS`·m up to a bound, and `_APART` times the squared distance of the two means. Groups
err alike, since what makes a value frequent in one makes it so in another: errors of one column are correlated by
`_ALIKE`. Conditions on two columns depend on each other within a group, with a correlation of about `_DEPENDENCE`.
Chance adds the variance of independent rows.

Buckets (`chance_pairing`): the values of two columns of a bucket are paired by chance, which has a known
(hypergeometric) variance, and they depend on each other in the same way.

The constants were chosen on Adult, so that 95 % intervals hold the truth about that often; `python -m
benchmarks.intervals` measures it.
Cost: a few passes over the lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.common.arrays import Bools, Counts, Floats
from incrowd.common.records import dataclass
from incrowd.core.estimate import CountBounds

_EVENNESS = 0.15
_MOST_EVEN_NUMBERS = 15.0
_MOST_EVEN_NAMES = 0.45
_ALIKE = 0.9
_APART = 0.25
_DEPENDENCE = 0.1
_UNSURE = 0.02
"""A label that may and need not satisfy a condition is taken to do so by this share at least, and not by it at least:
what is assumed of its open end may be wrong."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One condition, line by line: the share of the label that satisfies it if values are spread evenly, or if they are
    as frequent as in `others`; whether it must, whether it may, and how many values the label stands for."""

    shares: Floats
    others: Floats
    sure: Bools
    possible: Bools
    room: Floats
    ordered: bool
    """Whether values are numbers or dates: these are spread more evenly than names, some of which nearly all have."""

    @property
    def likely(self) -> Floats:
        """The share that is expected: both ways to spread a label's rows may be right."""
        return np.clip((self.shares + self.others) / 2, 0.0, 1.0)

    @property
    def spread(self) -> Floats:
        """The standard deviation of the share: 0 where nothing is unsure."""
        shares = np.clip(self.likely, _UNSURE, 1 - _UNSURE)
        evenness = np.minimum(_EVENNESS * self.room, _MOST_EVEN_NUMBERS if self.ordered else _MOST_EVEN_NAMES)
        found = np.sqrt(shares * (1 - shares) / (1 + evenness) + _APART * (self.shares - self.others) ** 2)
        return np.where(self.sure | ~self.possible, 0.0, found)


def even_spreading(amounts: Floats, counts: Counts, asked: Sequence[Asked]) -> CountBounds:
    """Bound what lines of so many rows, that weigh these amounts, contribute to a count."""
    even = likely = np.ones(len(amounts))
    sure = possible = np.ones(len(amounts), dtype=bool)
    for one in asked:
        even, likely = even * one.shares, likely * one.likely
        sure, possible = sure & one.sure, possible & one.possible
    value, center = float((amounts * even).sum()), float((amounts * likely).sum())
    each = np.divide(amounts, counts, out=np.zeros(len(amounts)), where=counts > 0)
    variance = float((each * amounts * likely * (1 - likely)).sum())
    for place, one in enumerate(asked):
        by_line = amounts * one.spread
        for other in (*asked[:place], *asked[place + 1 :]):
            by_line = by_line * other.likely
        variance += _ALIKE * float(by_line.sum()) ** 2 + (1 - _ALIKE) * float((by_line**2).sum())
    variance += _dependence(amounts, [one.likely for one in asked])
    return CountBounds(value, float(amounts[sure].sum()), float(amounts[possible].sum()), variance, center)


@dataclass(frozen=True, eq=False)
class Part:
    """What each bucket's rows of one column satisfy: how many are expected to, must, and may; and the labels' error."""

    expected: Floats
    least: Floats
    most: Floats
    spread: Floats
    """The standard deviation that labels give to the expected number, 0 where values are shown as they are."""


def chance_pairing(sizes: Counts, parts: Sequence[Part]) -> CountBounds:
    """Bound what buckets contribute to a count, whose columns are paired by chance."""
    rows = np.maximum(sizes, 1).astype(np.float64)
    value, variances = sizes.astype(np.float64), np.zeros(len(sizes))
    least, most = value.copy(), value.copy()
    for place, part in enumerate(parts):
        share = part.expected / rows
        if place:  # what was paired so far meets this column as balls that are drawn from an urn
            mixed = value * (rows - value) - variances
            urn = np.maximum(mixed, 0.0) * share * (1 - share) / np.maximum(rows - 1, 1)
            variances = urn + share**2 * variances
        value = value * share
        least, most = np.maximum(least + part.least - sizes, 0.0), np.minimum(most, part.most)
    variance = float(variances.sum())
    for part in parts:
        by_bucket = np.divide(value, part.expected, out=np.zeros(len(value)), where=part.expected > 0) * part.spread
        variance += _ALIKE * float(by_bucket.sum()) ** 2 + (1 - _ALIKE) * float((by_bucket**2).sum())
    variance += _dependence(sizes.astype(np.float64), [part.expected / rows for part in parts])
    total = float(value.sum())
    return CountBounds(total, float(least.sum()), float(most.sum()), variance, total)


def _dependence(amounts: Floats, shares: Sequence[Floats]) -> float:
    """Return the variance that comes from conditions that depend on each other within a line."""
    found = 0.0
    for place, one in enumerate(shares):
        for other in shares[place + 1 :]:
            mixed = np.sqrt(np.maximum(one * (1 - one) * other * (1 - other), 0.0))
            rest = [third for third in shares if third is not one and third is not other]
            for third in rest:
                mixed = mixed * third
            found += (_DEPENDENCE * float((amounts * mixed).sum())) ** 2
    return found
