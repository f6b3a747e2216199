"""What differential privacy promises by construction, with its price; see `core.model.Promise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any

from incrowd.common.records import dataclass
from incrowd.core.model import Guarantee, Promise
from incrowd.dp.budget import Budget
from incrowd.dp.sdgs_parameters import warn_of_delta

_NEGLIGIBLE = Fraction(1, 10**100)
"""A δ that no table is too large for."""


@dataclass(frozen=True)
class PrivacyPromise(Promise):
    """A guarantee, its price, and what else a reader may want to know of it, as plain values."""

    guarantee: Guarantee
    price: Budget
    told: Mapping[str, Any] = field(default_factory=dict)

    def warnings(self, rows: int, rate: Fraction) -> list[str]:
        """Return what to tell of δ, where `rows` were published of a sample at `rate`.

        How many rows there are is taken from how many were published: the table's own number is a secret.
        """
        if self.price.delta < _NEGLIGIBLE:
            return []
        found = warn_of_delta(self.price.delta, round(rows / rate))
        return [] if found is None else [found]
