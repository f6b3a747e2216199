"""What a campaign is: one trial after another, each made of a number, each ending in nothing or in a broken promise."""

from __future__ import annotations

import importlib
import pkgutil
import tempfile
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True)
class Finding:
    """A promise that was not kept, and the number that makes the trial again."""

    campaign: str
    number: int
    what: str

    def __str__(self) -> str:
        """Return what happened, and how to see it again."""
        again = f"make campaign NAME={self.campaign} FIRST={self.number} TRIALS=1"
        return f"{self.campaign} {self.number}: {self.what}\n  again: {again}"


class Campaign(ABC):
    """One kind of attack. A subclass in a module of this package is found by itself."""

    name: ClassVar[str]
    share: ClassVar[int]
    """How many trials `make test` makes, always the same ones: a few seconds' worth."""

    @abstractmethod
    def trial(self, number: int, place: Path) -> str | None:
        """Make one trial in an empty directory; return what is wrong, or nothing. All chance comes from the number."""


def campaigns() -> dict[str, Campaign]:
    """Return every campaign of this package by its name."""
    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith(("test_", "__")):
            importlib.import_module(f"{__package__}.{module.name}")
    return {kind.name: kind() for kind in sorted(_kinds(Campaign), key=lambda kind: kind.name)}


def one_trial(name: str, number: int) -> Finding | None:
    """Make one trial in a directory of its own; a trial that fails in itself is a finding, too."""
    with tempfile.TemporaryDirectory(prefix="incrowd-campaign-") as place:
        try:
            what = campaigns()[name].trial(number, Path(place))
        except Exception:
            what = "".join(traceback.format_exc().splitlines(keepends=True)[-12:])
    return None if what is None else Finding(name, number, what)


def _kinds(kind: type[Campaign]) -> Iterator[type[Campaign]]:
    for below in kind.__subclasses__():
        if "name" in vars(below):
            yield below
        yield from _kinds(below)
