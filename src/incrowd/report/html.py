"""Elements of a page, escaped: nothing that a table or a label holds can become markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from incrowd.errors import escaped


class Raw(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | Raw | Iterable["Child"] | None

_EMPTY = {"meta", "br", "hr"}


def element(name: str, /, *children: Child, **attributes: object) -> Raw:
    """Return an element; `class_` is written class, and an attribute that is None is left out.

    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_text(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Raw(f"<{name}{written}>")
    return Raw(f"<{name}{written}>{joined(children)}</{name}>")


def _text(text: str) -> str:
    """Escape markup, and characters that would turn around what stands beside them."""
    return escape("\n".join(escaped(line) for line in text.split("\n")))


def joined(children: Iterable[Child]) -> Raw:
    """Return children one after the other, escaped unless they are markup."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Raw):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(_text(child))
        else:
            parts.append(joined(child))
    return Raw("".join(parts))


def table(
    head: Iterable[str], rows: Iterable[Iterable[Child]], *, numbers: Iterable[int] = (), class_: str = ""
) -> Raw:
    """Return a table that scrolls by itself where the window is narrow; columns listed in `numbers` are set right."""
    right = set(numbers)

    def cells(kind: str, row: Iterable[Child]) -> list[Raw]:
        return [
            element(kind, cell, class_="number" if place in right else None, scope="col" if kind == "th" else None)
            for place, cell in enumerate(row)
        ]

    body = [element("tr", *cells("td", row)) for row in rows]
    made = element("table", element("thead", element("tr", *cells("th", head))), element("tbody", *body))
    return element("div", made, class_=f"scroll {class_}".strip())
