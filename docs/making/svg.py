"""A few shapes for pictures that follow the reader's light or dark page: colours are classes, which the page's style sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass
class Picture:
    """Shapes on a plane of some width and height; `title` is what a screen reader says."""

    width: float
    height: float
    title: str
    shapes: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, width: float, height: float, look: str, *, round_by: float = 0) -> None:
        self.shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
            f'rx="{round_by:g}" class="{look}"/>'
        )

    def dot(self, x: float, y: float, look: str, radius: float = 2.2) -> None:
        self.shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{look}"/>')

    def line(self, points: Iterable[tuple[float, float]], look: str) -> None:
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(f'<polyline points="{at}" class="{look}"/>')

    def text(self, x: float, y: float, words: object, look: str = "", anchor: str = "start") -> None:
        self.shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{look}">{escape(str(words))}</text>'
        )

    def svg(self) -> str:
        """Return the picture as a figure of a page: no line of it is empty, which would end the figure."""
        drawn = "\n".join(self.shapes)
        return (
            f'<svg class="picture" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'style="max-width:{self.width:g}px"><title>{escape(self.title)}</title>\n{drawn}\n</svg>'
        )


@dataclass
class Axes:
    """Where values are on a picture: x and y each from a lowest to a highest value."""

    picture: Picture
    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 52
    right: float = 16
    top: float = 26
    bottom: float = 40

    def across(self, value: float) -> float:
        first, last = self.x
        share = (min(max(value, first), last) - first) / (last - first)
        return self.left + share * (self.picture.width - self.left - self.right)

    def up(self, value: float) -> float:
        first, last = self.y
        share = (min(max(value, first), last) - first) / (last - first)
        return self.picture.height - self.bottom - share * (self.picture.height - self.top - self.bottom)

    def draw(
        self, x_title: str, y_title: str, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[tuple[float, str]]
    ) -> None:
        height, width = self.picture.height, self.picture.width
        for value, words in y_ticks:
            self.picture.line([(self.left, self.up(value)), (width - self.right, self.up(value))], "grid")
            self.picture.text(self.left - 7, self.up(value) + 4, words, "tick", "end")
        for value, words in x_ticks:
            self.picture.text(self.across(value), height - self.bottom + 17, words, "tick", "middle")
        middle = (self.left + width - self.right) / 2
        self.picture.text(middle, height - 6, x_title, "axis", "middle")
        self.picture.text(self.left - 44, self.top - 12, y_title, "axis")


def ticks_between(low: float, high: float, number: int = 4) -> list[tuple[float, str]]:
    """Return round values from low to high, with how they are written.

    >>> ticks_between(0, 1)
    [(0.0, '0'), (0.25, '0.25'), (0.5, '0.5'), (0.75, '0.75'), (1.0, '1')]
    """
    return [
        (low + (high - low) * place / number, f"{low + (high - low) * place / number:.3g}")
        for place in range(number + 1)
    ]
