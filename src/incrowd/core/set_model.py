"""What *safe* means for sets of items: what an adversary may know, and among how many people that must leave a person.

**What is guaranteed.** What is published is one set of nodes per person, where an item is shown as itself, as a node
above it, or not at all. For every published set and every at most `known_items` nodes in it, at least `min_people`
published sets contain all of these nodes; and of those people, at most `max_share` have any one sensitive value. Where
people are in parts (`ItemSets.parts`), all this holds within each part by itself.

**What that means for true items.** Suppose that the adversary knows at most `known_items` true items of a person.

- The published sets that cover all of these items, each by a node that holds it, are none or at least `min_people`: a
  set that covers them does so by at most as many nodes, and at least `min_people` sets contain those.
- The person's own set shows some of the items, by at most as many nodes, and at least `min_people` sets contain those.
  None of them can be ruled out by an item that is not shown. Where one recoding holds for everybody, that item is shown
  in no set; where single occurrences are left out, it may have been left out of any set.
- The shares of sensitive values are bounded in each crowd that shows the same nodes. Methods by occurrence show an item
  by one node per set at most where shares count, so that the crowds that cover known items are separate, and what no
  crowd exceeds, all together do not.

**What is not.** An adversary may know more items; may know that a person *lacks* an item; or may know how a method
decides and conclude from what it did not show, as with every method that loses no more than it must.

A set of which nothing is shown contains no node, and is safe however few people there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from incrowd.core.model import Model, Statement


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

    @property
    def first_value(self) -> int:
        """The first sensitive code that counts: people with a code below it, the missing one, are left out of shares.

        Where nobody else is left, all are taken to have one and the same value.
        """
        return 0


def split_models(required: Sequence[Model | SetModel]) -> tuple[tuple[Model, ...], tuple[SetModel, ...]]:
    """Return the models of groups, and those of sets."""
    of_sets = [SetModel in type(model).__mro__ for model in required]
    return (
        tuple(cast("Model", model) for model, found in zip(required, of_sets, strict=True) if not found),
        tuple(cast("SetModel", model) for model, found in zip(required, of_sets, strict=True) if found),
    )
