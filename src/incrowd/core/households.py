"""Who lives together: people as an adversary knows them who knows whole households."""

from __future__ import annotations

from incrowd.common.arrays import Codes, Ints
from incrowd.common.records import dataclass


@dataclass(frozen=True)
class HouseholdFacts:
    """Columns of the table before: those that tell the household, and those that tell whose a row is."""

    household: tuple[str, ...] = ()
    person: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Households:
    """People with their households: person i has the codes `tuples[i]`, and lives in household `household_of[i]`.

    Households are 0, 1, 2, …, and each has somebody. A code of -1 is a value that the release does not know.
    """

    tuples: Codes
    household_of: Ints
