"""ℓ-diverse slicing (Li, Li, Zhang & Molloy 2012): whoever knows all else of a person guesses their sensitive value
with a probability of at most 1/ℓ, over all buckets that the person could be in.

In a generalized table, where a person is in one group, it is probabilistic ℓ-diversity. Cost: see `slicing.diversity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import ConformanceError, SchemaError
from incrowd.groups import Groups
from incrowd.models.model import Guarantee
from incrowd.models.probabilistic_l_diversity import ProbabilisticLDiversity
from incrowd.parameters import require_number

if TYPE_CHECKING:
    from incrowd.slicing.sliced import Buckets, Slices


@dataclass(frozen=True)
class SlicedDiversity:
    """p(t,s) ≤ 1/`l` for every row t and sensitive value s, exactly; each sensitive column by itself."""

    l: float
    name: ClassVar[str] = "sliced-diversity"
    monotone: ClassVar[bool] = True  # as probabilistic l-diversity
    hereditary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_number(self.name, "l", self.l, least=1)

    @property
    def _in_groups(self) -> ProbabilisticLDiversity:
        return ProbabilisticLDiversity(self.l)

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

    def guarantee_of_slices(self, slices: Slices, buckets: Buckets) -> Guarantee:
        """Check a sliced table over all matching buckets; return the guarantee, or refuse the release."""
        from incrowd.slicing.diversity import guess

        if not slices.secrets:
            raise SchemaError(f"{self} needs a sensitive column, and there is none.  Hint: name one as sensitive.")
        found = guess(slices, buckets, Fraction(str(self.l)))
        if not found.diverse:
            raise ConformanceError(f"the sliced table does not satisfy {self}; nothing was published.")
        return Guarantee(self, "verified", 1 / found.worst if found.worst else float("inf"))

    def __str__(self) -> str:
        return f"sliced {self.l:g}-diversity"
