"""Which national form the dates of a column have: found by their shape, and then checked on every row.

With dots the day comes first everywhere. With slashes or hyphens it may be the day or the month: days beyond the
twelfth tell which. Where hardly any row has one, that is a question to the owner, and no guess is made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from string import ascii_letters, digits

import polars as pl

from incrowd.common.records import dataclass
from incrowd.sources.written import WrittenDate

MOST_ALIKE = 0.5
"""Share of a column's values that must look like dates before anything is said of the rest."""
DECIDING = 0.1
"""Share of the rows that must tell the day from the month; six in ten do where days are spread over the month."""
_SHAPES, _LONGEST_SHAPE = 20, 40
_SHAPE = str.maketrans(dict.fromkeys(digits, "9") | dict.fromkeys(ascii_letters, "a"))
_DAY_SHAPE = re.compile(
    r"^(?:9{1,2}(?P<one>[./ -])9{1,2}(?P=one)9{4}"
    r"|9{4}(?P<two>[./-])9{1,2}(?P=two)9{1,2}"
    r"|9{1,2}(?P<three>[ -]?)aaa(?P=three)9{4})(?P<time>[ T]9{1,2}:99(?P<seconds>:99)?)?$"
)
_ISO_SHAPE = re.compile(r"^9999-99-99")
SHORT_YEAR = re.compile(r"^9{1,2}[./-]9{1,2}[./-]99$")


@dataclass(frozen=True)
class DateCandidate:
    """The forms that the dates of a column may have."""

    ways: tuple[WrittenDate, ...]

    def checks(self, column: pl.Expr) -> dict[str, pl.Expr]:
        """Count the rows that fit each form."""
        return {way.says: way.fits(column).sum() for way in self.ways}

    def decided(self, present: int, counted: Mapping[str, int]) -> WrittenDate | None:
        """Return the one form that every row has, if enough rows tell it from the other."""
        fitting = [way for way in self.ways if counted[way.says] == present]
        if len(fitting) != 1:
            return None
        others = max((counted[way.says] for way in self.ways if way not in fitting), default=0)
        return fitting[0] if len(self.ways) == 1 or present - others >= DECIDING * present else None

    def asked(self, present: int, counted: Mapping[str, int]) -> tuple[str, ...]:
        """Return the forms among which only the owner can tell: there are none where some row fits no form."""
        return tuple(way.says for way in self.ways) if present in counted.values() else ()

    def nearest(self, counted: Mapping[str, int]) -> tuple[str, int]:
        """Return the form that most rows have, and how many these are."""
        return max(counted.items(), key=lambda item: item[1])


def shapes_of(values: pl.Series) -> dict[str, int]:
    """Return the most frequent shapes of texts, with 9 for a digit and a for a letter of English, and how often."""
    # In plain Python: of a thousand texts, this takes less than to plan it.
    return dict(Counter(text[:_LONGEST_SHAPE].translate(_SHAPE) for text in values.to_list()).most_common(_SHAPES))


def date_candidate(shapes: Mapping[str, int], total: int) -> DateCandidate | None:
    """Return the forms that most of a sample's values may have, or None where they are no dates."""
    forms: dict[tuple[str, ...], int] = {}
    for shape, times in shapes.items():
        if forms_of := _forms(shape):
            forms[forms_of] = forms.get(forms_of, 0) + times
    if not forms or sum(forms.values()) < MOST_ALIKE * total:
        return None
    best = max(forms, key=lambda form: forms[form])
    return DateCandidate(tuple(WrittenDate(form) for form in best))


def _forms(shape: str) -> tuple[str, ...]:
    parts = _DAY_SHAPE.match(shape)
    if parts is None or _ISO_SHAPE.match(shape):
        return ()
    time = "" if not parts["time"] else f"{parts['time'][0]}hh:mm" + (":ss" if parts["seconds"] else "")
    if (mark := parts["one"]) is not None:
        orders = ("dd{0}mm{0}yyyy",) if mark == "." else ("dd{0}mm{0}yyyy", "mm{0}dd{0}yyyy")
    elif (mark := parts["two"]) is not None:
        orders = ("yyyy{0}mm{0}dd",)
    else:
        mark, orders = parts["three"], ("dd{0}mmm{0}yyyy",)
    return tuple(order.format(mark) + time for order in orders)
