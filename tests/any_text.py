"""Texts of any letters, for tests that draw them.

`st.text()` without an alphabet first lists what every code point of Unicode is, which takes a process two seconds.
"""

from __future__ import annotations

from hypothesis import strategies as st

_SURROGATES = range(0xD800, 0xE000)
_ANY = st.integers(0, 0x10FFFF - len(_SURROGATES)).map(
    lambda code: chr(code if code < _SURROGATES.start else code + len(_SURROGATES))
)
_FREQUENT = st.sampled_from("0123456789 ABCabcxyz_-.,:;!?*/\\\"'<>[](){}\0\t\n\x7f\x85\xa0é漢")


def any_text(most: int) -> st.SearchStrategy[str]:
    """Draw a text of at most so many letters: every second one is frequent, and every code point may be in it."""
    return st.lists(_FREQUENT | _ANY, max_size=most).map("".join)
