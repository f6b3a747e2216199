"""Cutting into buckets once more, in plain Python over rows: the oracle for the compiled cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from tests.forms.slices.naive_slicing import Columns, Row, known_part


def diverse(rows: Sequence[Row], columns: Columns, sensitive: Sequence[str], l: Fraction) -> bool:
    """Whether no sensitive value is more than 1/ℓ of the rows that share their known part in its column."""
    for secret in sensitive:
        for column in columns:
            if secret in column:
                known = Counter(known_part(row, column, sensitive) for row in rows)
                both = Counter((known_part(row, column, sensitive), row[secret]) for row in rows)
                if any(Fraction(count, known[part]) * l > 1 for (part, _), count in both.items()):
                    return False
    return True


def cut(
    rows: Sequence[Row],
    attributes: Mapping[str, Mapping[int, float]],
    columns: Columns,
    sensitive: Sequence[str],
    l: Fraction,
    least: int,
) -> list[list[Row]]:
    """Cut until no cut leaves two diverse sides; `attributes` gives each code's place on a line of length 1."""

    def proposal(name: str) -> tuple[float, int, int]:
        present = sorted({row[name] for row in rows})
        place = attributes[name]
        width = 1.0 if 0 in present else place[present[-1]] - place[present[0]]
        uneven, first = min((abs(2 * sum(row[name] < code for row in rows) - len(rows)), code) for code in present[1:])
        return -width, uneven, first

    varying = [name for name in attributes if len({row[name] for row in rows}) > 1]
    for name in sorted(varying, key=lambda name: (*proposal(name)[:2], list(attributes).index(name))):
        first = proposal(name)[2]
        sides = [row for row in rows if row[name] < first], [row for row in rows if row[name] >= first]
        if all(len(side) >= least and diverse(side, columns, sensitive, l) for side in sides):
            return [bucket for side in sides for bucket in cut(side, attributes, columns, sensitive, l, least)]
    return [list(rows)]
