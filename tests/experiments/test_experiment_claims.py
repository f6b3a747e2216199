"""Verdicts come from numbers: what makes a claim hold, hold in part, fail, or stay undecided."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.experiments.claims import (
    NOISE,
    NOT_MEASURED,
    Claim,
    all_of,
    compare,
    extremes,
    over_runs,
    share_noise,
    undecided,
    verdict,
)
from incrowd.experiments.growth import grows_linearly
from incrowd.experiments.results import Results, mean_of_runs
from tests.experiments.planted import Line, results, runs

OURS, OTHER = "ours", "theirs"


def pair(ours: float, theirs: float, *, rows: int = 10_000, parameter: str = "", measure: str = "error") -> list[Line]:
    return [("4", "a", rows, OURS, parameter, measure, ours), ("4", "a", rows, OTHER, parameter, measure, theirs)]


def test_verdicts_by_share_of_cases() -> None:
    assert [verdict(4, holds, "").holding for holds in (4, 3, 2, 1, 0)] == [
        "holds",
        "holds in part",
        "holds in part",
        "does not hold",
        "does not hold",
    ]
    assert verdict(0, 0, "") == NOT_MEASURED


def test_a_claim_of_several_parts_fails_with_any_of_them() -> None:
    """Half of it right and half of it wrong throughout is wrong, not right in part."""
    assert all_of([verdict(2, 2, "a."), verdict(2, 2, "b.")]).holding == "holds"
    assert all_of([verdict(2, 2, "a."), verdict(2, 0, "b.")]).holding == "does not hold"
    both = all_of([verdict(4, 4, "first."), verdict(4, 3, "second.")])
    assert (both.holding, both.evidence, both.cases, both.holds_in) == ("holds in part", "first. second.", 8, 7)
    assert all_of([verdict(4, 4, "a."), NOT_MEASURED]).holding == "not measured"
    assert all_of([verdict(4, 0, "a."), NOT_MEASURED]).holding == "does not hold"
    assert all_of([NOT_MEASURED]) == NOT_MEASURED


def test_comparisons_are_case_by_case() -> None:
    frame = results(
        *pair(0.5, 0.7, parameter="small"), *pair(0.2, 0.1, parameter="large"), ("4", "a", 9, OURS, "", "error", 0.2)
    )
    found = compare(frame, OURS, OTHER)
    assert (found.holding, found.cases, found.holds_in) == ("holds in part", 2, 1)
    assert "in 1 of 2 cases" in found.evidence
    assert "Worst: a, 10,000 rows, large, 0.2 against 0.1" in found.evidence
    assert compare(frame, OURS, OTHER, better="higher").holds_in == 1
    assert compare(frame, OURS, OTHER, slack=0.11).holds_in == 2
    assert compare(frame, OURS, "nobody") == NOT_MEASURED


@pytest.mark.parametrize("theirs", [1.0, 1.0 + 0.9 * NOISE])
def test_what_chance_can_do_is_no_difference(theirs: float) -> None:
    assert compare(results(*pair(1.0, theirs)), OURS, OTHER).holding == "does not hold"
    assert compare(results(*pair(1.0, 1.1)), OURS, OTHER).holding == "holds"


def test_shares_of_few_rows_are_noisier() -> None:
    def better(rows: int) -> str:
        return compare(results(*pair(0.81, 0.80, rows=rows)), OURS, OTHER, better="higher", noise=share_noise).holding

    assert (better(100), better(100_000)) == ("does not hold", "holds")
    # The bound is that of two coins thrown that often, one for each release.
    rng = np.random.default_rng(0)
    throws = rng.binomial(400, 0.5, size=(4_000, 2)) / 400
    spread = (throws[:, 0] - throws[:, 1]).std()
    noise = share_noise(pl.DataFrame({"rows": [400]}))[0]
    assert noise == pytest.approx(spread, rel=0.05)


def test_nothing_learnt_is_not_better_learnt() -> None:
    floor: Line = ("4", "a", 10_000, "largest class", "any", "error", 0.75)
    better = {"better": "higher", "noise": share_noise, "floor": "largest class"}
    assert compare(results(*pair(0.74, 0.70), floor), OURS, OTHER, **better).holding == "does not hold"  # type: ignore[arg-type]
    assert compare(results(*pair(0.80, 0.70), floor), OURS, OTHER, **better).holding == "holds"  # type: ignore[arg-type]
    assert compare(results(*pair(0.80, 0.70)), OURS, OTHER, **better).holding == "does not hold"  # type: ignore[arg-type]
    both = results(*pair(0.75, 0.75), floor)
    assert compare(both, OURS, OTHER, slack=0.1, **better).holding == "does not hold"  # type: ignore[arg-type]
    assert "nothing was learnt" in compare(both, OURS, OTHER, slack=0.1, **better).evidence  # type: ignore[arg-type]


def test_the_floor_is_that_of_the_same_target() -> None:
    lines = pair(0.6, 0.5, parameter="l = 5, job, tree") + pair(0.9, 0.8, parameter="l = 5, sex, tree")
    floors: list[Line] = [
        ("4", "a", 10_000, "majority", "l = 5, job, any", "error", 0.55),
        ("4", "a", 10_000, "majority", "l = 5, sex, any", "error", 0.95),
    ]
    found = compare(results(*lines, *floors), OURS, OTHER, better="higher", floor="majority")
    assert (found.cases, found.holds_in) == (2, 1)


CLAIM = Claim("Ours is lower.", "here", lambda frame: compare(frame, OURS, OTHER))


def test_what_holds_has_to_hold_in_every_run() -> None:
    good, bad = results(*pair(1, 2)), results(*pair(2, 1))
    half = results(*pair(1, 2), *pair(2, 1, parameter="x"))
    nothing = results(("4", "a", 1, "nobody", "", "error", 1.0))

    def holding(*each: pl.DataFrame) -> str:
        return over_runs(CLAIM, runs(*each)).holding

    assert holding(good, good, good) == "holds"
    assert holding(good, good, bad) == "holds in part"
    assert holding(good, bad, bad) == "does not hold"
    assert holding(bad, bad) == "does not hold"
    assert holding(good, half) == holding(good, nothing) == "holds in part"
    quarter = results(*(line for at in range(4) for line in pair(1 if at else 2, 2 if at else 1, parameter=str(at))))
    assert holding(quarter, quarter) == "holds in part"
    three_fail = results(*(line for at in range(4) for line in pair(2 if at else 1, 1 if at else 2, parameter=str(at))))
    assert holding(three_fail, half) == "does not hold"  # 2 of 6 cases
    assert holding(nothing, nothing) == "not measured"
    found = over_runs(CLAIM, runs(good, good, bad))
    assert found.evidence.startswith("Holds in 2 of 3 runs. The worst run: Lower than theirs")
    assert "2 against 1" in found.evidence
    assert (found.cases, found.holds_in) == (3, 2)


def test_one_run_is_not_enough_where_chance_has_a_part() -> None:
    good, bad = results(*pair(1, 2)), results(*pair(2, 1))
    assert over_runs(CLAIM, good).holding == "holds in one run"
    assert over_runs(CLAIM, runs(good)).holding == "holds in one run"
    assert over_runs(CLAIM, good, chance=False).holding == "holds"
    assert over_runs(CLAIM, bad).holding == "does not hold"
    assert over_runs(CLAIM, results()).holding == "not measured"


def test_a_coin_seldom_passes_for_a_difference() -> None:
    """Two methods that are alike, measured with noise of one standard error, three times over."""
    rng = np.random.default_rng(3)
    claim = Claim("", "", lambda frame: compare(frame, OURS, OTHER, better="higher", noise=share_noise))
    found = []
    for _ in range(100):
        draws = rng.binomial(1000, 0.7, size=(3, 2)) / 1000
        found.append(over_runs(claim, runs(*(results(*pair(a, b, rows=1000)) for a, b in draws))).holding)
    assert found.count("holds") <= 1


def test_numbers_of_several_runs_are_told_as_means() -> None:
    made = Results()
    for made.run, value in enumerate((1.0, 3.0)):
        made.add("1", "a", 1, "m", "", "x", value)
        made.add("1", "a", 2, "m", "", "x", 10 * value)
    assert made.frame()["run"].to_list() == [0, 0, 1, 1]
    means = mean_of_runs(made.frame())
    assert means.select("rows", "value").rows() == [(1, 2.0), (2, 20.0)]
    assert "run" not in means.columns


def times(*points: tuple[int, float]) -> pl.DataFrame:
    return pl.DataFrame(points, schema=["rows", "value"], orient="row")


def test_growth() -> None:
    sizes = (100_000, 200_000, 400_000, 1_000_000)
    linear = times(*((rows, rows / 1e5) for rows in sizes))
    n_log_n = times(*((rows, rows * np.log(rows) / 1e6) for rows in sizes))
    squared = times(*((rows, rows**2 / 1e10) for rows in sizes))
    hidden = times(*((rows, 5 + rows**2 / 1e11) for rows in sizes))  # a fixed cost before it
    assert grows_linearly({"": linear}).holding == grows_linearly({"": n_log_n}).holding == "holds"
    assert grows_linearly({"": squared}).holding == "does not hold"
    assert grows_linearly({"": hidden}).holding == "does not hold"
    assert grows_linearly({"a": linear, "b": squared}).holding == "holds in part"
    assert grows_linearly({"": linear.head(2)}).holding == "not measured"  # twice the rows say little
    assert grows_linearly({"": linear.head(1)}).holding == "not measured"
    assert grows_linearly({}).holding == "not measured"


def test_extremes() -> None:
    values = pl.Series([3.0, -1.0])
    assert extremes(values) == (-1.0, 3.0)
    assert extremes(values.head(0)) == (0.0, 0.0)


def test_undecided_says_why() -> None:
    assert (undecided("why").holding, undecided("why").evidence) == ("not measured", "why")
