"""The experiment of Li, Qardaji & Su: its numbers against the paper's, and verdicts that can go either way."""

from __future__ import annotations

import math

import polars as pl
import pytest

from incrowd.experiments.report import Findings
from incrowd.experiments.sdgs_algorithms import APART, SAID, SHARED
from incrowd.experiments.sdgs_claims import CLAIMS, PRINTED
from tests.experiments.experiment_tables import sdgs_findings


@pytest.fixture(scope="module")
def findings() -> Findings:
    return sdgs_findings()


def test_table_1_is_the_printed_one(findings: Findings) -> None:
    table = findings.results.filter(pl.col("figure") == "table 1")
    for name, row in PRINTED.items():
        found = table.filter(pl.col("method") == name)["value"].to_list()
        assert [f"{value:.2e}" for value in found] == [f"{value:.2e}" for value in row]


def test_every_figure_is_there_and_can_be_drawn(findings: Findings) -> None:
    assert [section.name for section in findings.sections] == [
        "table-1",
        "table-1-exact",
        "figure-1",
        "theorem-2",
        *(f"figure-{n}" for n in range(2, 8)),
    ]
    assert set(findings.results["figure"]) == {
        "table 1",
        *map(str, range(1, 8)),
        "section 5",
        "theorem 2",
        "algorithm 1",
        "algorithm 5",
        "exact",
    }
    pytest.importorskip("altair")
    for section in findings.sections:
        assert (section.chart is not None) == section.name.startswith("figure")
        assert section.chart is None or section.chart().to_dict()


def test_theorem_2_fails_by_as_much_as_is_known(findings: Findings) -> None:
    """Two answers of ε = 1 on one sample of 0.2: ln(1 + 0.2(e² − 1)), where theorem 2 says 2·ln(1 + 0.2(e − 1))."""
    found = findings.results.filter(
        (pl.col("figure") == "theorem 2") & pl.col("method").str.starts_with("β = 0.2, ε = 1")
    )
    told = dict(found.select("parameter", "value").iter_rows())
    assert told[SHARED] == pytest.approx(math.log(1 + 0.2 * (math.e**2 - 1)))
    assert told[SAID] == pytest.approx(told[APART]) == pytest.approx(2 * math.log(1 + 0.2 * (math.e - 1)))
    assert f"{told[SHARED]:.3f} {told[SAID]:.3f}" == "0.823 0.591"


def test_which_claims_hold(findings: Findings) -> None:
    verdicts = {claim.text: found.holding for claim, found in findings.verdicts}
    not_fully = {text: holding for text, holding in verdicts.items() if holding != "holds"}
    assert len(verdicts) == len(CLAIMS) == 19
    assert not_fully == {
        "k = 15, 22, 35, 60 at β = 0.05, 0.1, 0.2, 0.4 protect about alike": "holds in part",
        # δ is P[Bin(n, β) ≥ 1] for some n of at least 1, which is β at best.
        "With k = 1, protection is all from sampling, and δ is below β": "does not hold",
        "f decays exponentially fast beyond 1": "does not hold",
        "Two algorithms after one sample cost the sum of both": "does not hold",
        "For ε0 = 0.25, the curve of f cuts through the others": "holds in part",
    }
