"""HIPAA Safe Harbor: eighteen kinds of identifiers are removed, 45 CFR 164.514(b)(2).

The rule asks for no group size, so the recipe asks for none: k = 1, of which every release says that it guarantees
nothing. What can be checked is that columns of the eighteen kinds are gone, or cut as the rule allows.
"""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from incrowd.common.records import dataclass
from incrowd.errors import SchemaError
from incrowd.planning.profile.column_names import words_of
from incrowd.planning.profile.column_profile import ColumnProfile
from incrowd.planning.profile.plan import Asked, Plan, PlannedColumn
from incrowd.planning.profile.proposing import Profile
from incrowd.planning.rules.identifier_kinds import KINDS, kind_of, named
from incrowd.planning.rules.rule import Rule

SPARSE_AREAS = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879", "884", "890",
    "893",
)  # fmt: skip
"""First digits of zip codes that 20,000 people or fewer share, by the census of 2000, as HHS's guidance lists them."""
OLDEST = 90
_NO_IDENTIFIER = (
    "sex", "race", "education", "family", "insurance", "work", "language", "body", "money", "health", "belief",
    "justice", "result",
)  # fmt: skip
"""What columns hold that are none of the eighteen kinds."""
_STATE_WORDS = frozenset(("state", "states", "us", "usa", "home", "code", "name", "of", "residence", "patient", "abbr"))
_EMPLOYER_WORDS = frozenset(
    (
        "employer",
        "employers",
        "company",
        "firm",
        "workplace",
        "organization",
        "organisation",
        "arbeitgeber",
        "employeur",
    )
)
_HIDDEN = ("identifier", "person", "household")
_LOOKED_FOR = "ABCDEFGHIJKLMNO"


@dataclass(frozen=True)
class HipaaSafeHarbor(Rule):
    """Drop the eighteen kinds of identifiers; years, ages to 89 and three digits of zip codes stay.

    Reference: 45 CFR 164.514(b)(2); HHS, Guidance Regarding Methods for De-identification (2012).
    """

    name: ClassVar[str] = "hipaa-safe-harbor"
    title: ClassVar[str] = "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)"

    def plan(self, profile: Profile) -> Plan:
        """Return roles by kind of identifier, and a model that asks nothing."""
        columns = _with_a_quasi([_planned(column) for column in profile.columns])
        quasi = [planned.column.name for planned in columns if planned.role == "quasi"]
        return Plan(
            title=self.title,
            not_established=(
                "No group size is promised: k = 1, which every table satisfies. People may be one of a kind in what is "
                "published; `incrowd audit` measures how many are found.",
                "That nobody with the covered entity has actual knowledge that what remains could identify somebody: "
                "the second half of the rule, 164.514(b)(2)(ii), which a person has to judge.",
                "That columns are what their names and values look like. An identifier inside another column, such as "
                "a name inside a diagnosis, is not found.",
                "That the list of sparse zip code areas is current: it is that of the census of 2000. Check it against "
                "the latest census.",
                "It is no legal determination.",
            ),
            questions=tuple(_questions(columns)),
            models=(
                Asked(
                    "Safe Harbor asks for no group size. k = 1 says so, and the release warns that nothing is "
                    "guaranteed. To promise more than the rule asks for, raise k and use the method mondrian.",
                    {"name": "k-anonymity", "k": 1},
                ),
            ),
            method=Asked(
                "Level 0 of each hierarchy is the value itself: what is none of the eighteen kinds stays as it is.",
                {"name": "full-domain", "max_levels": dict.fromkeys(quasi, 0)},
            ),
            columns=tuple(columns),
        )


def first_year() -> int:
    """Return the first year of birth of people who are younger than 90 at the end of this year."""
    return date.today().year - OLDEST + 1


def _planned(column: ColumnProfile) -> PlannedColumn:
    if column.role in _HIDDEN:
        return PlannedColumn(column, column.role, f"{named(kind_of(column))}: not published")
    if column.role == "drop":
        free = "; free text may hold any of the eighteen kinds" if "free text" in column.reason.lower() else ""
        return PlannedColumn(column, "drop", f"not published{free}")
    match column.concept:
        case "birth" | "event date":
            return _dated(column)
        case "age":
            return _aged(column)
        case "postal code":
            return _cut_zip(column)
        case "place" | "origin" | "coordinate" | "address":
            return _placed(column)
    if column.concept == "work" and _EMPLOYER_WORDS & set(words_of(column.name)):
        return PlannedColumn(column, "drop", f"{named('A')}, of employers, too: not published")
    if column.role == "weight" or column.concept in _NO_IDENTIFIER:
        return PlannedColumn(column, column.role, "none of the eighteen kinds by its name: published")
    why = f'not recognised, so that it may be {named("R")}: not published. If it is none of the kinds: role = "quasi"'
    return PlannedColumn(column, "drop", why)


