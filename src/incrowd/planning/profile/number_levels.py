"""A hierarchy for every quasi-identifier, written out so that it can be read and edited.

Starts from what `Automatic` would do with the values, and makes it explicit: round widths, units of the calendar,
masks, or all values of a category by name. Cost: the distinct values that are known, at most ten thousand.
"""

from __future__ import annotations

import math
import re

import polars as pl

from incrowd.errors import HierarchyError
from incrowd.hierarchies.automatic import propose
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.flat import Flat
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.intervals import Intervals, number_text
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.values import as_days, as_text, natural_kind
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.name_groups import known_groups
from incrowd.planning.profile.readable import count

MOST_CATEGORIES = 50
"""More values than this are not listed: nobody would edit them in a recipe."""
OLDEST_AGE = 90
"""Ages from here on are taken together: so few people are that old (HIPAA's safe harbor draws the same line)."""

_FINEST_INTERVALS = 32
_FEW_NUMBERS = 5
_LARGEST_NUMBER = 1e15
_LONGEST_MASK = 12
_DATE_MASKS = (
    (r"^\d{2}\.\d{2}\.\d{4}$", Masking(side="left", steps=(3, 6))),
    # Whether the day or the month comes first cannot be told, so only the year stays.
    (r"^\d{2}[./-]\d{2}[./-]\d{4}$", Masking(side="left", steps=(6,))),
    (r"^\d{4}[./]\d{2}[./]\d{2}$", Masking(steps=(3, 6, 7))),
    (r"^\d{4}-\d{2}$", Masking(steps=(3, 4))),
)
"""Dates that are not written as YYYY-MM-DD, and masks that make months, years and decades of them."""
_COORDINATE_WIDTHS = (0.01, 0.1, 1.0, 10.0)


def propose_hierarchy(facts: ColumnFacts, concept: str | None) -> Hierarchy:
    """Return a hierarchy that covers all values of the column."""
    hierarchy = _proposed(facts, concept)
    try:
        hierarchy.build(facts.name, facts.values)
    except HierarchyError:
        return Flat()
    return hierarchy


def describe(hierarchy: Hierarchy | None) -> str:
    """Return a hierarchy in a few words.

    >>> describe(Intervals(widths=(5, 10, 20), upper=90))
    'intervals of 5, 10, 20; 90+'
    """
    match hierarchy:
        case Intervals():
            words = "intervals of " + ", ".join(map(number_text, hierarchy.widths))
            return words + (f"; {number_text(hierarchy.upper)}+" if hierarchy.upper is not None else "")
        case Dates():
            return "dates by " + ", ".join(hierarchy.units)
        case Masking():
            return f"masked from the {hierarchy.side}"
        case Categories():
            groups = {row[1] for row in hierarchy.rows if len(row) > 1}
            values = count(len(hierarchy.rows), "value")
            return f"{values} in {count(len(groups), 'group')}" if groups else f"{values}, not grouped"
        case Flat():
            return "flat"
        case None:
            return ""
        case _:
            return hierarchy.name


def reason_of(hierarchy: Hierarchy) -> str | None:
    """Return why a hierarchy is what it is, in a sentence; None where its values say it.

    >>> reason_of(Intervals(widths=(5, 10)))
    'Round widths that begin at 0: at most thirty of the narrowest, and each wider one holds whole ones.'
    """
    match hierarchy:
        case Intervals():
            widths = (
                "Round widths that begin at 0: at most thirty of the narrowest, and each wider one holds whole ones."
            )
            return widths if hierarchy.upper is None else f"{widths} Few are {number_text(hierarchy.upper)} or more."
        case Dates():
            return "Parts of the calendar that everybody knows, from fine to coarse."
        case Masking():
            hidden = "last" if hierarchy.side == "right" else "first"
            return f"Codes become less specific as their {hidden} characters are hidden."
        case _:
            return None


def _proposed(facts: ColumnFacts, concept: str | None) -> Hierarchy:
    if facts.look == "date":
        return Dates(units=_units(facts.values))
    if concept == "postal code":
        return _masking(facts.values) or Flat()
    # Numbers of places are names: 7 is no nearer to 8 than to 15.
    codes = concept == "place" and facts.look == "integer" and facts.complete and facts.distinct <= MOST_CATEGORIES
    if facts.is_numeric and facts.distinct > _FEW_NUMBERS and concept not in ("sex", "race") and not codes:
        return _intervals(facts, concept)
    if facts.look == "text" and concept in ("birth", "event date") and (mask := _date_mask(facts.values)):
        return mask
    if facts.complete and facts.distinct <= MOST_CATEGORIES:
        return _categories(facts.values, concept)
    if not facts.is_numeric and isinstance(propose(facts.values), Masking):
        return _masking(facts.values) or Flat()
    return Flat()


