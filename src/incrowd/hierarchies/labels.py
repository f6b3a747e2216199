"""How a generalized value is written, and read back without doubt.

    *                            anything, missing included
    Asia                         a value or a node by its own name
    {Asia, "Trinidad, Tobago"}   one of these values or nodes
    "{x"                         a name that would look like one of the above is quoted, JSON style

and in columns of numbers or dates

    [20, 35)                     from 20, up to but not including 35
    <20      >=65                open at one end
    [22, 29]                     from 22 to 29, both included (tight labels only)

Missing on its own is written as missing: a null, never a word. Columns of names have no ranges, so `<=50K` is a name
there and needs no quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from incrowd.common.records import dataclass

ANY = "*"
"""The root of every hierarchy: any value, or none at all."""

_LOOKS_LIKE_SYNTAX = re.compile(r'^(?:[{"]|\*$|\s|$)|\s$')
_NEEDS_QUOTES_IN_SET = re.compile(r'[,{}"]')
_RANGE = re.compile(r"^\[(?P<low>[^,]+), (?P<high>[^,]+)(?P<end>[\])])$")


@dataclass(frozen=True)
class Range:
    """Values from `low` up to `high`, which belongs to the range only if it is `closed`; None is open."""

    low: str | None
    high: str | None
    closed: bool = False


@dataclass(frozen=True)
class OneOf:
    """One of several values or nodes."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Name:
    """A value or a node by its own name."""

    name: str


@dataclass(frozen=True)
class Anything:
    """Any value, missing included."""


Label = Range | OneOf | Name | Anything


def write_name(name: str) -> str:
    """Write a value's or node's own name, quoted where it would look like something else.

    >>> print(write_name("Asia"), write_name("{x"), write_name("*"))
    Asia "{x" "*"
    """
    return json.dumps(name, ensure_ascii=False) if _LOOKS_LIKE_SYNTAX.search(name) else name


def write_range(low: str | None, high: str | None) -> str:
    """Write a half-open range of numbers or dates that are already text.

    >>> write_range("-5", "3"), write_range(None, "20"), write_range("65", None)
    ('[-5, 3)', '<20', '>=65')
    """
    if low is None:
        return ANY if high is None else f"<{high}"
    return f">={low}" if high is None else f"[{low}, {high})"


def write_closed(low: str, high: str) -> str:
    """Write a range that includes both of its bounds.

    >>> write_closed("22", "29")
    '[22, 29]'
    """
    return f"[{low}, {high}]"


def write_set(names: Iterable[str]) -> str:
    """Write a set of names in the order given.

    >>> print(write_set(["Asia", "Trinidad, Tobago"]))
    {Asia, "Trinidad, Tobago"}
    """
    return "{" + ", ".join(map(write_member, names)) + "}"


def write_member(name: str) -> str:
    """Write a name as a member of a set: quoted also where it holds what separates members."""
    needs_quotes = _LOOKS_LIKE_SYNTAX.search(name) or _NEEDS_QUOTES_IN_SET.search(name)
    return json.dumps(name, ensure_ascii=False) if needs_quotes else name


def read(label: str, *, ordered: bool) -> Label:
    """Read a label back; `ordered` tells a column of numbers or dates from one of names.

    >>> read("[-5, 3)", ordered=True)
    Range(low='-5', high='3', closed=False)
    >>> read('{Asia, "Trinidad, Tobago"}', ordered=False)
    OneOf(names=('Asia', 'Trinidad, Tobago'))
    >>> read("<=50K", ordered=False)
    Name(name='<=50K')
    """
    if label == ANY:
        return Anything()
    if label.startswith("{") and label.endswith("}"):
        return OneOf(tuple(_split_set(label[1:-1])))
    if ordered:
        if match := _RANGE.match(label):
            return Range(match["low"], match["high"], closed=match["end"] == "]")
        if label.startswith(">="):
            return Range(label[2:], None)
        if label.startswith("<"):
            return Range(None, label[1:])
        return Name(label)
    if label.startswith('"'):
        return Name(json.loads(label))
    return Name(label)


def _split_set(inside: str) -> Iterable[str]:
    decoder = json.JSONDecoder()
    position = 0
    while position < len(inside):
        if inside[position] == '"':
            name, position = decoder.raw_decode(inside, position)
            yield name
        else:
            end = inside.find(", ", position)
            end = len(inside) if end < 0 else end
            yield inside[position:end]
            position = end
        position += 2
