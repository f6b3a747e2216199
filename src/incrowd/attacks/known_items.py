"""A few items of a person are known: who shows them all? (Terrovitis, Mamoulis & Kalnis 2008).

The adversary knows a person's quasi-identifiers, and of the items that the person shows the m rarest together. What is
left are the people of the group who show these items, too.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.attack import Attack
from incrowd.core.risk import Risk, Threat, risk_of
from incrowd.core.target import Target
from incrowd.models.sets.exposure import exposure
from incrowd.models.sets.km_anonymity import LARGEST_KNOWN, KmAnonymity


@dataclass(frozen=True)
class KnownItems(Attack):
    """Look for people of whom at most `m` of the items that they show are known, the rarest ones.

    Parameters
    ----------
    m : how many items are known, from 1 to 8 (default: 3). The details tell of fewer.

    Reference: Terrovitis, Mamoulis & Kalnis (2008).
    """

    m: int = 3
    name: ClassVar[str] = "known-items"
    plain_name: ClassVar[str] = "finding a person by a few items"
    threat: ClassVar[Threat] = "linkability"
    knows_kept_columns: ClassVar[bool] = False

    def lacks(self, target: Target) -> str | None:
        """Sets are needed."""
        return "the release has no column of items" if target.sets is None else None

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Return the mean chance to find a person, beside that of somebody who knows no item."""
        sets = target.sets
        assert sets is not None
        details: dict[str, float] = {}
        value, fewest = 0.0, 0.0
        for known in range(1, min(self.m, LARGEST_KNOWN) + 1):
            found = exposure(sets, KmAnonymity(2, m=known))
            value = found.expected_success
            fewest = float(found.smallest_support or 0)
            details |= {f"found with {known} known": value, f"fewest people who show {known}": fewest}
            details[f"alone with {known} known"] = found.exposed_share
        sizes = np.bincount(np.zeros(len(sets), dtype=np.int64) if sets.parts is None else sets.parts, sets.counts)
        nothing = float(np.count_nonzero(sizes) / max(sets.people, 1))
        return risk_of(
            self,
            value=value,
            baseline=nothing,
            people=sets.people,
            worst=1 / fewest if fewest else nothing,
            against="the release, without an item known",
            exposed=details.get(f"alone with {min(self.m, LARGEST_KNOWN)} known", 0.0) * sets.people,
            says=f"Who knows the {self.m} rarest items that a person shows finds that person with {percent(value)}.",
            details=details,
        )
