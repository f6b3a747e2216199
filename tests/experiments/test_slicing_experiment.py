from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import incrowd as ic
from incrowd.errors import QueryError, RecipeError
from incrowd.experiments import slicing
from incrowd.experiments.report import Findings, write_report
from incrowd.experiments.results import Results
from incrowd.experiments.slicing import Settings, run
from incrowd.experiments.slicing.measuring import answers
from incrowd.experiments.slicing.ways import (
    BUCKETIZED,
    COARSE,
    GENERALIZED,
    PAPER,
    RECOMMENDED,
    SLICED,
    WIDE,
    publish_all,
)
from incrowd.experiments.tables import census_subject
from incrowd.metrics.workload.queries import draw_queries


def test_many_queries_at_once_are_answered_as_one_by_one() -> None:
    subject = census_subject("occupation", 1500, 0)
    releases = publish_all(Results(), subject, 3, 0)
    assert set(releases) == {GENERALIZED, BUCKETIZED, SLICED, PAPER, WIDE, RECOMMENDED, COARSE}
    workload = draw_queries(subject.tally.trees, subject.quasi, subject.sensitive, 60, np.random.default_rng(1))
    for release in releases.values():
        one_by_one = [release.form.count(workload.query(number)) for number in range(len(workload))]
        assert answers(release, workload) == pytest.approx(one_by_one)


SMALL = Settings(
    l=(3,), rows=300, queries=10, time_rows=(150, 600), rating_rows=100, rating_items=6, repeats=1, adult=False
)


@pytest.fixture(scope="module")
def findings() -> Findings:
    """One run, small."""
    return run(SMALL)


def test_a_small_run_writes_everything(findings: Findings, tmp_path: Path) -> None:
    report = write_report(findings, tmp_path / "out")
    text = report.read_text(encoding="utf-8")
    assert "Which of the paper's claims hold here" in text
    measured = set(findings.results["figure"])
    assert measured == {"queries", "classifiers", "membership", "ratings", "times"}
    assert all(verdict.holding != "not measured" for _, verdict in findings.verdicts)
    assert all(verdict.holding != "holds" for _, verdict in findings.verdicts)  # of one run
    assert (tmp_path / "out" / "figures" / "queries.png").read_bytes().startswith(b"\x89PNG")


def test_several_runs_are_other_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """By queries: nothing else is measured here."""
    for other in ("classifiers", "membership", "presence", "ratings", "times"):
        monkeypatch.setattr(slicing, f"measure_{other}", lambda *_: None)
    findings = run(replace(SMALL, repeats=2))
    one, two = (findings.results.filter(run=number) for number in (0, 1))
    assert one.height == two.height
    assert not one["value"].equals(two["value"])
    assert any("it is not the default" in note for note in findings.notes)
    with pytest.raises(RecipeError, match="repeats"):
        Settings(repeats=0)


@pytest.mark.parametrize("form", [None, ic.ShowBuckets(), ic.ShowSlices(), ic.ShowMultisets()])
def test_every_form_can_be_learnt_from(form: object) -> None:
    frame = ic.datasets.census(600, seed=3).select("age", "sex", "education", "occupation")
    table = ic.read(frame, quasi=["age", "sex", "education"], sensitive=["occupation"])
    release = ic.publish(table, ic.BucketSize(5), form=form, seed=1)  # type: ignore[arg-type]
    features, classes, weights = release.training_set("sex", seed=1, encode=False)
    assert sorted(features.columns) == ["age", "education", "occupation"]
    assert len(classes) == len(weights) == features.height == release.rows
    assert weights.sum() == 600
    # What is published exactly comes back exactly, as often as it was there.
    assert sorted(features["occupation"]) == sorted(frame["occupation"])
    if form is not None:
        assert sorted(classes) == sorted(frame["sex"])
    assert set(classes) <= set(frame["sex"])
    with pytest.raises(QueryError, match="'sexes' is not a published column"):
        release.training_set("sexes")
