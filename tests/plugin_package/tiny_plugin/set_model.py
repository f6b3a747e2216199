"""A model of sets: whoever knows one item is left with a handful of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from incrowd.core.set_model import SetModel


@dataclass(frozen=True)
class TinySetModel(SetModel):
    """Each item that is shown is shown by at least `people`."""

    people: int = 3
    name: ClassVar[str] = "tiny-set-model"

    @property
    def known_items(self) -> int:
        """One item."""
        return 1

    @property
    def min_people(self) -> int:
        """The people."""
        return self.people

    def __str__(self) -> str:
        return f"items of at least {self.people} people"
