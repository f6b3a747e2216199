"""Rank swapping (Moore 1996): people who are near each other in the order of a column swap their values.

All values stay what they are, and so does everything that is computed of the column alone. Cost: a sort, and one step
of a tree for each person, compiled.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.changes.change import Change, Column
from incrowd.common.parameters import shown_value
from incrowd.common.randomness import permutation, words
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError, SchemaError
from incrowd.kernels.rank_swapping import swap_near


@dataclass(frozen=True)
class RankSwapping(Change):
    """Swap values between people whose ranks differ by a share of the people at most.

    Parameters
    ----------
    within : the largest difference of ranks, as a share of the people: 0.05 lets the person of rank 100 of 1,000 swap
        with one of the ranks 50 to 150.

    It is for numbers and dates. Everybody swaps once, with somebody whom chance picks; few, near the upper end, may
    find nobody left. Who have the same value are ordered by chance. Where it is known whose a row is, a person's rows
    with the same value change alike.

    >>> RankSwapping(0.05).says()
    'by chance: people swap values whose ranks differ by at most 5 %'

    Reference: Moore (1996), Controlled Data-Swapping Techniques for Masking Public Use Microdata Sets.
    """

    within: float
    name: ClassVar[str] = "rank-swapping"
    plain_name: ClassVar[str] = "values swapped between similar people"
    by_chance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.within <= 1:
            raise RecipeError(f"{self.name}: within is above 0 and at most 1, not {shown_value(self.within)}.")

    @classmethod
    def examples(cls) -> tuple[RankSwapping, ...]:
        """Return one that swaps neighbours, and one that swaps far and wide."""
        return (cls(0.1), cls(1.0))

    @property
    def looks_at_data(self) -> bool:
        """A person gets another person's value."""
        return True

    def perturb(self, column: Column, rng: np.random.Generator) -> pl.Series:
        """Let everybody swap."""
        if column.values.dtype == pl.String:
            raise SchemaError(
                f"column '{column.name}': rank swapping is for numbers and dates, which have an order.  Hint: use PRAM "
                "for names."
            )
        number = len(column.code_of)
        mixed = permutation(rng, number)
        order = mixed[np.argsort(column.code_of[mixed], kind="stable")]
        even = (words(rng, number) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        partner = swap_near(even, max(int(self.within * number), 1))
        code_of = np.empty(number, dtype=np.int64)
        code_of[order] = column.code_of[order[partner]]
        return column.values.gather(code_of)

    def says(self) -> str:
        """Say who swaps."""
        return f"by chance: people swap values whose ranks differ by at most {100 * self.within:g} %"
