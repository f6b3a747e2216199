"""What an attack is: something an adversary tries on a release, with a rate of success that can be compared."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from incrowd.attacks.risk import Risk, Threat
from incrowd.attacks.target import Target


class Attack(Protocol):
    """A frozen dataclass with keyword parameters, one file each, the paper cited in its docstring."""

    name: ClassVar[str]
    threat: ClassVar[Threat]

    def lacks(self, target: Target) -> str | None:
        """Return what is missing for this attack to be tried here, or None if nothing is."""
        ...

    def run(self, target: Target, *, rng: np.random.Generator) -> Risk:
        """Try it; one seed, one outcome."""
        ...
