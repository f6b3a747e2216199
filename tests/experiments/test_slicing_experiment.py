from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import QueryError
from incrowd.experiments.report import write_report
from incrowd.experiments.results import SCHEMA, Results
from incrowd.experiments.slicing import Settings, run
from incrowd.experiments.slicing.claims import linear_time, many_fakes, membership_is_hidden
from incrowd.experiments.slicing.measuring import answers
from incrowd.experiments.slicing.membership import ADVANTAGE, MATCHING, PEOPLE_RATIO, RANDOM, RATIO
from incrowd.experiments.slicing.ways import BUCKETIZED, COARSE, GENERALIZED, SINGLE, SLICED, WIDE, publish_all
from incrowd.experiments.tables import census_subject
from incrowd.metrics.workload.queries import draw_queries


def test_many_queries_at_once_are_answered_as_one_by_one() -> None:
    subject = census_subject("occupation", 1500, 0)
    releases = publish_all(Results(), subject, 3, 0)
    assert set(releases) == {GENERALIZED, BUCKETIZED, SLICED, WIDE, SINGLE, COARSE}
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


def test_membership_is_judged_by_the_advantage_over_outsiders() -> None:
    def measured(sliced: float, bucketized: float, people: str = MATCHING) -> pl.DataFrame:
        return _results(
            ("membership", "census", 10, SLICED, "l = 5", ADVANTAGE.format(people), sliced),
            ("membership", "census", 10, SLICED, "l = 5", PEOPLE_RATIO, 2.0),
            ("membership", "census", 10, BUCKETIZED, "l = 5", ADVANTAGE.format(people), bucketized),
            ("membership", "census", 10, BUCKETIZED, "l = 5", PEOPLE_RATIO, 0.0),
        )

    assert membership_is_hidden(measured(0.1, 1.0)).holding == "holds"
    assert membership_is_hidden(measured(0.7, 1.0)).holding == "does not hold"
    assert membership_is_hidden(measured(0.1, 0.2)).holding == "does not hold"
    assert membership_is_hidden(measured(0.1, 1.0, RANDOM)).holding == "not measured"
    assert membership_is_hidden(measured(0.1, 1.0, RANDOM), people=RANDOM).holding == "holds"
    assert membership_is_hidden(_results()).holding == "not measured"


def test_fakes_are_counted_against_originals() -> None:
    def ratios(*values: float) -> pl.DataFrame:
        return _results(
            *(("membership", "census", 10, SLICED, f"l = {l}", RATIO, value) for l, value in enumerate(values, start=5))
        )

    assert many_fakes(ratios(1.5, 3)).holding == "holds"
    assert many_fakes(ratios(0.5)).holding == "does not hold"
    assert many_fakes(_results()).holding == "not measured"


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
    release = ic.publish(table, ic.BucketSize(5), form=form, seed=1)  # type: ignore[arg-type]
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
