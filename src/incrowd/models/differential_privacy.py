"""Differential privacy (Dwork et al. 2006): what is published hardly depends on whether somebody is in the table.

It is a promise of the mechanism, not of its output: no table can be checked for it, and none ever is. It is listed
among the guarantees of a release as *by construction*, with what was spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import SchemaError
from incrowd.groups import Groups


@dataclass(frozen=True)
class DifferentialPrivacy:
    """(ε, δ)-differential privacy for adding or removing one row; both as exact numbers, in text."""

    epsilon: str
    delta: str = "0"
    name: ClassVar[str] = "differential-privacy"
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = False
    by_construction: ClassVar[bool] = True

    @property
    def min_group(self) -> int:
        """There are no groups to speak of."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Refuse: it cannot be seen in a table."""
        raise SchemaError(
            "differential privacy is a promise of the method: it cannot be checked on a table.  "
            "Hint: use a method that has it, such as DiffGen."
        )

    def achieved(self, groups: Groups) -> float:
        """Refuse: it cannot be seen in a table."""
        self.satisfied(groups)
        return float("nan")

    def __str__(self) -> str:
        delta = float(Fraction(self.delta))
        epsilon = f"ε = {float(Fraction(self.epsilon)):.6g}"
        return f"differential privacy ({epsilon}, δ = {delta:.3g})" if delta else f"differential privacy ({epsilon})"
