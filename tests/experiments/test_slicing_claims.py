"""Every claim about slicing, with results for which it holds and results of a method for which it must fail."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.experiments.results import Results
from incrowd.experiments.slicing.claims import CLAIMS, HIDDEN, membership_is_hidden
from incrowd.experiments.slicing.measuring import RAW
from incrowd.experiments.slicing.membership import (
    ADVANTAGE,
    MATCHED,
    MATCHING,
    ORIGINAL,
    PEOPLE_RATIO,
    RANDOM,
    RATIO,
    SHARE,
    measure_membership,
)
from incrowd.experiments.slicing.ratings import AT_RANDOM, EXPLAINED, ITEM_MEAN
from incrowd.experiments.slicing.ways import (
    BUCKETIZED,
    COARSE,
    GENERALIZED,
    PAPER,
    RECOMMENDED,
    SLICED,
    WIDE,
    Case,
    publish_all,
)
from incrowd.experiments.tables import census_subject
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
)

SETTINGS = {"the paper's buckets": PAPER, "buckets dealt down to ℓ": SLICED, "the recommended setting": RECOMMENDED}


def errors(method: str, ours: float, theirs: float) -> list[Line]:
    return [
        ("queries", "census", 10, name, "l = 5, 2 attributes", "median error", value)
        for name, value in ((method, ours), (GENERALIZED, theirs))
    ]


def accuracies(method: str, target: str, ours: float, others: dict[str, float], floor: float = 0.1) -> list[Line]:
    found = {method: ours, RAW: 0.9, **others}
    lines: list[Line] = [
        ("classifiers", "census", 50_000, name, f"l = 5, {target}, decision tree", "accuracy", value)
        for name, value in found.items()
    ]
    return [*lines, ("classifiers", "census", 50_000, "majority", f"l = 5, {target}, any", "accuracy", floor)]


def member(
    method: str,
    advantage: float,
    original: float,
    others: float | None,
    people: str = MATCHING,
    dataset: str = "census",
) -> list[Line]:
    measures = {
        RATIO: 3.0,
        PEOPLE_RATIO: 2.0,
        SHARE: 0.5,
        ADVANTAGE.format(people): advantage,
        MATCHED.format(ORIGINAL): original,
        **({} if others is None else {MATCHED.format(people): others}),
    }
    return [("membership", dataset, 10, method, "l = 5", measure, value) for measure, value in measures.items()]


TOLD = member(BUCKETIZED, 1.0, 1.0, None)


def fakes(method: str, ratio: float) -> list[Line]:
    return [("membership", "census", 10, method, "l = 5", RATIO, ratio)]


def seconds(method: str, power: float) -> list[Line]:
    return [
        ("times", "census", rows, method, "l = 5", "seconds", (rows / 1e5) ** power)
        for rows in (100_000, 300_000, 1_000_000)
    ]


def films(**values: float) -> list[Line]:
    names = {"mean": ITEM_MEAN, "paper": PAPER, "default": SLICED, "recommended": RECOMMENDED, "mixed": AT_RANDOM}
    names["generalized"] = GENERALIZED
    return [
        ("ratings", "ratings", 4_500, names[name], "l = 3", EXPLAINED, value)
        for name, value in {"mean": 0.0, **values}.items()
    ]


def of_setting(said: str, method: str) -> Planted:
    """What holds of slicing in one setting, and what must not."""
    return {
        f"a smaller error than generalization ({said}": (
            errors(method, 0.1, 0.2),
            {"larger": errors(method, 0.2, 0.1), "alike": errors(method, 0.1, 0.101)},
        ),
        **{
            f"learnt better from slicing than from {name} ({said}": (
                accuracies(method, "occupation", 0.30, {theirs: 0.25}),
                {
                    "worse": accuracies(method, "occupation", 0.25, {theirs: 0.30}),
                    "alike": accuracies(method, "occupation", 0.301, {theirs: 0.300}),
                    "nothing learnt": accuracies(method, "occupation", 0.30, {theirs: 0.25}, floor=0.31),
                },
            )
            for name, theirs in (("bucketization", BUCKETIZED), ("generalization", GENERALIZED))
        },
        f"which keeps them together ({said}": (
            accuracies(method, "education", 0.50, {BUCKETIZED: 0.505}),
            {
                "three points worse": accuracies(method, "education", 0.47, {BUCKETIZED: 0.50}),
                "nothing to learn": accuracies(method, "education", 0.50, {BUCKETIZED: 0.50}, floor=0.50),
            },
        ),
        f"more fake tuples than original ones ({said}": (
            fakes(method, 3.0),
            {"none": fakes(method, 0.0), "fewer": fakes(method, 0.9), "as many": fakes(method, 1.0)},
        ),
        f"fake people match about as many buckets ({said}": (
            member(method, 0.02, 1.0, 1.0) + TOLD,
            {
                "told": member(method, 0.9, 1.0, 1.0) + TOLD,
                "0.4961, and 13.2 buckets against 1.6": member(method, 0.4961, 13.2, 1.6) + TOLD,
                "just below the bound": member(method, HIDDEN - 0.001, 1.0, 1.0) + TOLD,
                "means that differ": member(method, 0.02, 13.2, 1.6) + TOLD,
                "nobody else matches": member(method, 1.0, 1.0, None) + TOLD,
                "bucketization hides as well": member(method, 0.02, 1.0, 1.0) + member(BUCKETIZED, 0.2, 1.0, 1.0),
            },
        ),
        f"from people with the same frequencies ({said}": (
            member(method, 0.05, 1.0, 0.96, RANDOM),
            {"told": member(method, 0.4, 1.0, 0.6, RANDOM), "all told": member(method, 1.0, 1.0, 0.0, RANDOM)},
        ),
    }


PLANTED: Planted = {
    **{text: lines for said, method in SETTINGS.items() for text, lines in of_setting(said, method).items()},
    "linear in the rows (the paper's": (seconds(PAPER, 1.0), {"squared": seconds(PAPER, 2.0)}),
    "linear in the rows (the default": (seconds(SLICED, 1.0), {"squared": seconds(SLICED, 2.0)}),
    "buckets of 50 rows or more": (
        member(WIDE, 0.02, 1.0, 1.0),
        {"told": member(WIDE, 0.3, 1.0, 1.0), "means that differ": member(WIDE, 0.02, 20.0, 2.6)},
    ),
    "one level up in buckets of 50": (
        member(COARSE, 0.05, 1.0, 0.96, RANDOM),
        {"told": member(COARSE, 0.4, 1.0, 0.6, RANDOM)},
    ),
    **{
        f"predicted better than from generalization ({said}": (
            films(**{name: 0.2, "generalized": 0.1}),
            {
                "worse": films(**{name: 0.1, "generalized": 0.2}),
                "alike": films(**{name: 0.20, "generalized": 0.19}),
                "no better than the mean": films(**{name: -0.1, "generalized": -0.4}),
            },
        )
        for said, name in (
            ("the paper's buckets", "paper"),
            ("the default, buckets dealt", "default"),
            ("the recommended setting", "recommended"),
        )
    },
    "better than columns of items at random": (
        films(paper=0.2, mixed=0.1),
        {
            "worse": films(paper=0.1, mixed=0.2),
            "alike": films(paper=0.20, mixed=0.19),
            "no better than the mean": films(paper=0.01, mixed=-0.2),
        },
    ),
}
PLANTED = {text.replace("(buckets dealt", "(the default, buckets dealt"): lines for text, lines in PLANTED.items()}
FAILING = failing(PLANTED)


def test_every_claim_has_results_for_which_it_fails() -> None:
    require_all_planted(CLAIMS, PLANTED)


@pytest.mark.parametrize("text", PLANTED)
def test_it_holds_where_it_should(text: str) -> None:
    require_holding(CLAIMS, PLANTED, text)


@pytest.mark.parametrize(("text", "why"), FAILING.values(), ids=FAILING)
def test_it_fails_where_it_must(text: str, why: str) -> None:
    require_failing(CLAIMS, PLANTED, text, why)


def test_the_evidence_says_how_many_buckets_are_matched() -> None:
    found = judge(
        CLAIMS,
        "about as many buckets (the default",
        results(*member(SLICED, 0.4961, 13.2, 1.6), *TOLD),
    )
    assert "0.50 (original people match 13.20 buckets, the others 1.60" in found.evidence


def test_the_evidence_says_where_the_paper_s_measure_asks_only_about_matches() -> None:
    assert "one of them or none" in membership_is_hidden(results(*member(PAPER, 0.0, 1.0, 1.0))).evidence
    assert "one of them or none" not in membership_is_hidden(results(*member(SLICED, 0.02, 1.1, 1.0)), SLICED).evidence


def test_other_tables_are_other_cases() -> None:
    frame = results(*member(PAPER, 0.02, 1.0, 1.0), *member(PAPER, 0.5, 9.0, 1.0, dataset="Adult"))
    assert membership_is_hidden(frame).holding == "holds in part"


def _measured(rows: int = 1_500) -> pl.DataFrame:
    subject = census_subject("occupation", rows, 0)
    made = Results()
    releases = publish_all(made, subject, 5, 0)
    # Planted: what is called slicing keeps all quasi-identifiers together, as bucketization does.
    planted = {**releases, PAPER: releases[BUCKETIZED]}
    for run, each in enumerate((releases, planted)):
        made.run = run
        measure_membership(made, Case(subject, 5, each, 10, np.random.default_rng(0)))
    return made.frame()


def test_a_method_that_shows_who_is_there_is_found_out() -> None:
    frame = _measured()
    honest, planted = (frame.filter(run=run).drop("run") for run in (0, 1))
    for part in ("fake people match about as many buckets (the paper's", "same frequencies (the paper's"):
        assert holding(CLAIMS, part, planted) == "does not hold"
    assert holding(CLAIMS, "fake people match about as many buckets (the paper's", honest) == "holds"
    assert holding(CLAIMS, "more fake tuples than original ones (the paper's", honest) == "holds"
