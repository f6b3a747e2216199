"""How numbers are written: short, and with the exact one beside it for whoever checks."""

from __future__ import annotations

from incrowd.common.percents import percent as written_percent
from incrowd.report.html import Raw, element


def percent(share: float, digits: int | None = None) -> str:
    """Write a share as a percentage, with as many digits as it takes to tell it from 0 and 100.

    >>> percent(0.1234), percent(0.00012), percent(1.0), percent(0.99999)
    ('12.3 %', '0.012 %', '100 %', '99.999 %')
    >>> percent(1 - 1e-9), percent(1e-9)
    ('over 99.999 %', 'under 0.001 %')
    """
    if digits is None:
        distance = min(abs(share), abs(1 - share))
        digits = 0 if share in (0.0, 1.0) else 1 if distance >= 0.001 else 3
    return written_percent(share, digits, sign=" %")


def number(value: float) -> str:
    """Write a number with separators, or to three digits.

    >>> number(12345), number(0.12345), number(1234.5)
    ('12,345', '0.123', '1,234')
    """
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def exact(shown: str, value: float | None, **attributes: object) -> Raw:
    """Show a number, and carry its exact value, unless it is not to be told."""
    return element("span", shown, data_value=None if value is None else repr(float(value)), **attributes)
