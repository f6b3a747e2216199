"""What models share that bound how likely a row is linked to its person by somebody who knows nobody of the table."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import RecipeError
from incrowd.models.shares import largest, require_share


@dataclass(frozen=True)
class RiskOfLinks(Model):
    """The probability of a link, of the riskiest row or on average over all rows, is at most `risk`."""

    risk: float
    average: bool = False
    looks_at_values: ClassVar[bool] = False
    asks_population: ClassVar[bool] = True
    rounding: ClassVar[float] = 1e-12
    """Rows that all have just the risk allowed may have a mean that is above it by this share, in the last digit."""

    @abstractmethod
    def risks(self, groups: Groups) -> Floats:
        """Return the risk of each group's rows."""
        ...

    def __post_init__(self) -> None:
        require_share(self.name, "risk", self.risk, zero=False)
        if not isinstance(self.average, bool):
            raise RecipeError(f"{self.name}: average is true or false, not {self.average!r}.")

    @property
    def whole_table(self) -> bool:
        """A mean is one of all groups together."""
        return self.average

    @property
    def for_each_group(self) -> Self:
        """A mean of rows that are all below a bound is below it."""
        return type(self)(self.risk)

    @property
    def asks_nothing(self) -> bool:
        """Whether every table satisfies it."""
        return self.risk == 1

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be enough people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether the risk is small enough in each group, or on average."""
        if self.average:
            return np.full(len(groups), self.achieved(groups) <= self.risk * (1 + self.rounding))
        return np.asarray(self.risks(groups) <= self.risk * (1 + self.rounding))

    def achieved(self, groups: Groups) -> float:
        """Return the largest risk of any row, or the mean over all rows."""
        if not len(groups):
            return 0.0
        risks = self.risks(groups)
        return float(np.average(risks, weights=groups.sizes)) if self.average else largest([risks])

    def __str__(self) -> str:
        return f"{'average ' if self.average else ''}{self.name.replace('-', ' ')} of at most {self.risk:g}"
