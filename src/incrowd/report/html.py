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
    """Return a table; columns listed in `numbers` are set right.

    Where the window is too narrow for it (earlier, if its class is `wide`), each row is a list in which every cell
    stands behind its column's name, so that no column is ever hidden.
    """
    right, titles = set(numbers), list(head)

    def kind(place: int) -> str | None:
        return "number" if place in right else None

    body = [
        element("tr", *(element("td", cell, class_=kind(place), data_label=titles[place] or None)
                        for place, cell in enumerate(row)))
        for row in rows
    ]  # fmt: skip
    first = element(
        "tr", *(element("th", title, class_=kind(place), scope="col") for place, title in enumerate(titles))
    )
    return element(
        "div", element("table", element("thead", first), element("tbody", *body)), class_=f"rows {class_}".strip()
    )
