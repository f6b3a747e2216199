"""People of whole households, read from the table before. Cost: it is read once."""

from __future__ import annotations

import numpy as np
import polars.selectors as cs

from incrowd.core.households import HouseholdFacts, Households
from incrowd.core.people import households_of_people, number_households, number_people
from incrowd.core.source import OpenedTable
from incrowd.core.target import MOST_PEOPLE
from incrowd.core.view import View
from incrowd.hierarchies.coding import code_values
from incrowd.sources import reading


def household_rows(
    facts: HouseholdFacts, before: OpenedTable | None, view: View, *, seed: int, most_people: int = MOST_PEOPLE
) -> Households | None:
    """Return people with their households, whole ones drawn at random if there are too many people.

    None where the table before is not at hand, or does not tell who lives together.
    """
    quasi = view.columns
    if before is None or not facts.household or not {*facts.household, *facts.person, *quasi} <= set(before.columns):
        return None
    with reading(before):
        rows = before.frame.select(cs.by_name(*{*facts.household, *facts.person, *quasi})).collect(engine="streaming")
    codes = np.stack([code_values(view.trees[name], before.texts.read(rows[name])) for name in quasi], axis=1)
    households = number_households(rows, facts.household, before.texts)
    # Sorted, so that the order of rows makes no difference to who is drawn.
    order = np.lexsort((*codes.T, households))
    codes, households = codes[order], households[order]
    if facts.person:
        person_of = number_people(rows[order], facts.person, before.texts)
        households_of_people(person_of, households)  # refuses people of several households
        _, first = np.unique(person_of, return_index=True)  # any of somebody's rows finds the same group
        codes, households = codes[np.sort(first)], households[np.sort(first)]
    drawn = np.random.default_rng([seed, 50_000]).permutation(int(households.max(initial=-1)) + 1)
    sizes = np.bincount(households, minlength=len(drawn))[drawn]
    chosen = drawn[: max(int(np.searchsorted(np.cumsum(sizes), most_people, side="right")), 1)]
    number = np.full(len(drawn), -1)
    number[np.sort(chosen)] = np.arange(len(chosen))
    kept = number[households] >= 0
    return Households(np.ascontiguousarray(codes[kept]), number[households[kept]])
