"""The faults of CSV files in words that quote no value."""

from __future__ import annotations

import csv

LONE_RETURN = "has a carriage return in the middle.  Hint: quote the field that contains it."
_EXPLANATIONS = (
    ("unexpected end", "opens a quote that is never closed."),
    ("field larger", "opens a quote that is never closed, or holds a field of more than 131,072 characters."),
    ("expected after", "has text after a closing quote.  Hint: a quote inside of a quoted field is written twice."),
    ("new-line character", LONE_RETURN),
)


def explain(error: csv.Error) -> str:
    """Return what is wrong with a line, to follow words that say which line it is."""
    message = str(error)
    return next((text for part, text in _EXPLANATIONS if part in message), "cannot be read as CSV.")


def ragged(where: str, width: int, total: int, first: list[tuple[int, int]]) -> str:
    """Return the message for lines that have too few or too many fields; `first` holds (line, fields)."""
    shown = ", ".join(f"line {line} has {found}" for line, found in first)
    more = f", and {total - len(first):,} more lines" if total > len(first) else ""
    return (
        f"{where}: the header has {width} field{'s' * (width != 1)}, but {shown}{more}.  "
        "Hint: a line is broken, or a field that contains the separator is not quoted."
    )
