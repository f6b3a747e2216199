"""Charts of bars, in nothing but elements and styles: they follow the window's width and its light or dark."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.common.records import dataclass
from incrowd.report.html import Raw, element
from incrowd.report.numbers import exact


@dataclass(frozen=True)
class Bar:
    """One bar: its length from 0 to 1, what is written beside it, and the colour's name (`a`, `b`, `bad`, `good`).

    `value` is the exact number, or nothing where it is not told.
    """

    length: float
    text: str
    value: float | None
    colour: str = "a"
    note: str = ""


def bars(rows: Sequence[tuple[str, Sequence[Bar]]], *, legend: Sequence[tuple[str, str]] = (), label: str = "") -> Raw:
    """Return a chart with a line for each label, and one or more bars on it."""
    lines = [
        element(
            "div",
            element("div", name, class_="bar-name", title=name),
            element("div", *(_bar(bar) for bar in drawn), class_="bar-lines"),
            class_="bar-row",
        )
        for name, drawn in rows
    ]
    return element("div", _legend(legend), *lines, class_="bars", role="img", aria_label=label or None)


def stacked(rows: Sequence[tuple[str, Sequence[float]]], *, label: str = "") -> Raw:
    """Return a line of neighbouring shares for each label, the largest first and darkest."""
    lines = []
    for name, shares in rows:
        parts = [
            element("div", class_=f"part shade-{min(place, 7)}", style=f"width:{100 * share:.3f}%",
                    title=f"{100 * share:.1f} %", data_value=repr(float(share)))
            for place, share in enumerate(shares)
        ]  # fmt: skip
        first = f"{100 * shares[0]:.0f} %" if shares else ""
        lines.append(
            element(
                "div",
                element("div", name, class_="bar-name", title=name),
                element("div", *parts, class_="stack"),
                element("div", first, class_="bar-text"),
                class_="bar-row stacked",
            )
        )
    return element("div", *lines, class_="bars", role="img", aria_label=label or None)


def _bar(bar: Bar) -> Raw:
    width = 100 * min(max(bar.length, 0.0), 1.0)
    drawn = element("div", class_=f"bar {bar.colour}", style=f"width:{width:.2f}%") if width > 0 else None
    return element(
        "div",
        element("div", drawn, class_="bar-track"),
        element("div", exact(bar.text, bar.value), bar.note, class_="bar-text"),
        class_="bar-line",
    )


def _legend(entries: Sequence[tuple[str, str]]) -> Raw | None:
    if not entries:
        return None
    items = [element("span", element("span", class_=f"swatch {colour}"), name) for name, colour in entries]
    return element("div", *items, class_="legend")
