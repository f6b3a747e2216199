"""Differential privacy (Dwork et al. 2006): what is published hardly depends on whether somebody is in the table.

It is a promise of the mechanism, not of its output: no table can be checked for it, and none ever is. It is listed
among the guarantees of a release as *by construction*, with what was spent.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.core.model import Statement


@dataclass(frozen=True)
class DifferentialPrivacy(Statement):
    """(ε, δ)-differential privacy for adding or removing one row; both as exact numbers, in text.

    With `most_rows`, for adding or removing one person, whatever rows the person has: at most so many are looked at.
    """

    epsilon: str
    delta: str = "0"
    most_rows: int | None = None
    name: ClassVar[str] = "differential-privacy"
    plain_name: ClassVar[str] = "one person more or less changes little"
    by_construction: ClassVar[bool] = True

    def __str__(self) -> str:
        delta = float(Fraction(self.delta))
        epsilon = f"ε = {float(Fraction(self.epsilon)):.6g}"
        numbers = f"{epsilon}, δ = {delta:.3g}" if delta else epsilon
        return f"differential privacy ({numbers}){per_person(self.most_rows)}"


def per_person(most_rows: int | None) -> str:
    """Return what is said of whom a promise is made to, where that is not everybody who has a row."""
    if most_rows is None:
        return ""
    return f", per person, at most {most_rows:,} {'row' if most_rows == 1 else 'rows'} each"
