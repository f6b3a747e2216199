"""Candidates are published and audited, several at once; what is finished is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.dp.budget import Budget
from incrowd.errors import RecipeError
from incrowd.planning.compare import Candidate, Comparison, candidates_of, compare

RECIPE = """
incrowd = 1
[source]
path = "people.csv"
[columns]
age = "quasi"
sex = "quasi"
marital = "quasi"
occupation = "sensitive"
[[compare]]
method = { name = "mondrian" }
models = [{ name = "k-anonymity", k = "$k" }]
grid = { k = [3, 9] }
[[compare]]
method = { name = "anatomy" }
models = [{ name = "probabilistic-l-diversity", l = 3 }]
[[compare]]
name = "impossible"
method = { name = "mondrian" }
models = [{ name = "k-anonymity", k = 100000 }]
"""


def test_what_is_compared_is_not_published_and_costs_nothing(tmp_path: Path) -> None:
    ledger = ic.Ledger.create(tmp_path / "book", cap=Budget(1))
    ic.datasets.census(60).select("sex").write_csv(tmp_path / "people.csv")
    recipe = tmp_path / "people.recipe.toml"
    recipe.write_text(
        'incrowd = 1\nledger = "book"\nsource = { path = "people.csv" }\n'
        'method = { name = "flat-histogram", epsilon = 0.5 }\n'
        'columns.sex = { role = "quasi", hierarchy = { kind = "categories", tree = { any = ["Female", "Male"] } } }\n'
        '[[compare]]\nmethod = { name = "flat-histogram", epsilon = 0.25 }\n'
    )
    ic.Recipe.load(recipe).run()
    before = len(ledger.entries)
    assert before > 1
    found = compare(candidates_of([recipe]), jobs=1)
    assert [outcome.failed for outcome in found.outcomes] == [""]
    assert len(ledger.entries) == before


@pytest.fixture
def candidates(tmp_path: Path) -> list[Candidate]:
    return written(tmp_path)


def written(place: Path) -> list[Candidate]:
    """Write a table and a recipe that compares four ways to publish it."""
    frame = ic.datasets.census(300).select("age", "sex", "marital", "occupation")
    frame.write_csv(place / "people.csv")
    path = place / "compare.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return candidates_of([path])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """What comes of all candidates, one after the other."""
    return compare(written(tmp_path_factory.mktemp("alone")), jobs=1)


def told(found: Comparison) -> list[object]:
    return [replace(outcome, seconds=0.0) for outcome in found.outcomes]


def test_everything_is_tried_and_failures_are_recorded(candidates: list[Candidate], alone: Comparison) -> None:
    found = alone
    assert [outcome.name for outcome in found.outcomes] == [candidate.name for candidate in candidates]
    assert [bool(outcome.failed) for outcome in found.outcomes] == [False, False, False, True]
    assert "100000" in found.outcomes[3].failed
    first, second, buckets, _ = found.outcomes
    assert first.form == second.form == "generalized"
    assert buckets.form == "bucketized"
    assert first.promises == ("3-anonymity: verified on what is published",)
    assert first.rows + (first.withheld or 0) == 300
    assert set(first.risks) == {"singling out", "linkability", "inference"}
    assert set(first.losses) == {"queries", "columns", "pairs"}
    assert second.losses["pairs"] > first.losses["pairs"]  # larger groups lose more
    assert second.risks["linkability"] <= first.risks["linkability"]
    audit = ic.publish(
        ic.read(candidates[0].base / "people.csv", quasi=["age", "sex", "marital"], sensitive=["occupation"]),
        ic.KAnonymity(3),
        seed=0,
    ).audit(remedies=False, learn=False)
    pairs = audit.usefulness["pairs"]
    assert first.losses["pairs"] == pytest.approx(sum(pair["total variation"] for pair in pairs) / len(pairs))
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.usefixtures("few_queries")
def test_a_second_run_tries_only_what_is_new(candidates: list[Candidate], tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    steps: list[float] = []
    first = compare(candidates[:2], jobs=1, keep=keep, progress=lambda _, done: steps.append(done))
    assert steps == [0.0, 0.5, 1.0]
    written = {path: path.stat().st_mtime_ns for path in keep.iterdir()}
    assert len(written) == 2
    steps.clear()
    both = compare(candidates[:3], jobs=1, keep=keep, progress=lambda _, done: steps.append(done))
    assert steps == pytest.approx([2 / 3, 1.0])
    assert both.outcomes[:2] == first.outcomes
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert len(list(keep.iterdir())) == 3


@pytest.mark.usefixtures("few_queries")
def test_kept_results_go_stale_when_the_table_changes(candidates: list[Candidate], tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    before = compare(candidates[:1], jobs=1, keep=keep)
    path = tmp_path / "people.csv"
    pl.read_csv(path, infer_schema=False).head(200).write_csv(path)
    after = compare(candidates[:1], jobs=1, keep=keep)
    assert before.outcomes[0].rows != after.outcomes[0].rows
    assert len(list(keep.iterdir())) == 2


@pytest.mark.usefixtures("few_queries")
def test_a_broken_result_is_made_again(candidates: list[Candidate], tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    first = compare(candidates[:1], jobs=1, keep=keep)
    (file,) = keep.iterdir()
    for broken in ("", "{", "[]", '{"name": "x"}'):
        file.write_text(broken, encoding="utf-8")
        assert told(compare(candidates[:1], jobs=1, keep=keep)) == told(first)


def test_an_interrupted_run_goes_on_where_it_stopped(
    candidates: list[Candidate], alone: Comparison, tmp_path: Path
) -> None:
    keep = tmp_path / "kept"

    def stop_after_two(stage: str, done: float) -> None:
        if done >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(candidates, jobs=1, keep=keep, progress=stop_after_two)
    finished = {path: path.stat().st_mtime_ns for path in keep.iterdir()}
    assert len(finished) == 2
    assert not list(keep.glob("*.new"))
    steps: list[float] = []
    resumed = compare(candidates, jobs=1, keep=keep, progress=lambda _, done: steps.append(done))
    assert steps == [0.5, 0.75, 1.0]
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert told(resumed) == told(alone)


@pytest.mark.slow
def test_several_at_once_give_the_same(candidates: list[Candidate], alone: Comparison) -> None:
    assert told(compare(candidates[1:], jobs=2)) == told(alone)[1:]


def test_files_and_candidates_may_be_mixed_but_not_named_alike(candidates: list[Candidate], tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="two candidates are called"):
        compare([candidates[0], tmp_path / "compare.toml"])
    with pytest.raises(RecipeError, match="is one of mean"):
        compare(candidates, risk="most")


@pytest.mark.usefixtures("few_queries")
def test_the_numbers_are_those_of_the_audit(candidates: list[Candidate]) -> None:
    """Only what is compared is worked out, with the same chance as in an audit of everything."""
    from incrowd.planning.compare.compare import try_candidate
    from incrowd.planning.compare.comparison import threats_of

    for candidate in candidates[:3]:
        found = try_candidate(candidate, 4, False)
        asked = {key: value for key, value in candidate.recipe.items() if key != "compare"}
        release = ic.Recipe.from_dict(asked, base=candidate.base).run(seed=4)
        audit = release.audit(learn=False, remedies=False, seed=4).to_dict()
        useful = audit["usefulness"]
        assert dict(found.risks) == threats_of(audit["attacks"])
        assert found.promises == tuple(audit["verdict"]["guaranteed"])
        strongest = audit["verdict"]["strongest attack"]
        assert found.strongest == ("" if strongest is None else strongest["attack"])
        assert (found.rows, found.withheld) == tuple(audit["release"]["rows"][key] for key in ("published", "withheld"))
        means = {
            name: sum(line["total variation"] for line in useful[name]) / len(useful[name])
            for name in ("columns", "pairs")
        }
        queries = {line["queries"]: line["median error"] for line in useful["queries"]}
        assert dict(found.losses) == {"queries": queries["unbounded"], **means}
