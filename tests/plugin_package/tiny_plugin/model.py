"""A minority in every group: so many members do not have their group's most common value. Cost: one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from incrowd.core.groups import Groups
from incrowd.core.model import Model, all_satisfied, histograms, smallest


@dataclass(frozen=True)
class TinyModel(Model):
    """In each group, at least `minority` rows have another sensitive value than the most common one.

    Parameters
    ----------
    minority : the smallest number of such rows.
    """

    minority: int
    name: ClassVar[str] = "tiny-model"
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = True

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a weak and a strong one."""
        return cls(1), cls(3)

    @property
    def min_group(self) -> int:
        """Somebody has the most common value."""
        return self.minority + 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's minority is large enough."""
        return all_satisfied((others >= self.minority for others in _minorities(groups)), groups)

    def achieved(self, groups: Groups) -> float:
        """Return the size of the smallest minority."""
        return smallest(others.astype(np.float64) for others in _minorities(groups))

    def __str__(self) -> str:
        return f"a minority of {self.minority}"


def _minorities(groups: Groups) -> Iterator[NDArray[np.int64]]:
    for histogram in histograms(groups, None).values():
        yield groups.sizes - histogram.largest
