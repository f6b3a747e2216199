"""`incrowd audit`, `attack` and `compare`, from the shell's side."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from tests.cli.command import everything, incrowd

pytestmark = pytest.mark.usefixtures("unhurried", "few_queries")

RECIPE = """
incrowd = 1
source = { path = "people.csv" }
others = "drop"
models = [{ name = "k-anonymity", k = 5 }]
[columns]
age = "quasi"
sex = "quasi"
education = "quasi"
occupation = "sensitive"
"""

GRID = (
    RECIPE
    + """
[[compare]]
method = { name = "mondrian" }
models = [{ name = "k-anonymity", k = "$k" }]
grid = { k = [3, 20] }

[[compare]]
name = "Anatomy"
method = { name = "anatomy" }
models = [{ name = "probabilistic-l-diversity", l = 3 }]

[[compare]]
name = "too much"
method = { name = "mondrian" }
models = [{ name = "k-anonymity", k = 5000 }]
"""
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, its recipe and its release."""
    place = tmp_path_factory.mktemp("made") / "made"
    place.mkdir()
    with chdir(place):
        ic.datasets.census(600).write_csv("people.csv")
        Path("people.recipe.toml").write_text(RECIPE, encoding="utf-8")
        assert incrowd("publish", "people.recipe.toml", "-o", "out", "-q").code == 0
    return place


@pytest.fixture(autouse=True)
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All of it in the current directory."""
    place = Path(shutil.copytree(made, tmp_path / "made"))
    monkeypatch.chdir(place)
    return place


def test_an_audit_prints_a_verdict_and_writes_a_page() -> None:
    done = incrowd("audit", "out", "--original", "people.csv", "-o", "audit.html", "--no-learning")
    assert (done.code, done.err) == (0, "")
    assert "5-anonymity: verified" in done.out
    assert "strongest attack" in done.out
    page = Path("audit.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http://" not in page
    assert "https://" not in page


def test_an_audit_as_json_is_that_of_the_api() -> None:
    done = incrowd("audit", "out", "--original", "people.csv", "--no-learning", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    found = ic.open_release("out", original="people.csv").audit(learn=False).to_dict()
    assert told == json.loads(json.dumps(found))
    assert {risk["threat"] for risk in told["attacks"]} == {"singling out", "linkability", "inference"}


def test_without_the_original_only_groups_are_judged() -> None:
    told = json.loads(incrowd("audit", "out", "--json").out)
    assert told["settings"]["original"] == "not given"
    assert told["usefulness"] == {}
    assert "linkage" in {risk["attack"] for risk in told["attacks"]}


def test_an_external_table_and_an_earlier_release_add_attacks() -> None:
    pl.read_csv("people.csv").select("age", "sex", "education").write_csv("names.csv")
    wide = RECIPE.replace("k = 5", "k = 50")
    Path("wide.recipe.toml").write_text(wide, encoding="utf-8")
    assert incrowd("publish", "wide.recipe.toml", "-o", "wide", "-q").code == 0
    told = json.loads(
        incrowd(
            "attack", "out", "--original", "people.csv", "--external", "names.csv", "--earlier", "wide",
            "--with", "external-linkage", "--with", "composition", "--json",
        ).out
    )  # fmt: skip
    assert [risk["attack"] for risk in told["attacks"]] == ["external-linkage", "composition"]
    assert told["attacks"][0]["value"] <= 1 / 5


def test_one_person_s_ladder() -> None:
    person = pl.read_csv("people.csv").row(0, named=True)
    asked = f"sex={person['sex']}, age={person['age']}"
    rungs = json.loads(incrowd("attack", "out", "--original", "people.csv", "--person", asked, "--json").out)
    raw = pl.read_csv("people.csv")
    women = raw.filter(pl.col("sex") == person["sex"])
    assert [rung["learnt"] for rung in rungs] == ["nothing", "sex", "age"]
    assert [rung["before"] for rung in rungs] == [
        600,
        women.height,
        women.filter(pl.col("age") == person["age"]).height,
    ]
    assert all(rung["after"] >= min(rung["before"], 5) for rung in rungs)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("attack", "out", "--with", "magic"), "there is no attack 'magic'"),
        (("attack", "out", "--original", "people.csv", "--person", "height=3"), "described by quasi-identifiers"),
        (("audit", "people.csv"), "does not say what its columns are"),
        (("audit", "out", "--original", "nowhere.csv"), "nowhere.csv"),
        (("audit", "out", "--original", "people.csv", "--no-learning", "-o", "audit.pdf"), "not as '.pdf'"),
        (("compare", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("compare", "people.recipe.toml", "--risk", "all"), "the risk that is compared is one of"),
    ],
)
def test_mistakes_are_one_clear_message(arguments: tuple[str, ...], said: str) -> None:
    done = incrowd(*arguments)
    assert done.code in (3, 5)
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_comparison_ranks_marks_the_frontier_and_goes_on_where_it_stopped() -> None:
    Path("grid.toml").write_text(GRID, encoding="utf-8")
    done = incrowd("compare", "grid.toml", "--jobs", "1", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert {entry["name"] for entry in told["candidates"]} == {
        "mondrian: k-anonymity k=3",
        "mondrian: k-anonymity k=20",
        "Anatomy",
    }
    assert [entry["name"] for entry in told["failed"]] == ["too much"]
    assert told["frontier"]
    kept = {name: data for name, data in everything(Path("comparison")).items() if name.startswith("results/")}
    assert len(kept) == 4
    assert {"comparison.html", "comparison.json", "comparison.csv"} <= set(everything(Path("comparison")))
    again = incrowd("compare", "grid.toml", "--jobs", "1", "--json")
    assert json.loads(again.out) == told  # how long each took, too: nothing was made again
