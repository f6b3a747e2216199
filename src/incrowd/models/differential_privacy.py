"""Differential privacy (Dwork et al. 2006): what is published hardly depends on whether somebody is in the table.

It is a promise of the mechanism, not of its output: no table can be checked for it, and none ever is. It is listed
among the guarantees of a release as *by construction*, with what was spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from incrowd.core.model import Statement


@dataclass(frozen=True)
class DifferentialPrivacy(Statement):
    """(ε, δ)-differential privacy for adding or removing one row; both as exact numbers, in text."""

    epsilon: str
    delta: str = "0"
    name: ClassVar[str] = "differential-privacy"
    by_construction: ClassVar[bool] = True

    def __str__(self) -> str:
        delta = float(Fraction(self.delta))
        epsilon = f"ε = {float(Fraction(self.epsilon)):.6g}"
        return f"differential privacy ({epsilon}, δ = {delta:.3g})" if delta else f"differential privacy ({epsilon})"
