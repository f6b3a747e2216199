"""What *safe* means for sets of items: what an adversary may know, and among how many people that must leave a person.

**What is guaranteed.** What is published is one set of nodes per person, where an item is shown as itself, as a node
above it, or not at all. For every published set and every at most `known_items` nodes in it, at least `min_people`
published sets contain all of these nodes; and of those people, at most `max_share` have any one sensitive value.

**Why that is enough for true items.** Suppose that the adversary knows at most `known_items` true items of a person.
Those that the person's set shows are shown as at most as many nodes, and at least `min_people` sets contain these nodes.
None of them can be ruled out by an item that the person's set does not show: where one recoding holds for everybody, no
set shows it; where sets are in parts (`SetRecoding.parts`), no set of the part does, and the count above is of sets of
the same part; where single occurrences are left out, it may have been left out of any set. So at least `min_people`
people remain, whatever is known of the recoding. What is not guaranteed: that the adversary does not know that a person
*lacks* an item, and that more than `known_items` are not known.

Suppression needs no sets to hide in: a set of which nothing is shown contains no node, and is safe.
"""

from __future__ import annotations

from typing import Protocol

from incrowd.core.model import Statement


class SetModel(Statement, Protocol):
    """What *safe* means for sets. Implementations are frozen dataclasses that inherit from this, one file each."""

    @property
    def known_items(self) -> int:
        """How many items of a person an adversary may know."""
        ...

    @property
    def min_people(self) -> int:
        """How many people must have whatever the adversary knows."""
        ...

    @property
    def max_share(self) -> float:
        """Share of these people that may have one sensitive value; 1 if any may."""
        return 1.0
