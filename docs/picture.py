"""Draw the README's picture: people of the built-in census by age and salary, and the boxes they hide in.

python docs/picture.py [OUT.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import incrowd as ic

WIDTH, HEIGHT, MARGIN = 860, 400, 56
K = 20
ROWS = 1500
# Mondrian's own colours, washed out where people must stay readable.
FILLS = ("#f5d7d3", "#f7e9b0", "#d3e0f2", "#f4f1ea", "#f4f1ea", "#f4f1ea")


def main(out: Path) -> None:
    """Write the picture."""
    people = ic.datasets.census(ROWS, seed=7).select("age", "salary", "occupation")
    flat = {"age": ic.Flat(), "salary": ic.Flat()}
    table = ic.read(people, quasi=["age", "salary"], sensitive=["occupation"], hierarchies=flat)
    release = ic.publish(table, [ic.KAnonymity(K), ic.LDiversity(5)])
    shown, trees = release.form.shown, release.form.tally.trees
    x, y = (people[name].to_numpy().astype(float) for name in ("age", "salary"))
    left, right, bottom, top = x.min() - 0.5, x.max() + 0.5, -2500.0, y.max() + 2500.0

    def across(value: float) -> float:
        return MARGIN + (min(max(value, left), right) - left) / (right - left) * (WIDTH - 2 * MARGIN)

    def up(value: float) -> float:
        return HEIGHT - MARGIN - (min(max(value, bottom), top) - bottom) / (top - bottom) * (HEIGHT - 2 * MARGIN)

    def edges(name: str, low: int, high: int, half: float) -> tuple[float, float]:
        values = trees[name].values
        first = -np.inf if low == 1 else float(values[low]) - half
        last = np.inf if high == trees[name].size else float(values[high]) - half
        return first, last

    boxes, rng = [], np.random.default_rng(1)
    for group in range(len(shown)):
        sides = {
            name: edges(name, int(shown.lows[group, place]), int(shown.highs[group, place]), half)
            for place, (name, half) in enumerate((("age", 0.5), ("salary", 2500.0)))
        }
        x0, x1 = (across(value) for value in sides["age"])
        y1, y0 = (up(value) for value in sides["salary"])
        boxes.append(
            f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{x1 - x0:.1f}" height="{y1 - y0:.1f}" '
            f'fill="{FILLS[int(rng.integers(len(FILLS)))]}" stroke="#222" stroke-width="1.4"/>'
        )
    jitter = rng.uniform(-0.4, 0.4, len(x)), rng.uniform(-2000, 2000, len(y))
    dots = [
        f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="1.7" fill="#333" fill-opacity="0.65"/>'
        for a, b in zip(x + jitter[0], y + jitter[1], strict=True)
    ]
    ticks = [
        f'<text x="{across(age):.0f}" y="{HEIGHT - MARGIN + 20}" text-anchor="middle">{age}</text>'
        for age in range(20, 100, 10)
    ]
    ticks += [
        f'<text x="{MARGIN - 8}" y="{up(salary) + 4:.0f}" text-anchor="end">{salary // 1000}k</text>'
        for salary in range(0, 250_000, 50_000)
    ]
    smallest = int(release.form.group_sizes.min())
    title = f"{ROWS:,} invented people by age and salary, in {len(shown)} groups of {smallest} or more"
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="#444">\n<title>{title}</title>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
        f'<text x="{MARGIN}" y="34" font-size="15" fill="#111">{title}</text>\n'
        + "\n".join((*boxes, *dots, *ticks))
        + f'\n<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 14}" text-anchor="middle">age</text>\n</svg>\n',
        encoding="utf-8",
        newline="\n",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "mondrian.svg")
