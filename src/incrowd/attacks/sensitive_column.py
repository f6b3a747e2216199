"""Which sensitive column an attack is after."""

from __future__ import annotations

from incrowd.core.target import Target
from incrowd.errors import AttackError, did_you_mean


def lacks_secret(target: Target, column: str | None) -> str | None:
    """Return why there is nothing to infer, if so."""
    known = target.view.sensitive
    if not known:
        return "no column is sensitive"
    if column is None:
        return None if len(known) == 1 else "several columns are sensitive, and none of them is named"
    return None if column in known else f"'{column}' is not a sensitive column"


def the_secret(attack: str, target: Target, column: str | None) -> str:
    """Return the column that was asked for, or the only one."""
    known = target.view.sensitive
    if column is None and len(known) == 1:
        return known[0]
    if column not in known:
        asked = "no column was named" if column is None else f"'{column}' is not sensitive"
        raise AttackError(f"{attack}: {asked}.{did_you_mean(column or '', known)}")
    return column
