"""LKC-privacy of sets of items (Mohammed, Fung, Hung & Lee, KDD 2009)."""

from __future__ import annotations

from typing import ClassVar

from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.core.model import Missing, of_what, require_missing
from incrowd.core.set_model import SetModel
from incrowd.hierarchies.tree import MISSING
from incrowd.models.sets.km_anonymity import LARGEST_KNOWN
from incrowd.models.shares import require_share


@dataclass(frozen=True)
class LKCPrivacy(SetModel):
    """At least `k` people have whatever at most `l` items are known, and at most a share `c` one sensitive value.

    Knowing nothing is among what may be known: if more than a share `c` of all people have one value, it never holds.

    Parameters
    ----------
    l : how many items of a person an adversary may know, from 1 to 8.
    k : the smallest number of people that share a combination.
    c : the largest share of these people with one sensitive value, above 0 and at most 1.
    missing : "ignored" or "counts": what a missing value means (default: "ignored"). Ignored, it protects nobody:
        shares are those among the people whose value is recorded, and people of whom none is are taken to have one and
        the same value. With "counts", missing is a value like any other.

    Reference: Mohammed, Fung, Hung & Lee (2009).
    """

    l: int
    k: int
    c: float
    missing: Missing = "ignored"
    name: ClassVar[str] = "lkc-privacy"
    plain_name: ClassVar[str] = "a few known facts fit several people"

    def __post_init__(self) -> None:
        require_whole(self.name, "l", self.l, at_least=1, at_most=LARGEST_KNOWN)
        require_whole(self.name, "k", self.k, at_least=1)
        require_share(self.name, "c", self.c, zero=False)
        require_missing(self.name, self.missing)

    @property
    def known_items(self) -> int:
        """The L items."""
        return self.l

    @property
    def min_people(self) -> int:
        """The K people."""
        return self.k

    @property
    def max_share(self) -> float:
        """The confidence C."""
        return self.c

    @property
    def first_value(self) -> int:
        """Whether the missing value counts."""
        return MISSING if self.missing == "counts" else MISSING + 1

    def __str__(self) -> str:
        return f"LKC-privacy with L = {self.l}, K = {self.k}, C = {self.c:g}{of_what(None, self.missing)}"
