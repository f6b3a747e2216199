"""A paper's claims, and what the results say about each: verdicts are computed, never written.

An experiment is run several times, each with chance of its own, and a claim *holds* only if it holds in every run.
Within a run, a difference counts only if it is larger than chance alone makes it (`NOISE`, `share_noise`). What no
number could ever contradict is no claim: cases that decide nothing are left out, and the evidence says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from incrowd.common.records import dataclass

Holding = Literal["holds", "holds in one run", "holds in part", "does not hold", "not measured"]

NOISE = 0.02
"""Errors, sizes and other amounts that differ by less than one part in fifty are alike. Runs with other rows and other
queries differ by more than that, and nobody would choose a method for it."""

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
    """What a paper says, where it says it, and how the results of one run decide whether it holds."""

    text: str
    where: str
    judge: Callable[[pl.DataFrame], Verdict]


NOT_MEASURED = Verdict("not measured", "There are no results for it in this run.")


def undecided(reason: str) -> Verdict:
    """Return that what was measured cannot decide a claim, and why."""
    return Verdict("not measured", reason)


def verdict(cases: int, holds_in: int, evidence: str) -> Verdict:
    """Return a verdict on so many cases, of which so many hold: in part means in half of them at least."""
    if not cases:
        return NOT_MEASURED
    partly: Holding = "holds in part" if 2 * holds_in >= cases else "does not hold"
    return Verdict("holds" if holds_in == cases else partly, evidence, cases, holds_in)


def over_runs(claim: Claim, results: pl.DataFrame, *, chance: bool = True) -> Verdict:
    """Return the verdict on all runs of an experiment: what holds has to hold in each of them.

    One run that chance had a part in is not enough for "holds". Without chance, it is.
    """
    if "run" not in results.columns:
        return _of_runs([claim.judge(results)], chance=chance)
    runs = [claim.judge(part.drop("run")) for part in results.partition_by("run", maintain_order=True)]
    return _of_runs(runs or [claim.judge(results.drop("run"))], chance=chance)


def _of_runs(found: Sequence[Verdict], *, chance: bool) -> Verdict:
    measured = [each for each in found if each.holding != "not measured"]
    if not measured:
        return found[0]
    fails = sum(each.holding == "does not hold" for each in measured)
    holds = sum(each.holding == "holds" for each in measured)
    cases, holds_in = sum(each.cases for each in measured), sum(each.holds_in for each in measured)
    holding: Holding
    if holds == len(found):
        holding = "holds" if len(found) > 1 or not chance else "holds in one run"
    else:
        holding = "does not hold" if 2 * fails > len(measured) or 2 * holds_in < cases else "holds in part"
    if len(found) == 1:
        return replace(found[0], holding=holding)
    hardest = min(measured, key=lambda each: (-_SEVERITY[each.holding], each.holds_in / max(each.cases, 1)))
    said = f"Holds in {holds} of {len(found)} runs"
    said += f", not measured in {len(found) - len(measured)}" if len(measured) < len(found) else ""
    return Verdict(
        holding,
        f"{said}. The {'closest' if holds == len(found) else 'worst'} run: {hardest.evidence}",
        cases,
        holds_in,
    )


_SEVERITY = {"holds": 0, "holds in one run": 0, "holds in part": 1, "does not hold": 2, "not measured": -1}


def share_noise(pairs: pl.DataFrame) -> pl.Series:
    """Return the standard error of the difference of two shares of that many rows, such as accuracies, at most.

    Three runs in each of which a method is better by one standard error come by chance once in 250 times.
    """
    return (0.5 / pairs["rows"].cast(pl.Float64)).sqrt()


def amount_noise(pairs: pl.DataFrame) -> pl.Series:
    """Return how far amounts that are alike may differ."""
    return NOISE * pairs.select(pl.max_horizontal(pl.col("ours").abs(), pl.col("theirs").abs())).to_series()


def compare(
    results: pl.DataFrame,
    ours: str,
    theirs: str,
    *,
    better: Literal["lower", "higher"] = "lower",
    slack: float = 0.0,
    noise: Callable[[pl.DataFrame], pl.Series] = amount_noise,
    floor: str | None = None,
    style: str = ",.3g",
) -> Verdict:
    """Judge, case by case, whether one method's numbers are better than another's by more than noise.

    With `slack`, they may be worse by that much, noise included. A case is whatever is measured of both: the same data
    set, rows, parameter and measure. `floor` is a method that knows nothing, such as the largest class: where ours is
    no better than that, nothing was learnt, and the case does not hold.
    """
    pairs = paired(results, ours, theirs)
    if pairs.is_empty():
        return NOT_MEASURED
    worse = pairs["ours"] - pairs["theirs"] if better == "lower" else pairs["theirs"] - pairs["ours"]
    margin = noise(pairs)
    holds = worse + margin <= slack if slack else worse + margin < 0
    said = ""
    if floor is not None:
        least = _floors(results, pairs, floor)
        empty = (pairs["ours"] - margin <= least).fill_null(value=True)
        holds &= ~empty
        said = f" In {empty.sum()} of them it is no better than {floor}: nothing was learnt." if empty.any() else ""
    hardest = pairs.row(_hardest_case(worse, holds), named=True)
    evidence = (
        f"{'Lower' if better == 'lower' else 'Higher'} than {theirs}"
        + (f", or within {slack:g} of it," if slack else " by more than noise")
        + f" in {holds.sum()} of {pairs.height} cases; on average {format(pairs['ours'].mean(), style)} against "
        f"{format(pairs['theirs'].mean(), style)}.{said} {'Closest' if holds.all() else 'Worst'}: "
        f"{describe_case(hardest)}, {format(hardest['ours'], style)} against {format(hardest['theirs'], style)}."
    )
    return verdict(pairs.height, int(holds.sum()), evidence)


def _hardest_case(worse: pl.Series, holds: pl.Series) -> int:
    """Return the case that is nearest to failing, or that fails most."""
    among = pl.DataFrame({"worse": worse, "holds": holds}).with_row_index("place").sort("holds", -pl.col("worse"))
    return int(among["place"][0])


def _floors(results: pl.DataFrame, pairs: pl.DataFrame, floor: str) -> pl.Series:
    """Return what knowing nothing gets in each case: its parameter begins as the case's does, up to the last comma."""
    known = results.filter(pl.col("method") == floor).select(
        "dataset", "rows", _subject(pl.col("parameter")).alias("subject"), "measure", pl.col("value").alias("floor")
    )
    cases = pairs.with_columns(_subject(pl.col("parameter")).alias("subject"))
    joined = cases.join(known, on=["dataset", "rows", "subject", "measure"], how="left", maintain_order="left")
    return joined["floor"]


def _subject(parameter: pl.Expr) -> pl.Expr:
    return pl.when(parameter.str.contains(", ")).then(parameter.str.replace(r", [^,]*$", "")).otherwise(pl.lit(""))


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
    """Return one verdict on a claim of several parts, each of which must hold.

    If a part does not hold, the claim does not, however well the others do. If one was not measured, it is not decided.
    """
    evidence = " ".join(found.evidence for found in verdicts if found.cases)
    cases, holds_in = sum(found.cases for found in verdicts), sum(found.holds_in for found in verdicts)
    kinds = {found.holding for found in verdicts}
    if not cases:
        return NOT_MEASURED
    if "does not hold" in kinds:
        return Verdict("does not hold", evidence, cases, holds_in)
    if "not measured" in kinds:
        return Verdict("not measured", f"A part of it was not measured. {evidence}", cases, holds_in)
    return Verdict("holds" if kinds == {"holds"} else "holds in part", evidence, cases, holds_in)
