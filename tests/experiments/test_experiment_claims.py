"""Verdicts come from numbers: crafted results make each claim hold, hold in part, fail, or stay unmeasured."""

from __future__ import annotations

import pytest

from incrowd.experiments.claims import NOT_MEASURED, all_of, compare, extremes, verdict
from incrowd.experiments.results import Results
from incrowd.experiments.sattar.claims import CLAIMS
from incrowd.experiments.sattar.settings import (
    AVG_K,
    GAIN_MAX_K,
    LAPLACE,
    MAX_K,
    OURS,
    RAW,
)


def results(*lines: tuple[str, str, int, str, object, str, float]):
    made = Results()
    for line in lines:
        made.add(*line)
    return made.frame()


def judged(part: str, frame) -> str:
    (claim,) = [claim for claim in CLAIMS if part in claim.text]
    return claim.judge(frame).holding


def test_without_results_nothing_is_measured() -> None:
    empty = results()
    assert {claim.judge(empty).holding for claim in CLAIMS} == {"not measured"}


def test_verdicts_by_share_of_cases() -> None:
    assert [verdict(4, holds, "").holding for holds in (4, 3, 2, 1, 0)] == [
        "holds",
        "holds in part",
        "holds in part",
        "does not hold",
        "does not hold",
    ]
    assert verdict(0, 0, "") == NOT_MEASURED
    both = all_of([verdict(4, 4, "first."), verdict(4, 1, "second."), NOT_MEASURED])
    assert (both.holding, both.evidence) == ("holds in part", "first. second.")
    assert all_of([NOT_MEASURED]) == NOT_MEASURED


def test_comparisons_are_case_by_case() -> None:
    frame = results(
        ("4", "census", 10, OURS, "small", "error", 0.5),
        ("4", "census", 10, MAX_K, "small", "error", 0.7),
        ("4", "census", 10, OURS, "large", "error", 0.2),
        ("4", "census", 10, MAX_K, "large", "error", 0.1),
        ("4", "census", 20, OURS, "large", "error", 0.2),  # the other method was not measured there
    )
    found = compare(frame, OURS, MAX_K)
    assert (found.holding, found.cases, found.holds_in) == ("holds in part", 2, 1)
    assert "in 1 of 2 cases" in found.evidence
    assert "Worst: census, 10 rows, large, 0.2 against 0.1" in found.evidence
    assert compare(frame, OURS, MAX_K, better="higher").holds_in == 1
    assert compare(frame, OURS, MAX_K, slack=0.1).holds_in == 2
    assert compare(frame, OURS, AVG_K) == NOT_MEASURED


def test_equal_numbers_are_not_better() -> None:
    frame = results(("4", "a", 1, OURS, "", "e", 1.0), ("4", "a", 1, MAX_K, "", "e", 1.0))
    assert compare(frame, OURS, MAX_K).holding == "does not hold"


@pytest.mark.parametrize(
    ("shares", "holding"), [((0.0, 0.0), "holds"), ((0.0, 0.01), "holds in part"), ((0.1, 0.01), "does not hold")]
)
def test_nothing_withheld(shares, holding) -> None:
    lines = [("2", "census salary", rows, OURS, 0.6, "withheld", share) for rows, share in enumerate(shares)]
    # Neither another limit nor Adult is part of the claim.
    lines += [
        ("2", "census salary", 0, OURS, 0.2, "withheld", 0.5),
        ("2", "Adult income", 0, OURS, 0.6, "withheld", 1.0),
    ]
    assert judged("none is withheld", results(*lines)) == holding


def test_fewer_withheld() -> None:
    falls = [
        ("2", "census", 10, OURS, limit, "withheld", share) for limit, share in ((0.6, 0.0), (0.2, 0.3), (0.4, 0.3))
    ]
    assert judged("fewer records are withheld", results(*falls)) == "holds"
    rises = [("2", "census", 20, OURS, limit, "withheld", share) for limit, share in ((0.2, 0.1), (0.6, 0.2))]
    assert judged("fewer records are withheld", results(*rises)) == "does not hold"


