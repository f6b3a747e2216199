from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError
from incrowd.experiments.queries import draw_queries
from incrowd.experiments.report import write_report
from incrowd.experiments.results import SCHEMA, Results
from incrowd.experiments.slicing import Settings, run
from incrowd.experiments.slicing.claims import linear_time, membership_is_hidden
from incrowd.experiments.slicing.measuring import BUCKETIZED, GENERALIZED, SLICED, WIDE, answers, publish_all
from incrowd.experiments.tables import census_subject


def test_many_queries_at_once_are_answered_as_one_by_one() -> None:
    subject = census_subject("occupation", 1500, 0)
    releases = publish_all(Results(), subject, 3, 0)
    assert set(releases) == {GENERALIZED, BUCKETIZED, SLICED, WIDE}
    workload = draw_queries(subject.tally.trees, subject.quasi, subject.sensitive, 60, np.random.default_rng(1))
    for release in releases.values():
        one_by_one = [release.count(workload.query(number)) for number in range(len(workload))]
        assert answers(release, workload) == pytest.approx(one_by_one)


def test_a_small_run_writes_everything(tmp_path: Path) -> None:
    findings = run(Settings(l=(3,), rows=1500, queries=20, time_rows=(500, 1000), adult=False))
    report = write_report(findings, tmp_path / "out")
    text = report.read_text(encoding="utf-8")
    assert "Which of the paper's claims hold here" in text
    measured = set(findings.results["figure"])
    assert measured == {"queries", "classifiers", "membership", "times"}
    assert all(verdict.holding != "not measured" for _, verdict in findings.verdicts)
    assert (tmp_path / "out" / "figures" / "queries.png").read_bytes().startswith(b"\x89PNG")


def _results(*lines: tuple[str, str, int, str, str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def test_membership_is_judged_by_fake_people() -> None:
    measure = "share that matches a bucket"

    def shares(fake_sliced: float, fake_bucketized: float) -> pl.DataFrame:
        return _results(
            ("membership", "census", 10, SLICED, "l = 5, original", measure, 1.0),
            ("membership", "census", 10, SLICED, "l = 5, fake", measure, fake_sliced),
            ("membership", "census", 10, BUCKETIZED, "l = 5, original", measure, 1.0),
            ("membership", "census", 10, BUCKETIZED, "l = 5, fake", measure, fake_bucketized),
        )

    assert membership_is_hidden(shares(0.9, 0.0)).holding == "holds"
    assert membership_is_hidden(shares(0.2, 0.0)).holding == "does not hold"
    assert membership_is_hidden(shares(0.9, 0.8)).holding == "does not hold"
    assert membership_is_hidden(_results()).holding == "not measured"


def test_time_is_judged_by_its_growth() -> None:
    def times(last: float) -> pl.DataFrame:
        return _results(
            ("times", "census", 100, SLICED, "l = 5", "seconds", 1.0),
            ("times", "census", 1000, SLICED, "l = 5", "seconds", last),
        )

    assert linear_time(times(9.0)).holding == "holds"
    assert linear_time(times(20.0)).holding == "does not hold"


@pytest.mark.parametrize("form", [None, ic.ShowBuckets(), ic.ShowSlices(), ic.ShowMultisets()])
def test_every_form_can_be_learnt_from(form: object) -> None:
    frame = ic.datasets.census(600, seed=3).select("age", "sex", "education", "occupation")
    table = ic.read(frame, quasi=["age", "sex", "education"], sensitive=["occupation"])
    release = ic.publish(table, ic.KAnonymity(5), form=form, seed=1)  # type: ignore[arg-type]
    features, classes, weights = release.training_set("sex", seed=1)
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
