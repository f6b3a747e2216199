"""Words and numbers for people: shares, counts, and names that may hold anything."""

from __future__ import annotations

from incrowd.errors import escaped as plain

__all__ = ["count", "listed", "plain", "share"]


def share(part: float, whole: float) -> str:
    """Return a share in per cent, which says 0 and 100 only where it is exactly that.

    >>> share(0, 8), share(1, 3), share(1, 100_000), share(99_999, 100_000)
    ('0 %', '33 %', '<0.1 %', '>99.9 %')
    """
    percent = 100.0 * part / whole if whole else 0.0
    if percent == round(percent):
        return f"{percent:.0f} %"
    if percent < 0.1:
        return "<0.1 %"
    if percent > 99.9:
        return ">99.9 %"
    return f"{percent:.1f} %" if percent < 10 or percent > 90 else f"{percent:.0f} %"


def count(number: int, noun: str, *, plural: str | None = None) -> str:
    """Return a number and what it counts.

    >>> count(1, "row"), count(45222, "row")
    ('1 row', '45,222 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: list[str] | tuple[str, ...]) -> str:
    """Return column names, each in quotes, as a list in a sentence.

    >>> listed(("age", "sex", "zip"))
    "'age', 'sex' and 'zip'"
    """
    quoted = [f"'{plain(name)}'" for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]
