"""Whether the first line of a file is a row rather than names.

Names are no numbers, dates or addresses, unless they count columns or years; and what a column is called is seldom one
of its values. One row more or less in the file does not change the answer: it takes several that agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_VALUE = re.compile(
    r"^(?:[+−-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?"  # a number
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?"  # a date
    r"|[^@\s]+@[^@\s]+\.[^@\s.]+)$"  # an address
)
_YEAR = re.compile(r"^(?:18|19|20)\d{2}$")
_FEWEST_REPEATED = 2
_MOST = 0.5


def looks_like_a_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the fields of a first line are values like those of the rows that follow.

    >>> looks_like_a_row(["39", "Private", "flu"], [["50", "Private", "flu"], ["38", "State", "none"]])
    True
    >>> looks_like_a_row(["country", "2019", "2020"], [["Chad", "3.4", "1.1"], ["Peru", "2.2", "0.4"]])
    False
    """
    rows = [row for row in rows if len(row) == len(first) and list(row) != list(first)]
    if not rows:
        return False
    columns = list(zip(*rows, strict=True))
    return _has_values(first, columns) or _repeats(first, columns)


def _has_values(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether a field is a number, a date or an address, and so are most of its column."""
    places = [place for place, field in enumerate(first) if _VALUE.match(field)]
    alike = [place for place in places if _share(columns[place], _VALUE) > _MOST]
    if not alike:
        return False
    counting = [int(first[place]) for place in places if first[place].isascii() and first[place].isdigit()]
    steps = {after - before for before, after in pairwise(counting)}
    if len(counting) == len(places) > _FEWEST_REPEATED and steps == {1} and counting[0] in (0, 1):
        return False  # names that count the columns
    years = all(_YEAR.match(first[place]) for place in places)
    return not years or any(_share(columns[place], _YEAR) > _MOST for place in places)


def _repeats(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether many fields are values of their columns, several times over."""
    filled = [place for place, field in enumerate(first) if field]
    repeated = [place for place in filled if list(columns[place]).count(first[place]) >= _FEWEST_REPEATED]
    return len(repeated) >= max(_FEWEST_REPEATED, _MOST * len(filled))


def _share(values: Sequence[str], pattern: re.Pattern[str]) -> float:
    present = [value for value in values if value]
    return sum(pattern.match(value) is not None for value in present) / len(present) if present else 0.0
