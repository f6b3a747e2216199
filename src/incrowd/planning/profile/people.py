"""Which column tells whose a row is, found by structure and not by its name.

Somebody who has several rows is the same in some columns of all of them: the year of birth, the sex. So a column is
taken to tell people apart if its values repeat, and two other columns that have nothing to do with each other are the
same wherever it is. (A zip code also goes with one town and one county, but a town goes with one county as well.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from incrowd.planning.profile.column_names import words_of
from incrowd.planning.profile.separation import CodedRows, measure
from incrowd.planning.profile.survey import Survey
from incrowd.planning.profile.vocabulary import HOUSEHOLD_WORDS, ID_WORDS

FEWEST_PEOPLE = 20
"""Of fewer values it cannot be said whether they are people."""
FEWEST_REPEATED = 5
REPEATED_SHARE = 0.01
"""So many rows at least must be further ones of a value: where few values meet, by chance, other columns agree too."""
MOST_ROWS_EACH = 1000
"""Values that are there more often on average are no people."""


def household_column(surveyed: Survey) -> str | None:
    """Return the column that tells who lives together: one whose name says so, and whose values repeat.

    By structure alone, a household looks like a person with several rows.
    """
    for name, facts in surveyed.columns.items():
        words = words_of(name)
        named = HOUSEHOLD_WORDS & set(words) and (len(words) == 1 or ID_WORDS & set(words))
        if named and not facts.missing and FEWEST_PEOPLE <= measure(surveyed.coded, [name]).groups < surveyed.rows:
            return name
    return None


def person_column(surveyed: Survey, *, household: str | None = None) -> tuple[str, list[str]] | None:
    """Return the column that tells whose a row is, and columns that stay the same within its values, if there is one.

    Of several such columns, the one with the fewest values is taken: whoever it takes for one person is one by the
    others, too. A `household` is no person.
    """
    rows = surveyed.coded  # all of them: a sample of rows has few of each person's
    groups = {name: measure(rows, [name]).groups for name in surveyed.columns}
    found = []
    for name, facts in surveyed.columns.items():
        if (
            name == household
            or facts.missing
            or facts.look in ("date", "number")  # nobody is named by a day, or by an amount
            or not FEWEST_PEOPLE <= groups[name] <= rows.rows - max(FEWEST_REPEATED, REPEATED_SHARE * rows.rows)
            or rows.rows > MOST_ROWS_EACH * groups[name]
        ):
            continue
        others = [other for other in surveyed.columns if other != name and 1 < groups[other] < groups[name]]
        same = [other for other in others if measure(rows, [name, other]).groups == groups[name]]
        if _unrelated(rows, same, groups):
            found.append((groups[name], name, same))
    if not found:
        return None
    _, name, same = min(found)
    return name, same


def named_person(surveyed: Survey, numbers: Sequence[str], traits: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the first of some `numbers` of people by name that repeats, and the `traits` that stay the same within it.

    Where a name says that a column numbers people, one trait that nobody changes, such as the date of birth, is enough.
    """
    rows = surveyed.coded
    for name in numbers:
        groups = measure(rows, [name]).groups
        repeats = groups <= rows.rows - max(FEWEST_REPEATED, REPEATED_SHARE * rows.rows)
        if surveyed.columns[name].missing or groups < FEWEST_PEOPLE or not repeats:
            continue
        same = [
            other
            for other in traits
            if measure(rows, [other]).groups > 1 and measure(rows, [name, other]).groups == groups
        ]
        if same:
            return name, same
    return None


def _unrelated(rows: CodedRows, columns: Sequence[str], groups: dict[str, int]) -> bool:
    """Whether two of the columns have nothing to do with each other: neither goes with one value of the other."""
    return any(
        measure(rows, [one, two]).groups > max(groups[one], groups[two]) for one, two in combinations(columns, 2)
    )
