"""Shares as percentages in sentences: what is not all and not nothing is never written so."""

from __future__ import annotations


def percent(share: float, digits: int = 1, *, sign: str = "%") -> str:
    """Write a share as a percentage with so many digits; 100 % and 0 % stand for all and nothing, and for no other.

    >>> percent(0.1234), percent(1.0), percent(0.0)
    ('12.3%', '100.0%', '0.0%')
    >>> percent(0.99999), percent(0.0001), percent(0.00001, 2)
    ('over 99.9%', 'under 0.1%', 'under 0.01%')
    """
    written, smallest = f"{100 * share:.{digits}f}", 10.0**-digits
    if share < 1 and written == f"{100:.{digits}f}":
        return f"over {100 - smallest:.{digits}f}{sign}"
    if share > 0 and written == f"{0:.{digits}f}":
        return f"under {smallest:.{digits}f}{sign}"
    return written + sign