def _dated(column: ColumnProfile) -> PlannedColumn:
    if column.look not in ("date", "integer"):
        why = "not read as dates, so that no year can be taken: dropped. State how they are written to keep the years"
        return PlannedColumn(column, "drop", f"{named('C')}; {why}")
    first = first_year()
    why = (
        f"only the year is published. Years before {first} are one: people with an event so early turn 90 this year, "
        "or are older. Raise not_before by one each year"
    )
    return PlannedColumn(column, "keep", f"{named('C')}: {why}", {"change": {"name": "year", "not_before": first}})


def _aged(column: ColumnProfile) -> PlannedColumn:
    if column.look not in ("integer", "number"):
        why = 'ages that are no numbers may tell some above 89: dropped. If no group begins above 89: role = "quasi"'
        return PlannedColumn(column, "drop", f"{named('C')}; {why}")
    change = {"name": "top-coding", "above": OLDEST, "shown": "label"}
    why = "ages over 89 are one category, 90 or older (age in full years)"
    return PlannedColumn(column, "keep", f"{named('C')}: {why}", {"change": change})


def _cut_zip(column: ColumnProfile) -> PlannedColumn:
    # A column that is called zip3 holds three digits already: 941 is not 00941.
    digits = 3 if "3" in column.name else 5
    change: dict[str, Any] = {"name": "first-characters", "keep": 3, "digits": digits}
    change |= {"exceptions": list(SPARSE_AREAS), "shown": "000"}
    why = (
        "the first three digits of zip codes, and 000 for areas of 20,000 people or fewer: the 17 of the census of "
        "2000 that HHS lists. Check the current list. What is no zip code of the USA becomes 000, too"
    )
    return PlannedColumn(column, "keep", f"{named('B')}: {why}", {"change": change})


def _placed(column: ColumnProfile) -> PlannedColumn:
    words = words_of(column.name)
    state = column.concept == "place" and "state" in words and set(words) <= _STATE_WORDS
    country = column.concept == "origin" and any(word.startswith(("countr", "national", "citizen")) for word in words)
    if state or country:
        return PlannedColumn(column, column.role, "a state or a country: no smaller place, published")
    return PlannedColumn(column, "drop", f'{named("B")}: not published. If it is a state or larger: role = "quasi"')


def _with_a_quasi(columns: list[PlannedColumn]) -> list[PlannedColumn]:
    """A release needs one quasi-identifier: at level 0 and with k = 1, a sensitive column is published all the same."""
    if any(planned.role == "quasi" for planned in columns):
        return columns
    for place, planned in enumerate(columns):
        if planned.role == "sensitive" or (planned.role == "keep" and not planned.entries):
            why = f"{planned.why}. A release needs one quasi-identifier: here it changes nothing"
            return [*columns[:place], PlannedColumn(planned.column, "quasi", why), *columns[place + 1 :]]
    raise SchemaError(
        "no column is left that is none of the eighteen kinds of identifiers.  Hint: name columns so that they can be "
        "recognised, such as sex or diagnosis, or write the recipe without --rule."
    )


def _questions(columns: list[PlannedColumn]) -> list[str]:
    dropped = [planned for planned in columns if planned.role in (*_HIDDEN, "drop") or planned.entries]
    found = {kind_of(planned.column) for planned in dropped}
    none = [f"({letter}) {KINDS[letter]}" for letter in _LOOKED_FOR if letter not in found]
    asked = [f"Looked for by names and values, and not found: {'; '.join(none)}. Is that so?"] if none else []
    return [
        *asked,
        "(P) biometric identifiers and (Q) photographs are looked for by the names of columns alone. Are there any?",
        "(R) any other unique characteristic, such as a rare occupation or a record height: is there a value that "
        "points at one person?",
        "Is anything below about relatives, employers or household members of the person? The rule is about them, too.",
        "Free text is dropped. Whoever puts it back has to remove all eighteen kinds from every text.",
    ]
