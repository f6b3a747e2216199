"""Can each of these be given one of those, no two the same? Augmenting paths, for the size of a test's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Left = TypeVar("Left")
Right = TypeVar("Right")


def unmatched(left: Sequence[Left], right: Sequence[Right], fits: Callable[[Left, Right], bool]) -> list[Left]:
    """Return those on the left that stay without a partner when as many as possible have one.

    >>> unmatched([1, 2], [10, 20], lambda a, b: b == 10 * a), unmatched([1, 1], [10, 20], lambda a, b: b == 10 * a)
    ([], [1])
    """
    choices = [[place for place, other in enumerate(right) if fits(one, other)] for one in left]
    partner_of: dict[int, int] = {}

    def find(one: int, seen: set[int]) -> bool:
        for other in choices[one]:
            if other not in seen:
                seen.add(other)
                if other not in partner_of or find(partner_of[other], seen):
                    partner_of[other] = one
                    return True
        return False

    # Those with the fewest choices first: it saves most of the detours.
    order = sorted(range(len(left)), key=lambda one: len(choices[one]))
    return [left[one] for one in order if not find(one, set())]
