"""The whole experiment, tiny: every figure is measured, drawn and judged."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from incrowd.errors import RecipeError
from incrowd.experiments.equivalent_k import max_k
from incrowd.experiments.report import write_report
from incrowd.experiments.sattar import Settings, classifying, releases, run
from incrowd.experiments.sattar.settings import AVG_K, LAPLACE, MAX_K, OURS, RAW
from tests.experiments import png

TINY = {
    "rows": (150, 300),
    "time_rows": (400, 1600),
    "queries": 12,
    "folds": 2,
    "ks": (5, 20),
    "limits": (0.3, 0.6),
    "time_limits": (0.6,),
    "repeats": 1,
}


ENOUGH = partial(max_k, patience=8)
"""Of these tables, it finds the same Max.k as with the patience of an experiment."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Max.k be looked for with little patience, which takes most of the time of small tables."""
    for module in (releases, classifying):
        monkeypatch.setattr(module, "max_k", partial(max_k, patience=1))


@pytest.fixture(scope="module")
def findings():
    told: list[tuple[str, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(releases, "max_k", partial(max_k, patience=1))
        found = run(Settings(**TINY, adult=False), lambda stage, done: told.append((stage, done)))
    assert {stage for stage, _ in told} == {"tables", "time"}
    assert all(0 <= done <= 1 for _, done in told)
    return found


def test_all_files_are_written(findings, tmp_path: Path) -> None:
    report = write_report(findings, tmp_path / "out")
    figures = sorted(path.stem for path in (tmp_path / "out" / "figures").glob("*.png"))
    assert figures == ["figure-10", "figure-2", "figure-3", "figure-4", "figure-6", "figure-7", "figure-8"]
    assert all(png.busy_share(tmp_path / "out" / "figures" / f"{name}.png") > 0.005 for name in figures)
    text = report.read_text(encoding="utf-8")
    assert "Adult is not at hand" in text
    assert "Which of the paper's claims hold here" in text


def test_each_number_is_there_once(findings) -> None:
    keys = ["figure", "dataset", "rows", "method", "parameter", "measure"]
    assert not findings.results.select(keys).is_duplicated().any()
    assert findings.results["value"].is_finite().all()
    by_figure = dict(findings.results.group_by("figure").len().iter_rows())
    assert by_figure["2"] == 2 * 2 * (
        2 + 2
    )  # data sets, sizes, limits; rows that break the criterion, before and after
    assert by_figure["3"] == 2 * 2 * 2
    assert by_figure["table 5"] == 2 * 2 * 3
    assert by_figure["4"] == 2 * 2 * 3 * 7 * 2  # data sets, sizes, sizes of queries, methods, mean and median
    assert by_figure["6"] == 2 * 7 * 2  # the first size only
    assert by_figure["7"] == 2 * 2 * 3 * 3 * 2
    assert by_figure["8"] == 2 * 2 * 2 * 2
    assert by_figure["10"] == 2 * 2 * 2  # sizes, methods, by the clock and of the processors
    assert "5" not in by_figure


def test_numbers_make_sense(findings) -> None:
    results = findings.results
    shares = results.filter(pl.col("figure").is_in(["2", "3", "6"]))["value"]
    assert shares.min() >= 0
    assert shares.max() <= 1
    unchanged = results.filter(figure="6", measure="unchanged").select(pl.col("parameter").cast(float), "value")
    for epsilon, share in unchanged.iter_rows():  # discrete Laplace noise is 0 with probability tanh(ε/2)
        assert share == pytest.approx(np.tanh(epsilon / 2), abs=0.05)
    k = results.filter(figure="table 5").filter(pl.col("method").is_in([OURS, "Mondrian"]))
    assert k["value"].min() >= 1
    verdicts = {claim.text: found.holding for claim, found in findings.verdicts}
    assert verdicts["A decision tree does better than on DiffGen's table."] == "not measured"
    assert sum(holding == "not measured" for holding in verdicts.values()) == 4  # DiffGen, and three about Adult


@pytest.mark.usefixtures("impatient")
def test_one_seed_one_result(findings) -> None:
    again = run(Settings(**{**TINY, "rows": (150,)}, adult=False, only=("2", "4", "7")))
    same = findings.results.filter(pl.col("figure").is_in(["2", "4", "7"]), pl.col("rows") == 150)
    assert again.results.equals(same)


@pytest.mark.usefixtures("impatient")
def test_several_runs_have_chance_of_their_own_and_are_judged_together() -> None:
    told: list[str] = []
    settings = Settings(**{**TINY, "rows": (150,), "repeats": 2}, adult=False, only=("7",))
    found = run(settings, lambda stage, _: told.append(stage))
    one, two = (found.results.filter(run=number).drop("run") for number in (0, 1))
    assert one.drop("value").equals(two.drop("value"))
    assert not one["value"].equals(two["value"])
    alone = run(Settings(**{**TINY, "rows": (150,)}, adult=False, only=("7",)))
    assert alone.results.drop("run").equals(one)  # the first run is what the seed alone gives
    assert {"run 1 of 2: tables", "run 2 of 2: tables"} == set(told)
    verdicts = {claim.text: verdict for claim, verdict in found.verdicts}
    assert "of 2 runs" in verdicts["Noisy answers at ε = 0.1 err more on small queries."].evidence
    holdings = {verdict.holding for _, verdict in alone.verdicts}
    assert "holds" not in holdings  # of one run
    with pytest.raises(RecipeError, match="repeats"):
        Settings(repeats=0)


def test_only_what_is_asked_for_is_measured() -> None:
    found = run(Settings(**TINY, adult=False, only=("2",)))
    assert found.results["figure"].unique().to_list() == ["2"]
    with pytest.raises(RecipeError, match="there is no figure '11'"):
        Settings(only=("11",))


def test_mondrian_at_max_k_meets_the_criterion_and_just_so() -> None:
    import incrowd as ic
    from incrowd.experiments.equivalent_k import unsatisfied_share
    from incrowd.experiments.sattar.releases import Releases
    from incrowd.experiments.tables import census_subject

    made = Releases(census_subject("salary", 2000, 0), Settings(**TINY))
    tally = made.subject.tally
    assert unsatisfied_share(tally, made.cut(made.max_k).generalized, [ic.ExpectedConfidence()]) == 0
    assert unsatisfied_share(tally, made.cut(made.max_k - 1).generalized, [ic.ExpectedConfidence()]) > 0


@pytest.mark.slow
def test_the_headline_on_the_census(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "max_k", ENOUGH)
    settings = Settings(rows=(1_500,), queries=80, only=("4",), adult=False, repeats=1)
    results = run(settings).results.filter(measure="mean error")
    wide = results.pivot(on="method", index=["dataset", "parameter"], values="value")
    assert wide.height == 6
    assert (wide[OURS] < wide[MAX_K]).all()
    assert (wide[OURS] < wide[MAX_K]).sum() >= (wide[OURS] < wide[AVG_K]).sum()


@pytest.mark.slow
@pytest.mark.adult
def test_adult(adult: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On every 24th of its people: that is enough for what the paper says of them."""
    (tmp_path / "adult").mkdir()
    for tree in adult.glob("hierarchy_*.csv"):
        shutil.copy(tree, tmp_path / "adult")
    pl.read_csv(adult / "adult.csv", infer_schema=False).gather_every(24).write_csv(tmp_path / "adult" / "adult.csv")
    monkeypatch.setenv("INCROWD_DATA", str(tmp_path))
    monkeypatch.setattr(releases, "max_k", ENOUGH)
    # What is said of classifiers compares with raw data, and with what is published; Max.k has no part in it.
    monkeypatch.setattr(classifying, "max_k", partial(max_k, patience=1))
    settings = Settings(**{**TINY, "rows": (), "queries": 40}, only=("4", "5"))
    found = run(settings)
    assert not any("not at hand" in note for note in found.notes)
    errors = found.results.filter(figure="4", measure="mean error").filter(pl.col("dataset").str.starts_with("Adult"))
    wide = errors.pivot(on="method", index=["dataset", "parameter"], values="value")
    assert wide.height == 6
    assert (wide[OURS] < wide[MAX_K]).all()  # the paper's headline, on real people
    accuracy = found.results.filter(figure="5", measure="accuracy")
    wide = accuracy.pivot(on="method", index="parameter", values="value").drop_nulls(OURS)
    assert wide.height == 4
    assert ((wide[RAW] - wide[OURS]) < 0.02).all()
    assert ((wide[OURS] - 0.7522) > 0.02).all()
    charts = {section.name: section.chart for section in found.sections}
    assert charts["figure-4-adult"]().to_dict()
    assert LAPLACE not in accuracy["method"].unique()