def test_max_k_and_avg_k() -> None:
    table = [
        ("table 5", "census", 10, "Mondrian", "", "Max.k", 90),
        ("table 5", "census", 10, OURS, "", "Avg.k", 8),
        ("table 5", "census", 20, "Mondrian", "", "Max.k", 70),
        ("table 5", "census", 20, OURS, "", "Avg.k", 10),
    ]
    assert judged("only with groups larger", results(*table)) == "holds"
    assert judged("the smaller Max.k", results(*table)) == "holds"
    grown = [*table[:2], ("table 5", "census", 20, "Mondrian", "", "Max.k", 95), table[3]]
    assert judged("the smaller Max.k", results(*grown)) == "holds in part"


def test_query_errors_count_means_only() -> None:
    lines = [
        ("4", "census", 10, OURS, "small", "mean error", 0.5),
        ("4", "census", 10, MAX_K, "small", "mean error", 0.6),
        ("4", "census", 10, OURS, "small", "median error", 0.9),
        ("4", "census", 10, MAX_K, "small", "median error", 0.1),
    ]
    claim = "always lower than those of Mondrian at Max.k"
    assert judged(claim, results(*lines)) == "holds"
    assert judged("always lower than those of Mondrian at Avg.k", results(*lines)) == "not measured"


def test_accuracies() -> None:
    lines = [
        ("5", "Adult", 10, RAW, "tree", "accuracy", 0.82),
        ("5", "Adult", 10, OURS, "tree", "accuracy", 0.815),
        ("5", "Adult", 10, MAX_K, "tree", "accuracy", 0.80),
        ("5", "Adult", 10, GAIN_MAX_K, "tree", "accuracy", 0.816),
    ]
    assert judged("very close to the baseline", results(*lines)) == "holds"
    assert judged("more accurate than with Mondrian at Max.k", results(*lines)) == "holds in part"
    lines[1] = ("5", "Adult", 10, OURS, "tree", "accuracy", 0.80)
    assert judged("very close to the baseline", results(*lines)) == "does not hold"


def test_noise() -> None:
    unchanged = [("6", "c", 10, "Laplace", e, "unchanged", v) for e, v in (("0.1", 0.05), ("0.5", 0.24), ("1", 0.46))]
    unchanged += [("6", "c", 10, "Laplace", "0.1", "unchanged, no answer below 0", 0.2)]
    assert judged("more than 30 %", results(*unchanged)) == "does not hold"
    assert judged("more than 30 %", results(unchanged[0], unchanged[2], unchanged[3])) == "holds"
    small = [("7", "c", 10, OURS, "small", "mean error", 1.0), ("7", "c", 10, LAPLACE, "small", "mean error", 2.0)]
    large = [("7", "c", 10, OURS, "large", "mean error", 1.0), ("7", "c", 10, LAPLACE, "large", "mean error", 0.1)]
    assert judged("err more on small queries", results(*small, *large)) == "holds"
    distances = [
        ("8", "c", 10, method, "", measure, value)
        for measure, values in (("Kullback-Leibler", (0.1, 0.5)), ("city-block", (9.0, 5.0)))
        for method, value in zip((OURS, LAPLACE), values, strict=True)
    ]
    assert judged("Both distances", results(*distances)) == "holds in part"


def test_times() -> None:
    linear = [("10", "c", rows, OURS, 0.6, "CPU seconds", rows / 1000) for rows in (1000, 2000, 4000)]
    mondrian = [("10", "c", rows, "Mondrian", "Avg.k", "CPU seconds", rows / 1500) for rows in (1000, 2000, 4000)]
    assert judged("scales well", results(*linear)) == "holds"
    assert judged("slightly longer", results(*linear, *mondrian)) == "holds"
    squared = [("10", "c", rows, OURS, 0.6, "CPU seconds", rows**2 / 1e6) for rows in (1000, 2000, 4000)]
    assert judged("scales well", results(*squared)) == "does not hold"
    assert judged("scales well", results(linear[0])) == "not measured"
    assert judged("slightly longer", results(*squared, *mondrian)) == "does not hold"


def test_extremes() -> None:
    frame = results(("1", "a", 1, "m", "", "x", 3.0), ("1", "a", 2, "m", "", "x", -1.0))
    assert extremes(frame["value"]) == (-1.0, 3.0)
    assert extremes(frame["value"].head(0)) == (0.0, 0.0)
