"""Health Canada's public release of clinical information: the same threshold and treatment as EMA's."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.records import dataclass
from incrowd.planning.rules.ema_0070 import Ema0070


@dataclass(frozen=True)
class HealthCanada(Ema0070):
    """Ask for what Health Canada's public release of clinical information asks: a maximum risk of 0.09.

    Reference: Health Canada (2019), Public Release of Clinical Information: guidance document.
    """

    name: ClassVar[str] = "health-canada"
    title: ClassVar[str] = "Health Canada, Public Release of Clinical Information"
    authority: ClassVar[str] = "Health Canada"
