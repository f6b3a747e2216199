"""Names that every file system takes, and takes for the same file.

A release that is made on one system is copied to others. Windows has names that are devices, and characters that no
name may hold; Windows and macOS do not tell `Visits` from `visits`, and macOS not one spelling of `é` from another.
"""

from __future__ import annotations

import re
import unicodedata

_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", flags=re.IGNORECASE)
_FORBIDDEN = '<>:"/\\|?*'
_LONGEST = 120
"""Room for a suffix, and for characters that take several bytes."""


def same_file(name: str) -> str:
    """Return a text that is equal for two names exactly if some file system takes them for one.

    >>> same_file("Visits") == same_file("visits")
    True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def why_no_file(name: str) -> str | None:
    """Return why a file cannot be called so everywhere, or None where it can.

    >>> why_no_file("visits"), why_no_file("a:b"), why_no_file("NUL")
    (None, "it holds ':'", 'Windows has a device of that name')
    """
    if not name:
        return "it is empty"
    if len(name) > _LONGEST:
        return "it is too long"
    for character in name:
        if character in _FORBIDDEN:
            return f"it holds '{character}'"
        if unicodedata.category(character) in ("Cc", "Cs"):
            return "it holds a character that cannot be shown"
    if is_device(name):
        return "Windows has a device of that name"
    if name.startswith(".") or name != name.strip(" ."):
        return "it begins or ends with a point or a space"
    return None


def is_device(name: str) -> bool:
    """Whether a name is that of a device on Windows, whatever its suffix.

    >>> is_device("con.csv"), is_device("contacts.csv")
    (True, False)
    """
    return _DEVICES.fullmatch(name.partition(".")[0].strip()) is not None
