"""People who stay, come, go and change, quarter by quarter."""

from __future__ import annotations

import numpy as np
import polars as pl

VALUES = ("flu", "cold", "hiv", "ulcer", "asthma", "gout", "angina")


def quarters(
    people: int, number: int, *, turnover: float = 0.3, changes: float = 0.0, seed: int = 0, skewed: bool = False
) -> list[pl.DataFrame]:
    """Return so many tables of `people` each; a share of them leaves each quarter, and others come."""
    rng = np.random.default_rng(seed)
    total = people + int(people * turnover) * (number - 1)
    shares = np.linspace(3, 1, len(VALUES)) if skewed else np.ones(len(VALUES))
    everybody = pl.DataFrame(
        {
            "pid": np.arange(total) + 1000,
            "age": rng.integers(20, 80, total),
            "zip": rng.permutation(total) + 10_000,  # nobody shares it, so that everybody can be found in buckets
            "illness": rng.choice(VALUES, total, p=shares / shares.sum()),
        }
    )
    here = np.arange(people)
    found = []
    for quarter in range(number):
        if quarter:
            leaving = rng.choice(people, int(people * turnover), replace=False)
            fresh = people + int(people * turnover) * (quarter - 1) + np.arange(len(leaving))
            here = np.concatenate([np.delete(here, leaving), fresh])
            changing = rng.random(total) < changes
            other = pl.Series(rng.choice(VALUES, total))
            everybody = everybody.with_columns(
                illness=pl.when(pl.Series(changing)).then(other).otherwise(everybody["illness"])
            )
        found.append(everybody[np.sort(here)])
    return found


ROLES = {"person": "pid", "quasi": ["age", "zip"], "sensitive": ["illness"]}
