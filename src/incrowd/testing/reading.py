"""What a published label says, read the way a stranger to the package would: does it hold for this raw value?"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction

from incrowd.hierarchies import labels as syntax
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.categories import Categories
from incrowd.hierarchies.dates import Dates
from incrowd.hierarchies.hierarchy import Hierarchy
from incrowd.hierarchies.masking import Masking
from incrowd.hierarchies.tree import Tree

Plain = float | Fraction | str | datetime | None
"""A value without its type: numbers and moments can be compared, everything else is text."""


def covers(label: str | None, value: object, hierarchy: Hierarchy, *, ordered: bool) -> bool:
    """Whether a label holds for a raw value; a null label says that the value is missing, and nothing else does."""
    if label is None:
        return is_missing(value)
    # A hierarchy may list a text with the spaces that a table's text has, or without.
    return any(_holds_for(label, spelt, hierarchy, ordered=ordered) for spelt in (value, as_read(value)))


def _holds_for(label: str, value: object, hierarchy: Hierarchy, *, ordered: bool) -> bool:
    match syntax.read(label, ordered=ordered):
        case syntax.Anything():
            return True
        case syntax.Range() as reach:
            return not is_missing(value) and _within(reach, value)
        case syntax.OneOf(names):
            return not is_missing(value) and any(_names(name, value, hierarchy, ordered=ordered) for name in names)
        case syntax.Name(name):
            return not is_missing(value) and _names(name, value, hierarchy, ordered=ordered)


def is_missing(value: object) -> bool:
    """Null, NaN and texts that say nothing are one value."""
    return is_null(value) or as_read(value) in ("", "NaN", "nan")


def is_null(value: object) -> bool:
    """Null and NaN are one value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_read(value: object) -> object:
    """Return a text as it is read: spaces around it say nothing, nor how its letters are composed."""
    return unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else value


def as_published(value: object, tree: Tree) -> object:
    """Return the spelling of a sensitive value that its column publishes; empty text is missing.

    Two spellings of one number are one value in a column of numbers; where there are words too, they are two.
    """
    if is_missing(value):
        return None
    value = as_read(value)
    spellings = tree.values.to_list()
    return value if value in spellings else next(found for found in spellings if plain(found) == plain(value))


def text_of(value: object) -> str:
    """Return a value as people write it: 3.0 is `3`, True is `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def plain(value: object) -> Plain:
    """Return what a value is, whether it comes as itself or as text."""
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, bool):
        return text_of(value)
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None if math.isnan(value) else value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    text = str(value).strip()
    for parse in (_whole, _number, datetime.fromisoformat):
        try:
            return parse(text)
        except ValueError:
            continue
    return str(value)


def _whole(text: str) -> Fraction:
    return Fraction(int(text))


def _number(text: str) -> Fraction | float:
    # A label spells a float as briefly as it can: it means the float, not the decimal fraction.
    number = float(text)
    return Fraction(number) if math.isfinite(number) else number


def plain_bound(text: str, beside: Plain) -> Plain:
    """Return the bound of a range as what it is compared with: a year or a month is the moment at which it begins."""
    parts = text.split("-") if isinstance(beside, datetime) else []
    if parts and len(parts) < 3 and all(part.isdecimal() for part in parts):
        return datetime(int(parts[0]), int(parts[1]) if len(parts) > 1 else 1, 1)
    return plain(text)


def _within(reach: syntax.Range, value: object) -> bool:
    here = plain(value)
    if reach.low is not None and not plain_bound(reach.low, here) <= here:  # type: ignore[operator]
        return False
    if reach.high is None:
        return True
    high = plain_bound(reach.high, here)
    return here <= high if reach.closed else here < high  # type: ignore[operator]


def _names(name: str, value: object, hierarchy: Hierarchy, *, ordered: bool) -> bool:
    if ordered:
        return plain(name) == plain(value) or name in set(_calendar_names(value))
    return name in {text_of(value), str(value), *_ancestors(value, hierarchy)}


def _ancestors(value: object, hierarchy: Hierarchy) -> Iterator[str]:
    text = text_of(value)
    if isinstance(hierarchy, Categories):
        yield from next((row for row in hierarchy.rows if row[0] == text), ())
    if isinstance(hierarchy, Masking | Automatic):
        # Only values that are shorter than others are masked from end to end, and left to itself incrowd masks no such.
        whole = isinstance(hierarchy, Masking)
        side, mask = (hierarchy.side, hierarchy.mask) if isinstance(hierarchy, Masking) else ("right", "*")
        for hidden in range(1, len(text) + whole):
            masked = mask * hidden
            yield text[: len(text) - hidden] + masked if side == "right" else masked + text[hidden:]
    if isinstance(hierarchy, Dates | Automatic):
        yield from _calendar_names(value)


def _calendar_names(value: object) -> Iterator[str]:
    moment = plain(value)
    if isinstance(moment, datetime):
        yield f"{moment:%Y-%m-%d}"
        yield f"{moment:%Y-%m}"
        yield f"{moment:%Y}-Q{(moment.month - 1) // 3 + 1}"
        yield f"{moment:%Y}"
        yield f"{moment.year // 10 * 10}s"