def _units(values: pl.Series) -> tuple[str, ...]:
    dates = as_days(natural_kind(values))
    units = ["month", "quarter", "year", "decade"]
    if dates.dtype == pl.Datetime:
        units.insert(0, "day")
    years = dates.dt.year()
    if int(years.max() or 0) // 10 == int(years.min() or 0) // 10:  # type: ignore[arg-type]
        units.remove("decade")
    return tuple(units)


def _date_mask(values: pl.Series) -> Hierarchy | None:
    if values.dtype != pl.String:
        return None
    return next((mask for pattern, mask in _DATE_MASKS if bool(values.str.contains(pattern).all())), None)


def _masking(values: pl.Series) -> Hierarchy | None:
    longest = max(as_text(values).str.len_chars().to_list(), default=0)
    if not 1 < longest <= _LONGEST_MASK:
        return None
    step = 1 if longest <= 6 else 2
    return Masking(steps=tuple(range(step, longest, step)))


def _intervals(facts: ColumnFacts, concept: str | None) -> Hierarchy:
    if facts.low is None or facts.high is None or facts.low == facts.high:
        return Flat()
    if max(abs(facts.low), abs(facts.high)) > _LARGEST_NUMBER:
        return Flat()
    if concept == "coordinate":
        return Intervals(widths=_COORDINATE_WIDTHS)
    widths = readable_widths(facts.high - facts.low, whole=facts.whole)
    old = concept == "age" and facts.high >= OLDEST_AGE and facts.low < OLDEST_AGE
    return Intervals(widths=widths, upper=OLDEST_AGE if old else None)


def readable_widths(reach: float, *, whole: bool) -> tuple[float, ...]:
    """Return widths that are easy to read and nest: 5, 10, 20, 40, times a power of ten; six to thirty of the first.

    >>> readable_widths(73, whole=True), readable_widths(240_000, whole=True), readable_widths(1.5, whole=False)
    ((5.0, 10.0, 20.0, 40.0), (10000.0, 50000.0, 100000.0, 200000.0), (0.05, 0.1, 0.2, 0.4, 0.8))
    >>> readable_widths(15, whole=True), readable_widths(6, whole=True)
    ((5.0, 10.0), (2.0, 4.0))
    """
    if whole and reach < 10:
        return (2.0, 4.0) if reach > 4 else (2.0,)
    digit, power = _next_readable(reach / _FINEST_INTERVALS)
    if whole and power < 0:
        digit, power = 1, 0
    factors = [digit, 5 if digit == 1 else 10]
    while factors[-1] * 2 * 10.0**power < reach:
        factors.append(factors[-1] * 2)
    # A width of 1 is the value itself.
    widths = [_scaled(factor, power) for factor in factors if not (whole and factor == 1 and power == 0)]
    return tuple(width for width in widths if width < reach) or (widths[0],)


def _next_readable(number: float) -> tuple[int, int]:
    """Return the next of 1, 5, 10, 50, 100, … as a digit and a power of ten."""
    power = math.floor(math.log10(number))
    for digit in (1, 5):
        if digit * 10.0**power >= number * (1 - 1e-9):
            return digit, power
    return 1, power + 1


def _scaled(factor: int, power: int) -> float:
    """Multiply by a power of ten without the noise of binary fractions."""
    return float(factor * 10**power) if power >= 0 else factor / 10**-power


def _categories(values: pl.Series, concept: str | None) -> Hierarchy:
    names = sorted(as_text(values).to_list(), key=_natural_order)
    return Categories.from_tree(known_groups(concept, names) or names, taken_from="data") if names else Flat()


def _natural_order(text: str) -> tuple[int, list[tuple[int, int, str]], str]:
    """Sort as people do, so that neighbours are neighbours: <5, 5-9, 10-14, >80."""
    open_ended = -1 if text.startswith("<") else 1 if text.startswith(">") else 0
    parts = re.findall(r"[0-9]+|[^0-9]+", text.casefold())
    numbered = [(0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in parts]
    return open_ended, numbered, text
