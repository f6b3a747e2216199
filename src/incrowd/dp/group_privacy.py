"""From rows to people: what a mechanism costs a person of whom it sees at most so many rows.

A mechanism that is (ε, δ)-private for adding or removing one row is, for adding or removing m rows at once,

    (m·ε, δ·(1 + e^ε + … + e^((m−1)ε)))-private,

since P[S | m rows more] ≤ e^ε·P[S | m − 1 rows more] + δ, and so on down to none (Dwork & Roth 2014, theorem 2.2).

Per person. Let every person keep at most m rows, chosen by chance and without a look at anybody else (`core/
kept_rows.py`). Take two tables of which one has one person more, and fix what chance chose of all others: it is as
likely in both tables. The rows that are kept then differ by those of one person, at most m, so the line above holds,
whichever these are; and it still holds on average over all that chance may choose. So m·ε and that δ are the price of
a person, however many rows the person has. If rows are sampled after that, the mechanism on the sample is the one that
counts as private for one row (`amplification.py`).

For counts with noise this is the best there is: noise for m·ε spread over m rows is noise of scale m over the ε of a
person, and m rows can change counts by m.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

from incrowd.dp.budget import Budget
from incrowd.dp.exact import as_decimal, many_digits, round_digits

_DIGITS = 15
_ERROR = Fraction(1, 10**30)
"""Far more than is lost in 60 digits."""
_TINY = Fraction(1, 10**18)
"""Below this ε, the sum is bounded by its largest term, so that no digits are lost."""


def price_of_person(per_row: Budget, most_rows: int) -> Budget:
    """Return what a person with at most so many rows pays for what one row pays `per_row` for.

    >>> print(price_of_person(Budget("1/4", "1e-6"), 4))
    ε = 1, δ = 6.04975e-06
    """
    if most_rows == 1 or not per_row.delta:
        return Budget.computed(per_row.epsilon * most_rows, per_row.delta)
    delta = per_row.delta * _terms(per_row.epsilon, most_rows) * (1 + _ERROR)
    return Budget.computed(per_row.epsilon * most_rows, round_digits(delta, _DIGITS, ROUND_CEILING))


def share_of_row(per_person: Budget, most_rows: int) -> Budget:
    """Return what may be spent on one row, so that a person with at most so many pays no more than `per_person`.

    >>> share_of_row(Budget(1), 4)
    Budget(ε = 1/4)
    """
    epsilon = per_person.epsilon / most_rows
    if most_rows == 1 or not per_person.delta:
        return Budget.computed(epsilon, per_person.delta)
    delta = per_person.delta / _terms(epsilon, most_rows) * (1 - _ERROR)
    return Budget.computed(epsilon, round_digits(delta, _DIGITS, ROUND_FLOOR))


def _terms(epsilon: Fraction, number: int) -> Fraction:
    """Return 1 + e^ε + … + e^((number − 1)ε), to far more digits than are told; never much less than it is."""
    with many_digits():
        power = as_decimal(epsilon).exp()
        if epsilon < _TINY:
            return Fraction(number * (as_decimal(epsilon) * (number - 1)).exp())
        return Fraction((as_decimal(epsilon * number).exp() - 1) / (power - Decimal(1)))
