"""What would change a finding, as plain numbers and sentences."""

from __future__ import annotations

from typing import Any

from incrowd.common.percents import percent
from incrowd.common.records import dataclass
from incrowd.core.risk import LEVELS, Level, Risk

Key = tuple[str, str | None]
"""An attack, and the sensitive column that it is after."""


def key_of(risk: Risk) -> Key:
    """Return what tells the outcomes of one attack from those of others."""
    return risk.attack, risk.column


@dataclass(frozen=True)
class Outcome:
    """How far an attack gets after a change."""

    change: str
    """The option and its value, as a request: "set k = 20 in k-anonymity (now 5)"."""
    value: float
    level: Level

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"change": self.change, "value": self.value, "level": self.level}


@dataclass(frozen=True)
class Remedy:
    """What would change one finding: `steps`, each on top of the one before; nothing if all that was tried does not."""

    attack: str
    plain_name: str
    column: str | None
    before: float
    level: Level
    steps: tuple[Outcome, ...] = ()
    tried: tuple[Outcome, ...] = ()
    """All that was measured, the changes above among them."""
    why_not: str = ""
    """Why nothing was measured."""

    @property
    def name(self) -> str:
        """The attack, in technical and in plain words."""
        named = self.attack if self.column is None else f"{self.attack}, {self.column}"
        return f"{named} ({self.plain_name})" if self.plain_name else named

    @property
    def reaches(self) -> Level:
        """The level after all steps."""
        return self.steps[-1].level if self.steps else self.level

    @property
    def says(self) -> str:
        """What to do, in sentences."""
        now = f"{self.name}: {percent(self.before)}, {self.level}."
        if self.why_not:
            return f"{now} Not measured: {self.why_not}"
        said = [
            f"{'Then ' if place else ''}{step.change}: {percent(step.value)}, {step.level}."
            for place, step in enumerate(self.steps)
        ]
        said = [sentence[0].upper() + sentence[1:] for sentence in said]
        if self.reaches != LEVELS[0]:
            least = min(self.tried, key=lambda one: (LEVELS.index(one.level), one.value), default=None)
            if least is None:
                said.append("Nothing could be tried.")
            else:
                most = f"{len(self.tried)} changes were tried; the most that any does: {least.change}"
                said.append(f"It stays {self.reaches}: {most}, {percent(least.value)}.")
        return " ".join([now, *said])

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {
            "attack": self.attack,
            **({"plain name": self.plain_name} if self.plain_name else {}),
            **({} if self.column is None else {"column": self.column}),
            "before": self.before,
            "level": self.level,
            "steps": [step.to_dict() for step in self.steps],
            "reaches": self.reaches,
            "tried": [one.to_dict() for one in self.tried],
            **({"not measured": self.why_not} if self.why_not else {}),
            "says": self.says,
        }


@dataclass(frozen=True)
class Remedies:
    """What would change the findings, and on what it was measured."""

    found: tuple[Remedy, ...] = ()
    rows: int = 0
    """Rows on which changes were measured."""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"note": self.note, "rows": self.rows, "findings": [remedy.to_dict() for remedy in self.found]}
