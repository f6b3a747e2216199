"""k^m-anonymity of sets of items (Terrovitis, Mamoulis & Kalnis, VLDB 2008)."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.set_model import SetModel

LARGEST_KNOWN = 8
"""More known items are refused: the combinations of a set of 100 items would not be counted in a lifetime."""


@dataclass(frozen=True)
class KmAnonymity(SetModel):
    """Every combination of at most `m` items that a published set shows is shown by at least `k` people.

    Parameters
    ----------
    k : the smallest number of people that share a combination.
    m : how many items of a person an adversary may know, from 1 to 8.

    Reference: Terrovitis, Mamoulis & Kalnis (2008).
    """

    k: int
    m: int = 2
    name: ClassVar[str] = "km-anonymity"
    plain_name: ClassVar[str] = "a few known items fit several people"

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k, at_least=1)
        require_whole(self.name, "m", self.m, at_least=1, at_most=LARGEST_KNOWN)

    @property
    def known_items(self) -> int:
        """The m items."""
        return self.m

    @property
    def min_people(self) -> int:
        """The k people."""
        return self.k

    def __str__(self) -> str:
        return f"{self.k}^{self.m}-anonymity"
