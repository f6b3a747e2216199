"""What several private releases of the same people cost together, and whether that is within a cap.

Two ways to add up are tried, and either suffices. Prices add up as they are (Dwork, McSherry, Nissim & Smith 2006). And
(ε, δ)-privacy is δ-approximate ε²/2-zCDP, whose ρ adds up, and a sum ρ is (ρ + 2√(ρ·ln(1/δ')), δ')-privacy (Bun &
Steinke 2016, propositions 1.3 and 1.4): cheaper where there are many small prices and the cap has a δ.

Prices may be chosen by what earlier releases showed. Sums stay valid then: for ε it is plain, for ρ see Feldman & Zrnic
(2021). Both together do as well: where the first sum is within the cap, no outcome is e^ε times likelier for anybody;
elsewhere the second one is, for which a larger factor has a probability of at most δ'.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from incrowd.dp.budget import Budget

_SAFETY = 1e-12
"""Far more than a logarithm and a root are wrong by."""


def added_up(prices: Iterable[Budget]) -> Budget:
    """Return the plain sum of prices."""
    return sum(prices, start=Budget.nothing())


def cost_together(prices: Iterable[Budget], delta: Fraction = Fraction(0)) -> Budget:
    """Return what prices come to, by the better of both ways; the second spends up to `delta`.

    >>> print(cost_together([Budget("0.01")] * 400))
    ε = 4
    >>> print(cost_together([Budget("0.01")] * 400, Fraction(1, 10**6)))
    ε = 1.0713, δ = 1e-06
    """
    found = list(prices)
    plain = added_up(found)
    spare = delta - plain.delta
    if spare <= 0:
        return plain
    rho = float(sum((price.epsilon**2 for price in found), start=Fraction(0))) / 2
    log = math.log(spare.denominator) - math.log(spare.numerator)
    epsilon = (rho + 2 * math.sqrt(rho * log)) * (1 + _SAFETY)
    return plain if plain.epsilon <= epsilon else Budget.computed(Fraction(epsilon), delta)
