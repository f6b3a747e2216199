"""What a rule is: it makes a plan of a recipe from what is known of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from incrowd.common.registry import Named

if TYPE_CHECKING:
    from incrowd.planning.profile.plan import Plan
    from incrowd.planning.profile.proposing import Profile


class Rule(Named, Protocol):
    """A rule. Implementations are frozen dataclasses that inherit from this, one file each."""

    title: ClassVar[str] = ""
    """What readers know it as."""

    def plan(self, profile: Profile) -> Plan:
        """Return the recipe that the rule asks for."""
        ...
