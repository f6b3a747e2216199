"""Whether time grows no faster than the rows do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from incrowd.experiments.claims import Verdict, extremes, undecided, verdict

LINEAR = 1.1
"""The largest power of the rows that is called linear: n log n from 100,000 to 1,000,000 rows is a power of 1.08."""
LAST_STEP = 1.25
"""The same between the two largest sizes, where costs that do not grow hide least. Times of one machine differ by a
tenth from one run to the next, and over twice the rows that is a power of 0.14."""
STEEPER = 2.0
"""How much more a row may cost in the upper half of the sizes than in the lower one, whatever it takes to begin with.
n log n from 100,000 to 1,000,000 rows costs 1.1 times as much; the rest is for the noise of differences of times."""
LEAST_RANGE = 4
"""With less than so many times the rows, what does not grow at all hides what does."""


def grows_linearly(times: Mapping[str, pl.DataFrame]) -> Verdict:
    """Judge several curves of `value` (seconds) by `rows`."""
    curves = {name: part.sort("rows") for name, part in times.items() if part["rows"].n_unique() > 1}
    wide = {name: part for name, part in curves.items() if _range(part) >= LEAST_RANGE}
    if not wide:
        return undecided(
            f"Times of at least {LEAST_RANGE} times as many rows as the fewest are needed to tell how they grow."
        )
    powers = {name: (_power(part), _power(part.tail(2)), _steeper(part)) for name, part in wide.items()}
    holds = sum(
        whole <= LINEAR and last <= LAST_STEP and steeper <= STEEPER for whole, last, steeper in powers.values()
    )
    told = ", ".join(
        f"{whole:.2f}, {last:.2f} in the last step" + (f" ({name})" if name else "")
        for name, (whole, last, _) in powers.items()
    )
    every = pl.concat([part.select("rows", "value") for part in wide.values()])
    largest = every.filter(pl.col("rows") == every["rows"].max())
    return verdict(
        len(powers),
        holds,
        f"CPU seconds grow as rows to the power of {told}; {extremes(largest['value'])[1]:.1f} s for "
        f"{extremes(every['rows'])[1]:,.0f} rows.",
    )


def _range(part: pl.DataFrame) -> float:
    least, most = extremes(part["rows"])
    return most / max(least, 1.0)


def _steeper(part: pl.DataFrame) -> float:
    """Return what a row costs in the upper half of the sizes by what it costs in the lower; 1 where there are two."""
    rows, seconds = part["rows"].to_numpy().astype(np.float64), part["value"].to_numpy()
    middle = len(rows) // 2
    if len(rows) <= 2:
        return 1.0
    lower = (seconds[middle] - seconds[0]) / (rows[middle] - rows[0])
    upper = (seconds[-1] - seconds[middle]) / (rows[-1] - rows[middle])
    return float(upper / lower) if lower > 0 else np.inf


def _power(part: pl.DataFrame) -> float:
    rows, seconds = part["rows"].to_numpy(), np.maximum(part["value"].to_numpy(), 1e-9)
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
