"""Every claim of Li, Qardaji & Su: it fails where the numbers it speaks of are others, and only the right one does."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl
import pytest

from incrowd.experiments.report import Findings
from incrowd.experiments.sdgs_algorithms import APART, SHARED
from incrowd.experiments.sdgs_claims import CLAIMS
from tests.experiments.experiment_tables import sdgs_findings
from tests.experiments.planted import failing, holding, judge, require_all_planted


@pytest.fixture(scope="module")
def findings() -> Findings:
    return sdgs_findings()


def where(figure: str, measure: str | None = None) -> pl.Expr:
    chosen = pl.col("figure") == figure
    return chosen if measure is None else chosen & (pl.col("measure") == measure)


def put(chosen: pl.Expr, value: pl.Expr | float) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Put other numbers in place of some."""
    return lambda frame: frame.with_columns(value=pl.when(chosen).then(value).otherwise("value"))


AT = pl.col("parameter").cast(pl.Float64, strict=False)
K = pl.col("method").str.extract(r"k = (\d+)").cast(pl.Float64)
RATE = pl.col("method").str.extract(r"β = ([0-9.]+)").cast(pl.Float64)
DELTAS = pl.col("measure") == "δ"
F = where("7", "f(z)")

PLANTED: dict[str, dict[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "δ is as printed": {
        "one part in a hundred more": put(where("table 1"), 1.01 * pl.col("value")),
        "all but one cell lost": lambda frame: frame.filter(~where("table 1") | (AT == 2)),
    },
    "δ falls as ε grows": {"flat": put(DELTAS, 0.5), "rises": put(DELTAS, AT)},
    "A smaller sampling probability lowers δ": {
        "no difference": put(where("3"), 1 / (1 + AT)),
        "the other way round": put(where("3"), 1 / RATE),
    },
    "ten more in k lower δ": {
        "by one power of ten": put(where("2", "δ"), 10 ** (-K / 10)),
        "by eight": put(where("2", "δ"), 10 ** (-0.8 * K)),
    },
    "protect about alike": {"twice the k": put(where("4", "k of equal δ"), 2 * K)},
    "protection is all from sampling": {"never below β": put(where("5") & (K == 1), 0.025)},
    "From k = 2 on": {"at β": put(where("5"), 0.025)},
    "a larger k satisfies a smaller ε": {"flat": put(where("6"), 1.0), "rises": put(where("6"), AT)},
    "decays exponentially fast": {
        "a power of z": put(F, AT**-4.0),
        "slowly": put(F, (-0.5 * (AT - 1)).exp()),
        "not at all": put(F, 1.0),
    },
    "the slower f decays": {
        "as fast": put(F, (-3 * (AT - 1)).exp()),
        "faster": put(F, (-(AT - 1) * pl.col("method").str.extract(r"ε0 = ([0-9.]+)").cast(pl.Float64)).exp()),
    },
    "cuts through the others": {
        "below all": put(F & (pl.col("method") == "ε0 = 0.25"), 1e-30),
        "above all": put(F & (pl.col("method") == "ε0 = 0.25"), 2.0),
    },
    "The smooth bound is above": {"below": put(where("7", "bound over δ"), 0.9)},
    "beyond γn add up": {"half of them": put(where("1", "probability"), 0.5 * pl.col("value"))},
    "still shows single people": {
        "not k-anonymous and nobody alone": put(where("algorithm 1") & (pl.col("measure") != "groups"), 0.0)
    },
    "publishes five as they are": {
        "other numbers": put(where("algorithm 5"), pl.int_range(pl.len()).cast(pl.Float64)),
    },
    "after one sample cost the sum": {"more": put(where("theorem 2") & (pl.col("parameter") == SHARED), 9.0)},
    "With a sample for each": {"more": put(where("theorem 2") & (pl.col("parameter") == APART), 9.0)},
    "never below the exact δ": {"below": put(where("exact"), 0.9)},
    "(ln 1.1)-private": {"nothing gained": put(where("section 5"), math.log(2))},
}
HOLDING: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "protect about alike": put(where("4", "k of equal δ"), K),
    "protection is all from sampling": put(where("5") & (K == 1), 0.02),
    "decays exponentially fast": put(F, (-3 * (AT - 1)).exp()),
    "after one sample cost the sum": put(where("theorem 2"), 1.0),
    "cuts through the others": put(F & (pl.col("method") == "ε0 = 0.25"), pl.when(AT < 2).then(2.0).otherwise(0.0)),
}
FAILING = failing(PLANTED)


def test_every_claim_has_results_for_which_it_fails() -> None:
    require_all_planted(CLAIMS, PLANTED)


@pytest.mark.parametrize(("text", "why"), FAILING.values(), ids=FAILING)
def test_it_fails_where_it_must(findings: Findings, text: str, why: str) -> None:
    assert holding(CLAIMS, text, PLANTED[text][why](findings.results)) == "does not hold"


@pytest.mark.parametrize("text", PLANTED)
def test_it_can_hold(findings: Findings, text: str) -> None:
    frame = HOLDING.get(text, lambda results: results)(findings.results)
    assert holding(CLAIMS, text, frame) == "holds"
    assert holding(CLAIMS, text, frame.clear()) == "not measured"


def test_which_curves_are_crossed_is_told(findings: Findings) -> None:
    found = judge(CLAIMS, "cuts through the others", findings.results)
    assert (found.cases, found.holds_in) == (5, 3)
    assert "which is 3 of 5 curves" in found.evidence
