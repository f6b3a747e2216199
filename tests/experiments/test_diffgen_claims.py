"""Every claim about DiffGen, with results as in the paper, and results of a method for which it must fail."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.experiments.claims import over_runs
from incrowd.experiments.diffgen_claims import (
    ACCURACY,
    CLAIMS,
    CLASS_ONLY,
    CONSISTENT,
    DIFFGEN,
    ERROR,
    PRINTED,
    RAW,
    UNCLIPPED,
)
from tests.experiments.planted import (
    Line,
    Planted,
    failing,
    holding,
    judge,
    require_all_planted,
    require_failing,
    require_holding,
    results,
    runs,
)

BOUNDS: list[Line] = [
    ("bounds", "Adult", 10, RAW, "", ACCURACY, 0.82),
    ("bounds", "Adult", 10, CLASS_ONLY, "", ACCURACY, 0.75),
]


def points(method: str, utility: str, shape: dict[int, float], epsilons: tuple[str, ...] = ("0.1", "1")) -> list[Line]:
    return [
        ("5", "Adult", 10, method, f"{utility}, ε = {epsilon}, h = {steps}", ACCURACY, value)
        for epsilon in epsilons
        for steps, value in shape.items()
    ]


def at_ten(**values: float) -> list[Line]:
    """DiffGen with Max at ten specializations, by ε in hundredths."""
    return BOUNDS + [
        ("5", "Adult", 10, DIFFGEN, f"max, ε = {int(name[1:]) / 100:g}, h = 10", ACCURACY, value)
        for name, value in values.items()
    ]


def by_epsilon(low: float, high: float, method: str = CONSISTENT) -> list[Line]:
    return BOUNDS + points(method, "max", {16: low}, ("0.1",)) + points(method, "max", {16: high}, ("1",))


def counts(theirs: str, ours: float, other: float, size: str = "more leaves", method: str = CONSISTENT) -> list[Line]:
    return [
        ("queries", "Adult", 10, name, f"ε = 1, {size}", ERROR, value)
        for name, value in ((method, ours), (theirs, other))
    ]


def utilities(better: str, worse: str, high: float, low: float) -> list[Line]:
    return points(DIFFGEN, better, {10: high}) + points(DIFFGEN, worse, {10: low})


FALLS, FLAT, RISES = {4: 0.79, 10: 0.80, 16: 0.74}, {4: 0.79, 10: 0.79, 16: 0.79}, {4: 0.78, 10: 0.80, 16: 0.81}

PLANTED: Planted = {
    "Choosing by information gain is not as good": (
        utilities("max", "infogain", 0.80, 0.77),
        {
            "as good": utilities("max", "infogain", 0.80, 0.80),
            "better": utilities("max", "infogain", 0.77, 0.80),
            "alike": utilities("max", "infogain", 0.803, 0.80),
        },
    ),
    "loses little to raw data": (
        at_ten(e10=0.745, e25=0.774, e50=0.778, e100=0.789),
        {
            "loses much everywhere": at_ten(e10=0.60, e25=0.65, e50=0.66, e100=0.67),
            "no more at 0.1": at_ten(e10=0.79, e25=0.774, e50=0.778, e100=0.789),
            "alike at 0.1": at_ten(e10=0.788, e25=0.789, e50=0.790, e100=0.791),
        },
    ),
    "accuracy falls when there are too many": (
        points(DIFFGEN, "max", FALLS),
        {"stays": points(DIFFGEN, "max", FLAT), "rises": points(DIFFGEN, "max", RISES)},
    ),
    "keeps rising": (
        points(CONSISTENT, "max", RISES),
        {"stays": points(CONSISTENT, "max", FLAT), "falls": points(CONSISTENT, "max", FALLS)},
    ),
    "From h = 10 on": (
        points(CONSISTENT, "max", RISES) + points(DIFFGEN, "max", {10: 0.78, 16: 0.74}),
        {
            "worse": points(CONSISTENT, "max", FALLS) + points(DIFFGEN, "max", {10: 0.81, 16: 0.81}),
            "equal": points(CONSISTENT, "max", FLAT) + points(DIFFGEN, "max", FLAT),
        },
    ),
    "does not depend on ε": (
        by_epsilon(0.80, 0.81),
        {"depends": by_epsilon(0.76, 0.81), "learns nothing at any ε": by_epsilon(0.75, 0.75)},
    ),
    "of DiffGen's published table": (
        counts(DIFFGEN, 10, 20),
        {"farther": counts(DIFFGEN, 20, 10), "alike": counts(DIFFGEN, 10, 10.1)},
    ),
    "nearer than sums of DiffGen's noisy leaves": (
        counts(UNCLIPPED, 10, 20),
        {"farther": counts(UNCLIPPED, 20, 10), "alike": counts(UNCLIPPED, 10, 10.1)},
    ),
    "only slightly less accurate": (
        counts(UNCLIPPED, 15, 10, "one leaf"),
        {"three times": counts(UNCLIPPED, 30, 10, "one leaf")},
    ),
    "grows up to the last": (
        points(PRINTED, "max", RISES),
        {
            "stays": points(PRINTED, "max", FLAT),
            "falls, though the other rises": points(PRINTED, "max", FALLS) + points(CONSISTENT, "max", RISES),
        },
    ),
    "h of 10 and more": (
        points(PRINTED, "max", RISES) + points(DIFFGEN, "max", {10: 0.78, 16: 0.74}),
        {"equal": points(PRINTED, "max", FLAT) + points(DIFFGEN, "max", FLAT)},
    ),
    "ε stops mattering": (by_epsilon(0.80, 0.81, PRINTED), {"depends": by_epsilon(0.76, 0.81, PRINTED)}),
    "wide ranges beat DiffGen's table": (
        counts(DIFFGEN, 10, 20, method=PRINTED),
        {"farther": counts(DIFFGEN, 20, 10, method=PRINTED)},
    ),
    "beat sums of leaves": (
        counts(UNCLIPPED, 10, 20, method=PRINTED),
        {"farther": counts(UNCLIPPED, 20, 10, method=PRINTED)},
    ),
    "doubles the error of one leaf": (
        counts(UNCLIPPED, 15, 10, "one leaf", PRINTED),
        {"three times": counts(UNCLIPPED, 30, 10, "one leaf", PRINTED)},
    ),
    "Ranges that cut through boxes": (
        counts(DIFFGEN, 10, 20, "2 conditions, any range"),
        {"farther, though aligned ones are nearer": counts(DIFFGEN, 20, 10, "2 conditions, any range")},
    ),
    "itself, ranges that cut": (
        counts(DIFFGEN, 10, 20, "2 conditions, any range", PRINTED),
        {"farther": counts(DIFFGEN, 20, 10, "2 conditions, any range", PRINTED)},
    ),
    "purity of boxes": (
        utilities("gini", "max", 0.81, 0.79),
        {"worse": utilities("gini", "max", 0.79, 0.81), "alike": utilities("gini", "max", 0.793, 0.79)},
    ),
}
FAILING = failing(PLANTED)


def test_every_claim_has_results_for_which_it_fails() -> None:
    require_all_planted(CLAIMS, PLANTED)


@pytest.mark.parametrize("text", PLANTED)
def test_it_holds_as_in_the_paper(text: str) -> None:
    require_holding(CLAIMS, PLANTED, text)


@pytest.mark.parametrize(("text", "why"), FAILING.values(), ids=FAILING)
def test_it_fails_where_it_must(text: str, why: str) -> None:
    require_failing(CLAIMS, PLANTED, text, why)


def test_the_best_of_several_noisy_points_is_no_peak() -> None:
    """A curve that is flat but for the noise of its points neither falls off nor keeps rising, over all runs."""
    rng = np.random.default_rng(1)
    verdicts: dict[str, list[str]] = {"accuracy falls when there are too many": [], "keeps rising": []}
    for _ in range(40):
        frames = [
            results(
                *points(method, "max", {h: 0.79 + 0.004 * rng.standard_normal() for h in (4, 7, 10, 13, 16)}, ("1",))
            )
            for _ in range(4)
            for method in (DIFFGEN,)
        ]
        consistent = [
            results(
                *points(
                    CONSISTENT, "max", {h: 0.79 + 0.004 * rng.standard_normal() for h in (4, 7, 10, 13, 16)}, ("1",)
                )
            )
            for _ in range(4)
        ]
        for part, several in (("accuracy falls when there are too many", frames), ("keeps rising", consistent)):
            (claim,) = [claim for claim in CLAIMS if part in claim.text]
            verdicts[part].append(over_runs(claim, runs(*several)).holding)
    assert all(found.count("holds") <= 1 for found in verdicts.values())


def test_every_epsilon_that_is_named_is_asked() -> None:
    few = results(*at_ten(e10=0.745, e100=0.789))
    assert holding(CLAIMS, "loses little to raw data", few) == "not measured"


def test_the_evidence_has_the_paper_s_numbers_beside_ours() -> None:
    found = judge(CLAIMS, "loses little to raw data", results(*PLANTED["loses little to raw data"][0]))
    assert "7.5 points at ε = 0.1 and 4.6 at 0.25, 4.2 at 0.5, 3.1 at 1" in found.evidence
