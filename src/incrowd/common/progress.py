"""How long work tells how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then with the stage's name and the share of it that is done, from 0 to 1."""

    def __call__(self, stage: str, done: float) -> None:
        """Take note."""
        ...


def silent(stage: str, done: float) -> None:
    """Report to nobody."""
