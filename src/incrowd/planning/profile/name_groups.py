"""Groups that a careful reader would make of well-known values: countries, schooling, marital status.

Only a start for the user to edit. Where most of the values are not known here, no groups are made.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from incrowd.planning.profile.countries import PARTS_OF_THE_WORLD

MOST_KNOWN = 0.8
REST = "Elsewhere or unknown"

# The first that fits; written without accents and in lower case. Negations come before what they negate.
_WITHOUT_PARTNER = (
    r"never|single|divorc|separat|widow|absent|not married|unmarried|ledig|geschieden|getrennt|verwitwet|"
    r"celib|veu[fv]|solter|viud|nubile|vedov"
)
_WITH_PARTNER = r"married|partner|spouse|cohabit|civil union|verheiratet|lebenspartner|marie|pacs|casad|coniugat|sposat"
_SCHOOLING = (
    ("Higher education", r"doctor|phd|promotion|professional|prof school"),
    ("Higher education", r"master|magister|post ?graduate"),
    ("Higher education", r"bachelor|universit|hochschule|licence|laurea|undergraduate|graduate degree"),
    ("Some higher education", r"assoc|college|vocational|fachschule|bts|tertiary"),
    ("Secondary school", r"high school|hs ?grad|secondary|abitur|bac|12th|11th|10th|9th|ged|maturita|grade (9|1[0-2])"),
    ("Primary school or none", r"primary|elementary|middle school|[1-8](st|nd|rd|th)|grade [1-8]|preschool"),
    ("Primary school or none", r"kindergarten|no school|none|less than"),
)


def known_groups(concept: str | None, values: Sequence[str]) -> dict[str, Any] | None:
    """Return the values as a tree of one level, or None where too few of them are known.

    >>> known_groups("origin", ["Italy", "Japan", "Spain"])
    {'Asia': ['Japan'], 'Europe': ['Italy', 'Spain']}
    """
    group_of = _GROUPERS.get(concept or "")
    if group_of is None or len(values) < 3:
        return None
    found = {value: group_of(value) for value in values}
    known = [group for group in found.values() if group is not None]
    if len(known) < MOST_KNOWN * len(values) or len(set(known)) < 2:
        return None
    tree: dict[str, list[str]] = {group: [] for group in _order(concept or "", known)}
    for value, group in found.items():
        tree.setdefault(group or REST, []).append(value)
    # One name must not stand for a group and for another value.
    return None if set(tree) & set(values) else dict(tree)


def _order(concept: str, groups: Sequence[str]) -> list[str]:
    if concept == "education":
        ranked = dict.fromkeys(group for group, _ in reversed(_SCHOOLING))
        return [group for group in ranked if group in groups]
    return sorted(set(groups))


def _simple(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", _simple(text))


@cache
def _part_of_country() -> dict[str, str]:
    part_of: dict[str, str] = {}
    for part, countries in PARTS_OF_THE_WORLD.items():
        for country in " ".join(countries.split()).split(", "):
            two, three, names = country.split(" ", 2)
            for name in (two, three, *names.split(" = ")):
                part_of[_letters(name)] = part
    return part_of


def _part_of_the_world(value: str) -> str | None:
    return _part_of_country().get(_letters(value))


def _partnership(value: str) -> str | None:
    simple = _simple(value)
    if re.search(_WITHOUT_PARTNER, simple):
        return "Without a partner"
    return "With a partner" if re.search(_WITH_PARTNER, simple) else None


def _schooling(value: str) -> str | None:
    simple = re.sub(r"[^a-z0-9]+", " ", _simple(value))
    return next((group for group, pattern in _SCHOOLING if re.search(pattern, simple)), None)


_GROUPERS: dict[str, Callable[[str], str | None]] = {
    "origin": _part_of_the_world,
    "family": _partnership,
    "education": _schooling,
}
