"""δ-presence: nobody's being in the table is too sure, nor their being absent (Nergiz, Atzori & Clifton 2007).

An adversary who has the population's table asks how likely a person of it is to be in the published one: the rows that
the person's group shows over the people whom its labels hold for. Cost: a few counts of the population in all groups'
regions; groups that share people are also compared two by two.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.common.arrays import Floats
from incrowd.common.records import dataclass
from incrowd.common.renaming import renamed
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import RecipeError
from incrowd.models.presence import Presence, rows_over_people
from incrowd.models.shares import require_share


@renamed(most="max_presence", least="min_presence")
@dataclass(frozen=True)
class DeltaPresence(Model):
    """Each person of the population is in the table with a probability from `min_presence` to `max_presence`.

    Parameters
    ----------
    max_presence : the largest probability that a person is in the table, above 0 and at most 1.
    min_presence : the smallest probability, from 0 to `max_presence` (default: 0, no bound).

    Where people have several rows, people are counted, not rows.

    You give the population when you read the table: `read(..., population=...)`.

    A person whom no label holds for is known to be absent. A `min_presence` above 0 forbids that; withheld rows may
    leave such people behind. A group with more rows than people fails, since then the table was not drawn from this
    population.

    If labels of several groups hold for the same people, as those of local recoding do, rows over people is not the
    probability. The people whom both labels hold for may be in the other group, which makes all others in this group
    more likely. The upper bound for a group is therefore rows over those people who are certainly left for it, and a
    person's upper bound is the sum over all groups that may be the person's. The lower bound is the largest of rows
    over people.

    So groups are judged together. A method that judges a few groups at a time holds each of them to rows over people,
    and the release is refused if that turns out not to be enough. It is always enough where groups share no people:
    with Mondrian's strict cuts and region labels, and with full-domain levels.

    >>> import incrowd as ic
    >>> frame = ic.datasets.census(2000)
    >>> table = ic.read(frame[:200], quasi=["age", "sex", "education"], others="drop", population=frame)
    >>> release = ic.publish(table, DeltaPresence(0.2))
    >>> release.guarantees[0].achieved <= 0.2
    True

    Reference: Nergiz, Atzori & Clifton (2007).
    """

    max_presence: float
    min_presence: float = 0.0
    name: ClassVar[str] = "delta-presence"
    plain_name: ClassVar[str] = "being in the table stays unsure"
    # Of groups that share nobody, a union has a probability between those of its parts. But what is shown of a union
    # may hold for people of a third group.
    monotone: ClassVar[bool] = False
    hereditary: ClassVar[bool] = False  # one half of a group may be likelier to be present than the other
    looks_at_values: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_share(self.name, "max_presence", self.max_presence, zero=False)
        require_share(self.name, "min_presence", self.min_presence, zero=True)
        if self.min_presence > self.max_presence:
            raise RecipeError(
                f"{self.name}: min_presence ({self.min_presence:g}) is above max_presence ({self.max_presence:g})."
            )

    @property
    def for_each_group(self) -> GroupPresence:
        """Where groups share nobody and leave out nobody, this is all there is to it."""
        return GroupPresence(self.max_presence, self.min_presence)

    @property
    def needs_everybody(self) -> bool:
        """Whether people whom no label holds for break it."""
        return self.min_presence > 0

    @property
    def min_group(self) -> int:
        """A row alone will do if it could be enough people."""
        return 1

    def satisfied(self, groups: Groups) -> NDArray[np.bool_]:
        """Return whether everybody's probability is within bounds in each group; in none if somebody is left out."""
        presence = Presence(groups)
        within = (presence.highest <= self.max_presence) & (presence.lowest >= self.min_presence)
        if self.needs_everybody:
            within &= not presence.left_out
        return within & ~presence.holds_any(presence.together > self.max_presence)

    def achieved(self, groups: Groups) -> float:
        """Return the largest probability of anybody, or infinity if `min_presence` is broken."""
        presence = Presence(groups)
        if self.needs_everybody and (presence.left_out or (presence.lowest < self.min_presence).any()):
            return float("inf")
        return float(max(presence.highest.max(initial=0.0), presence.together.max(initial=0.0)))

    def least_failing(self, groups: Groups) -> Floats:
        """Return the share of rows that is too large however a group is split into groups that share nobody.

        Groups that satisfy it have at most `max_presence` rows per person. With `min_presence`, one that fails leaves
        people out.
        """
        if self.needs_everybody:
            return np.full(len(groups), float(not self.satisfied(groups).all()))
        return np.clip(1 - self.max_presence * groups.population / groups.sizes, 0.0, 1.0)

    def __str__(self) -> str:
        return f"({self.min_presence:g}, {self.max_presence:g})-presence"


@dataclass(frozen=True)
class GroupPresence(Model):
    """Rows over people is from `min_presence` to `max_presence` in each group: δ-presence if groups share no people."""

    max_presence: float
    min_presence: float = 0.0
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
        return (shares <= self.max_presence) & (shares >= self.min_presence)

    def achieved(self, groups: Groups) -> float:
        """Return the largest rows over people."""
        return float(rows_over_people(groups).max(initial=0.0))

    def __str__(self) -> str:
        return f"({self.min_presence:g}, {self.max_presence:g})-presence in each group"
