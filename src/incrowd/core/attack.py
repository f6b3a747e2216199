"""What an attack is: something an adversary tries on a release, with a rate of success that can be compared."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from incrowd.common.registry import Named
from incrowd.core.risk import Risk, Threat
from incrowd.core.target import Target


class Attack(Named, Protocol):
    """What an adversary tries. Implementations are frozen dataclasses that inherit from this, one file each."""

    threat: ClassVar[Threat]
    """Which of the three things that data-protection authorities ask about."""
    stream: ClassVar[int | None] = None
    """Which stream of chance audits give it, and its place among attacks; by default one of its name's own, and the
    last. So an attack that is added changes no other one's outcome."""
    per_column: ClassVar[bool] = False
    """Whether it is after one sensitive column, which its parameter `column` names: audits try it on each."""
    reaches_people: ClassVar[bool] = True
    """Whether success means that a person is found, or something about one is learnt; False where it only makes what
    the release shows more exact. Recommendations (`auditing/recommendation.py`) tell the two apart."""
    knows_kept_columns: ClassVar[bool] = True
    """Whether it is also tried by somebody who knows the columns that are kept beside the labels: the better counts."""

    def lacks(self, target: Target) -> str | None:
        """Return what is missing for this attack to be tried here, or None if nothing is."""
        ...

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Try it; one seed, one outcome."""
        ...
