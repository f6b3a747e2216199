"""What an attack achieves: how often the adversary is right, how sure that is, and what they would guess anyway."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal, Protocol

from incrowd.common.records import dataclass

Threat = Literal["singling out", "linkability", "inference"]
"""The three things that data-protection authorities ask about (Article 29 Working Party, Opinion 05/2014)."""

QUESTIONS: Mapping[Threat, str] = {
    "singling out": "Can somebody be isolated in the table?",
    "linkability": "Can rows be linked to people, or people to the table?",
    "inference": "Can what is sensitive be guessed?",
}
"""What each threat asks, in plain words."""

_QUANTILE = 1.959963984540054
"""Of the normal distribution, for intervals that hold with 95 %."""

GUESSING = "guessing without the release"

Level = Literal["low", "noticeable", "high"]
LEVELS: tuple[Level, ...] = ("low", "noticeable", "high")

HIGH_ADVANTAGE, SOME_ADVANTAGE = 0.5, 0.05
"""An attack that finds out so much of what guessing leaves open is high, or noticeable."""

MANY_EXPOSED = 0.05
"""Where one in twenty is exposed, it is high; where anybody is, it is never low."""

NOTICEABLE = 0.01
"""An attack that is right this much more often than guessing, beyond doubt, has got through."""


@dataclass(frozen=True)
class Risk:
    """The outcome of one attack: a rate, its 95 % interval, and the rate of somebody who has not seen the release.

    `against` says what the baseline is, where it is more than guessing: an attack that adds a trick to what the release
    shows anyway is held against the release without the trick. `people` were attacked; `worst` is the adversary's
    certainty about the person who is best known to them. `says` is the outcome as a sentence, and `details` are further
    numbers under names of their own.
    """

    attack: str
    threat: Threat
    value: float
    low: float
    high: float
    baseline: float
    people: int
    says: str
    column: str | None = None
    worst: float | None = None
    against: str = GUESSING
    details: Mapping[str, float] = field(default_factory=dict)
    exposed: int = 0
    """People about whom the adversary is sure, and right, by the release alone: means do not console them."""
    plain_name: str = ""
    """What the attack is in plain words."""
    reaches_people: bool = True
    """Whether success means that a person is found, or something about one is learnt."""
    beside: tuple[str, ...] = ()
    """The columns kept beside the labels that the adversary knew."""
    joined_by: tuple[str, ...] = ()
    """The columns by which rows were joined with other releases."""

    @property
    def full_name(self) -> str:
        """The attack, and the column that it is after."""
        return self.attack if self.column is None else f"{self.attack}, {self.column}"

    @property
    def advantage(self) -> float:
        """How much of what guessing leaves open the attack finds out: 0 for nothing more, 1 for everything."""
        if self.baseline >= 1:
            return 0.0
        return max(0.0, (self.value - self.baseline) / (1 - self.baseline))

    @property
    def level(self) -> Level:
        """How bad it is: decided by the people who are exposed, and by how often the adversary is right on average."""
        exposed = self.exposed / max(self.people, 1)
        if exposed >= MANY_EXPOSED or (self.got_through and self.advantage >= HIGH_ADVANTAGE):
            return "high"
        return "noticeable" if self.exposed or (self.got_through and self.advantage >= SOME_ADVANTAGE) else "low"

    @property
    def got_through(self) -> bool:
        """Whether the release helps the adversary, beyond chance."""
        return bool(self.low > self.baseline + NOTICEABLE)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {
            "attack": self.attack,
            **({"plain name": self.plain_name} if self.plain_name else {}),
            "threat": self.threat,
            **({} if self.column is None else {"column": self.column}),
            "value": self.value,
            "interval": [self.low, self.high],
            "baseline": self.baseline,
            "baseline is": self.against,
            "advantage": self.advantage,
            "got through": self.got_through,
            "people": self.people,
            **({} if self.worst is None else {"worst": self.worst}),
            "level": self.level,
            "reaches people": self.reaches_people,
            "says": self.says,
            **({"details": dict(self.details)} if self.details else {}),
        }


class WithThreat(Protocol):
    """What an attack says of itself."""

    name: ClassVar[str]
    plain_name: ClassVar[str]
    threat: ClassVar[Threat]
    reaches_people: ClassVar[bool]


def risk_of(
    attack: WithThreat,
    *,
    value: float,
    baseline: float,
    people: int,
    says: str,
    column: str | None = None,
    worst: float | None = None,
    against: str = GUESSING,
    details: Mapping[str, float] | None = None,
    trials: int | None = None,
    sure: bool = False,
    exposed: float = 0,
) -> Risk:
    """Return an attack's outcome with its interval: that of so many `trials`, or of as many as there are people.

    It is `sure` where nobody could be attacked, since there is nobody.
    """
    low, high = (value, value) if sure else wilson(value, people if trials is None else trials)
    return Risk(
        attack.name,
        attack.threat,
        value,
        low,
        high,
        baseline,
        people,
        says,
        column,
        worst,
        against,
        details or {},
        max(0, round(exposed)),
        attack.plain_name,
        attack.reaches_people,
    )


def wilson(rate: float, number: float) -> tuple[float, float]:
    """Return the 95 % interval of a rate among so many independent trials (Wilson 1927).

    >>> tuple(round(end, 4) for end in wilson(0.5, 100))
    (0.4038, 0.5962)
    >>> wilson(0.0, 0)
    (0.0, 1.0)
    """
    if number <= 0:
        return 0.0, 1.0
    z2 = _QUANTILE**2
    middle = (rate + z2 / (2 * number)) / (1 + z2 / number)
    spread = _QUANTILE * math.sqrt(rate * (1 - rate) / number + z2 / (4 * number**2)) / (1 + z2 / number)
    return max(0.0, min(middle - spread, rate)), min(1.0, max(middle + spread, rate))
