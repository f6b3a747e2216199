"""A paper's claims, and what the results say about each: verdicts are computed, never written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

Holding = Literal["holds", "holds in part", "does not hold", "not measured"]

_CASE = ("dataset", "rows", "parameter", "measure")


@dataclass(frozen=True)
class Verdict:
    """What came out, and the numbers that say so."""

    holding: Holding
    evidence: str
    cases: int = 0
    holds_in: int = 0


@dataclass(frozen=True)
class Claim:
    """What a paper says, where it says it, and how results decide whether it holds."""

    text: str
    where: str
    judge: Callable[[pl.DataFrame], Verdict]


NOT_MEASURED = Verdict("not measured", "There are no results for it in this run.")


def verdict(cases: int, holds_in: int, evidence: str) -> Verdict:
    """Return a verdict on so many cases, of which so many hold: in part means in half of them at least."""
    if not cases:
        return NOT_MEASURED
    partly: Holding = "holds in part" if 2 * holds_in >= cases else "does not hold"
    return Verdict("holds" if holds_in == cases else partly, evidence, cases, holds_in)


def compare(
    results: pl.DataFrame,
    ours: str,
    theirs: str,
    *,
    better: Literal["lower", "higher"] = "lower",
    slack: float = 0.0,
    style: str = ",.3g",
) -> Verdict:
    """Judge, case by case, whether one method's numbers are better than another's, or worse by at most `slack`.

    A case is whatever is measured of both: the same data set, rows, parameter and measure.
    """
    pairs = paired(results, ours, theirs)
    if pairs.is_empty():
        return NOT_MEASURED
    worse = pairs["ours"] - pairs["theirs"] if better == "lower" else pairs["theirs"] - pairs["ours"]
    holds = worse <= slack if slack else worse < 0
    hardest = pairs.row(int(worse.arg_max() or 0), named=True)
    evidence = (
        f"{'Lower' if better == 'lower' else 'Higher'} than {theirs}"
        + (f", or within {slack:g} of it," if slack else "")
        + f" in {holds.sum()} of {pairs.height} cases; on average {format(pairs['ours'].mean(), style)} against "
        f"{format(pairs['theirs'].mean(), style)}. {_hardest(holds)}: {describe_case(hardest)}, "
        f"{format(hardest['ours'], style)} against {format(hardest['theirs'], style)}."
    )
    return verdict(pairs.height, int(holds.sum()), evidence)


def _hardest(holds: pl.Series) -> str:
    return "Closest" if holds.all() else "Worst"


def paired(results: pl.DataFrame, ours: str, theirs: str) -> pl.DataFrame:
    """Return the cases in which both methods were measured, with both values."""
    mine, other = (
        results.filter(pl.col("method") == method).select(*_CASE, pl.col("value").alias(name))
        for method, name in ((ours, "ours"), (theirs, "theirs"))
    )
    return mine.join(other, on=_CASE, how="inner", maintain_order="left")


def describe_case(case: dict[str, object]) -> str:
    """Say which case it is.

    >>> describe_case({"dataset": "census salary", "rows": 25000, "parameter": "small", "measure": "mean error"})
    'census salary, 25,000 rows, small'
    """
    rows = case["rows"]
    assert isinstance(rows, int)
    parts = [str(case["dataset"]), f"{rows:,} rows", str(case["parameter"])]
    return ", ".join(part for part in parts if part)


def extremes(values: pl.Series) -> tuple[float, float]:
    """Return the smallest and the largest of some numbers; zeros where there are none."""
    numbers = values.cast(pl.Float64).to_numpy()
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Return one verdict on the cases of several; what was not measured has none."""
    evidence = " ".join(found.evidence for found in verdicts if found.cases)
    return verdict(sum(found.cases for found in verdicts), sum(found.holds_in for found in verdicts), evidence)
