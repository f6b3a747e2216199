"""A chart of points by two numbers, as an SVG that follows the page's colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from incrowd.common.records import dataclass
from incrowd.report.html import Raw, element

Place = Callable[[float, float], tuple[float, float]]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 820, 440, 64, 24, 18, 52
_ENDS = {1: 5, 1.5: 3, 2: 4, 2.5: 5, 3: 6, 4: 4, 5: 5, 6: 6, 8: 4, 10: 5, 15: 3}
"""Where an axis may end, times a power of ten, and into how many steps it is then cut."""
_SHAPES = {
    "generalized": "circle",
    "sliced": "square",
    "bucketized": "diamond",
    "noisy counts": "triangle",
    "multisets": "ring",
}


@dataclass(frozen=True)
class Point:
    """A candidate: its number in the ranking, name, kind, place, and whether it is marked."""

    rank: int
    name: str
    kind: str
    x: float
    y: float
    marked: bool


def scatter(points: Sequence[Point], *, x_title: str, y_title: str) -> Raw:
    """Return the chart; marked points are joined by steps, in the order of x: what lies above them is beaten."""
    x_top, x_steps = _nice(max((point.x for point in points), default=1.0))
    y_top, y_steps = _nice(max((point.y for point in points), default=1.0))

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + x / x_top * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - y / y_top * (_HEIGHT - _TOP - _BOTTOM),
        )

    marked = sorted((point for point in points if point.marked), key=lambda point: (point.x, -point.y))
    steps = [(marked[0].x, marked[0].y)] if marked else []
    for left, right in pairwise(marked):
        steps += [(right.x, left.y), (right.x, right.y)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*step) for step in steps))
    line = element("polyline", points=path, fill="none", stroke="var(--good)", stroke_width="2", stroke_dasharray="5 4")
    return element(
        "svg",
        *_axes((x_top, x_steps), (y_top, y_steps), x_title, y_title, place),
        line if len(marked) > 1 else None,
        *(_drawn(point, *place(point.x, point.y)) for point in points),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{y_title} by {x_title}",
        class_="scatter",
    )


def legend(points: Sequence[Point]) -> Raw:
    """Return which shape is which kind."""
    kinds = sorted({point.kind for point in points})
    items = [
        element(
            "span",
            element("svg", _shape(kind, 8, 8, "var(--a)"), viewBox="0 0 16 16", width="14", height="14"),
            f" {kind}",
        )
        for kind in kinds
    ]
    return element("div", *items, element("span", "green: on the frontier"), class_="legend")


def _axes(x_axis: tuple[float, int], y_axis: tuple[float, int], x_title: str, y_title: str, place: Place) -> list[Raw]:
    parts = []
    for step in range(x_axis[1] + 1):
        x, bottom = place(x_axis[0] * step / x_axis[1], 0)
        text = f"{x_axis[0] * step / x_axis[1]:.3g}"
        parts.append(element("text", text, x=f"{x:.1f}", y=f"{bottom + 20:.1f}", text_anchor="middle"))
    for step in range(y_axis[1] + 1):
        left, y = place(0, y_axis[0] * step / y_axis[1])
        text = f"{y_axis[0] * step / y_axis[1]:.3g}"
        parts += [
            element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=f"{y:.1f}", y2=f"{y:.1f}", stroke="var(--line)"),
            element("text", text, x=f"{left - 8:.1f}", y=f"{y + 4:.1f}", text_anchor="end"),
        ]
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(element("text", x_title, x=(_LEFT + _WIDTH - _RIGHT) / 2, y=_HEIGHT - 10, text_anchor="middle"))
    parts.append(
        element("text", y_title, x=16, y=middle, text_anchor="middle", transform=f"rotate(-90 16 {middle:.1f})")
    )
    return parts


def _drawn(point: Point, x: float, y: float) -> Raw:
    colour = "var(--good)" if point.marked else "var(--a)"
    right = x < _WIDTH - 60
    return element(
        "g",
        element("title", f"{point.rank}. {point.name}: {point.x:.3f}, {point.y:.3f}"),
        _shape(point.kind, x, y, colour),
        element("text", str(point.rank), x=f"{x + (10 if right else -10):.1f}", y=f"{y - 6:.1f}",
                text_anchor="start" if right else "end"),
    )  # fmt: skip


def _shape(kind: str, x: float, y: float, colour: str) -> Raw:
    match _SHAPES.get(kind, "circle"):
        case "square":
            return element("rect", x=f"{x - 5:.1f}", y=f"{y - 5:.1f}", width=10, height=10, fill=colour)
        case "diamond":
            return element("rect", x=f"{x - 5:.1f}", y=f"{y - 5:.1f}", width=10, height=10, fill=colour,
                           transform=f"rotate(45 {x:.1f} {y:.1f})")  # fmt: skip
        case "triangle":
            corners = f"{x:.1f},{y - 7:.1f} {x + 6.5:.1f},{y + 5:.1f} {x - 6.5:.1f},{y + 5:.1f}"
            return element("polygon", points=corners, fill=colour)
        case "ring":
            return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4.5, fill="none", stroke=colour, stroke_width=2.5)
        case _:
            return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=5.5, fill=colour)


def _nice(largest: float) -> tuple[float, int]:
    """Return the end of an axis, a round number a little above, and into how many steps to cut it.

    >>> _nice(0.83), _nice(0.012), _nice(0.0)
    ((1.0, 5), (0.015, 3), (1.0, 5))
    """
    if largest <= 0:
        return 1.0, 5
    power = 10.0 ** math.floor(math.log10(largest))
    return next((round(end * power, 12), steps) for end, steps in _ENDS.items() if end * power >= 1.02 * largest)
