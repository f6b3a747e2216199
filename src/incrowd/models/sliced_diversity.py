"""ℓ-diverse slicing (Li, Li, Zhang & Molloy 2012): an adversary who knows all else of a person guesses their sensitive
value with a probability of at most 1/ℓ, over all buckets that the person could be in.

In a generalized table, where a person is in one group, it is probabilistic ℓ-diversity. A sliced table is judged by its
form, over all matching buckets (`forms/slices/verify_matches.py`, which states the cost).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.parameters import require_number
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Missing, Model, of_what, require_missing
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity


@dataclass(frozen=True)
class SlicedDiversity(Model):
    """p(t,s) ≤ 1/`l` for every row t and sensitive value s, exactly; each sensitive column by itself.

    Parameters
    ----------
    l : a number of at least 1, which need not be whole.
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody: each
        bucket tells of a value by its share of the rows whose value is recorded, and one in which there is none is
        taken to have a single value. With "counts", missing is a value like any other.

    p(t,s) is the probability that an adversary who knows all else about a person guesses the sensitive value, over all
    buckets that the person could be in. In a generalized table, where each person is in one group, it is probabilistic
    ℓ-diversity.

    Reference: Li, Li, Zhang & Molloy (2012).
    """

    l: float
    missing: Missing = "ignored"
    name: ClassVar[str] = "sliced-diversity"
    plain_name: ClassVar[str] = "no guess of a value is too sure"
    strictness: ClassVar[tuple[str, tuple[float, ...]]] = ("l", (1.5, 2, 3, 5, 8))
    monotone: ClassVar[bool] = True  # as probabilistic l-diversity
    hereditary: ClassVar[bool] = False
    holds_in_buckets: ClassVar[bool] = True
    over_matches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self.name, "l", self.l, at_least=1)
        require_missing(self.name, self.missing)

    @property
    def _in_groups(self) -> ProbabilisticLDiversity:
        return ProbabilisticLDiversity(self.l, missing=self.missing)

    @property
    def diversity(self) -> float:
        """ℓ itself."""
        return self.l

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.l == 1

    @property
    def min_group(self) -> int:
        """So many rows at least, for a value to be one of l."""
        return self._in_groups.min_group

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether no value has more than a share of 1/l, for groups that nobody is in two of."""
        return self._in_groups.satisfied(groups)

    def achieved(self, groups: Groups) -> float:
        """Return the largest l that all groups satisfy."""
        return self._in_groups.achieved(groups)

    def __str__(self) -> str:
        return f"sliced {self.l:g}-diversity{of_what(None, self.missing)}"
