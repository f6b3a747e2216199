"""δ-presence: nobody's being in the table is too sure, nor their being absent (Nergiz, Atzori & Clifton 2007).

An adversary who has the population's table asks how likely a person of it is to be in the published one: the rows that
the person's group shows over the people whom its labels hold for. Cost: a few counts of the population in all groups'
regions; groups that share people are also compared two by two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import RecipeError
from incrowd.models.presence import Presence, rows_over_people
from incrowd.models.shares import require_share


@dataclass(frozen=True)
class DeltaPresence(Model):
    """Everybody in the population is in the table with a probability of at least `least` and at most `most`.

    Somebody whom no label holds for is known to be absent, and a `least` above 0 forbids that; withheld rows may leave
    such people behind. A group with more rows than people fails, since then the population is not the one that the
    table was drawn from.

    Where labels of groups hold for the same people, as those of local recoding do, rows over people is not the
    probability. The people whom both hold for may have gone into the other group, which makes all others in this one
    the more likely: rows over those people who are certainly left for it bound it from above, and the sum over all
    groups that may be a person's bounds that person's. From below, the largest of rows over people does.

    Groups are therefore judged together. A method that judges a few at a time holds each of them to rows over people,
    and the release is refused if that turns out not to be enough. Mondrian's strict cuts with region labels, and
    full-domain levels, make groups that share nobody, where it always is.

    >>> import incrowd as ic
    >>> frame = ic.datasets.census(2000)
    >>> table = ic.read(frame[:200], quasi=["age", "sex", "education"], others="drop", population=frame)
    >>> release = ic.publish(table, DeltaPresence(0.2))
    >>> release.guarantees[0].achieved <= 0.2
    True
    """

    most: float
    least: float = 0.0
    name: ClassVar[str] = "delta-presence"
    # Of groups that share nobody, a union has a probability between those of its parts. But what is shown of a union
    # may hold for people of a third group.
    monotone: ClassVar[bool] = False
    hereditary: ClassVar[bool] = False  # one half of a group may be likelier to be present than the other
    looks_at_values: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "most", self.most, zero=False)
        require_share(self.name, "least", self.least, zero=True)
        if self.least > self.most:
            raise RecipeError(f"{self.name}: least ({self.least:g}) is above most ({self.most:g}).")

    @property
    def for_each_group(self) -> GroupPresence:
        """Where groups share nobody and leave out nobody, this is all there is to it."""
        return GroupPresence(self.most, self.least)

    @property
    def needs_everybody(self) -> bool:
        """Whether people whom no label holds for break it."""
        return self.least > 0

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be enough people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether everybody's probability is within bounds in each group; in none if somebody is left out."""
        presence = Presence(groups)
        within = (presence.highest <= self.most) & (presence.lowest >= self.least)
        if self.needs_everybody:
            within &= not presence.left_out
        return within & ~presence.holds_any(presence.together > self.most)

    def achieved(self, groups: Groups) -> float:
        """Return the largest probability of anybody, or infinity if `least` is broken."""
        presence = Presence(groups)
        if self.needs_everybody and (presence.left_out or (presence.lowest < self.least).any()):
            return float("inf")
        return float(max(presence.highest.max(initial=0.0), presence.together.max(initial=0.0)))

    def least_failing(self, groups: Groups) -> Floats:
        """Return the share of rows that is too large however a group is split into groups that share nobody.

        Groups that satisfy it have at most `most` rows per person. With `least`, one that fails leaves people out.
        """
        if self.needs_everybody:
            return np.full(len(groups), float(not self.satisfied(groups).all()))
        return np.clip(1 - self.most * groups.population / groups.sizes, 0.0, 1.0)

    def __str__(self) -> str:
        return f"({self.least:g}, {self.most:g})-presence"


@dataclass(frozen=True)
class GroupPresence(Model):
    """Rows over people is at least `least` and at most `most` in each group: δ-presence if groups share nobody."""

    most: float
    least: float = 0.0
    name: ClassVar[str] = "group-presence"
    listed: ClassVar[bool] = False
    monotone: ClassVar[bool] = False  # two groups whose labels hold for the same people have twice the rows together
    hereditary: ClassVar[bool] = False
    looks_at_values: ClassVar[bool] = False

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be enough people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether each group's rows over people is within bounds."""
        shares = rows_over_people(groups)
        return (shares <= self.most) & (shares >= self.least)

    def achieved(self, groups: Groups) -> float:
        """Return the largest rows over people."""
        return float(rows_over_people(groups).max(initial=0.0))

    def __str__(self) -> str:
        return f"({self.least:g}, {self.most:g})-presence in each group"
