"""The commands, from the shell's side: what they print, what they write, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.publishing import measuring_errors
from tests.cli.command import everything, incrowd

RECIPE = """
incrowd = 1
source = { path = "people.csv" }
others = "drop"
models = [{ name = "k-anonymity", k = 5 }, { name = "distinct-l-diversity", l = 2 }]
[columns]
age = "quasi"
sex = "quasi"
occupation = "sensitive"
salary = "keep"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table and its recipe in the current directory."""
    monkeypatch.chdir(tmp_path)
    ic.datasets.census(500).write_csv("people.csv")
    Path("people.recipe.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "incrowd", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_publishing_in_the_shell() -> None:
    done = shell("publish", "people.recipe.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "500 in = 500 published + 0 withheld" in done.stdout
    assert sorted(everything(Path("people-release"))) == ["data.csv", "labels.json", "recipe.toml", "summary.json"]
    done = incrowd("check", "people-release/data.csv", "-q", "age,sex", "-s", "occupation", "--k", "5", "--l", "2")
    assert done.code == 0


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_publishing_twice_gives_the_same_file(format: str) -> None:
    for name in ("one", "two"):
        assert incrowd("publish", "people.recipe.toml", "-o", name, "--format", format).code == 0
    assert Path(f"one/data.{format}").read_bytes() == Path(f"two/data.{format}").read_bytes()
    assert incrowd("publish", "people.recipe.toml", "-o", "one", "--format", format, "--force").code == 0
    assert Path(f"one/data.{format}").read_bytes() == Path(f"two/data.{format}").read_bytes()


def test_the_saved_recipe_publishes_the_same_again() -> None:
    incrowd("publish", "people.recipe.toml", "-o", "deep/one", "--seed", "7")
    assert incrowd("publish", "deep/one/recipe.toml").code == 0
    assert Path("deep/one/recipe-release/data.csv").read_bytes() == Path("deep/one/data.csv").read_bytes()


def test_the_recipe_s_own_directory_and_format_are_taken() -> None:
    Path("people.recipe.toml").write_text(
        'output = { directory = "mine", format = "arrow" }\n' + RECIPE, encoding="utf-8"
    )
    assert incrowd("publish", "people.recipe.toml", "-q").code == 0
    assert Path("mine/data.arrow").exists()


def test_publish_prints_json_and_nothing_else() -> None:
    done = incrowd("publish", "people.recipe.toml", "--json")
    told = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert told["rows"] == {"in": 500, "published": 500, "withheld": 0}
    assert (told["directory"], told["data"]) == ("people-release", "people-release/data.csv")
    assert {**told, **json.loads(Path("people-release/summary.json").read_text())} == told


def test_quiet_prints_nothing() -> None:
    done = incrowd("publish", "people.recipe.toml", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_note_says_what_no_guarantee_covers() -> None:
    out = " ".join(incrowd("publish", "people.recipe.toml").out.split())
    assert "Columns published as they are, outside of every guarantee: salary." in out


def test_check_prints_json_and_nothing_else() -> None:
    done = incrowd("check", "people.csv", "-q", "age", "-q", "sex", "-s", "occupation", "--json")
    told = json.loads(done.out)
    expected = ic.check("people.csv", quasi=["age", "sex"], sensitive=["occupation"]).to_dict()
    assert (done.code, done.err, told) == (0, "", {**expected, "failures": []})


@pytest.mark.parametrize(
    ("options", "code", "failures"),
    [
        (("--k", "3"), 0, []),
        (("--k", "4"), 1, ["4-anonymity: k is 3"]),
        (("--l", "2"), 0, []),
        (("--l", "3"), 1, ["distinct 3-diversity of ill: l is 2"]),
        (("--k", "5", "--l", "3"), 1, ["5-anonymity: k is 3", "distinct 3-diversity of ill: l is 2"]),
        ((), 0, []),
    ],
)
def test_check_fails_where_the_table_falls_short(options: tuple[str, ...], code: int, failures: list[str]) -> None:
    pl.DataFrame({"age": [1, 1, 1, 2, 2, 2], "ill": ["a", "b", "b", "a", "b", "c"]}).write_csv("t.csv")
    done = incrowd("check", "t.csv", "-q", "age", "-s", "ill", *options, "--json")
    assert (done.code, json.loads(done.out)["failures"]) == (code, failures)
    shown = incrowd("check", "t.csv", "-q", "age", "-s", "ill", *options)
    assert (shown.code, shown.err) == (code, "")
    assert all(failure in shown.out for failure in failures)


def test_check_for_diversity_needs_a_sensitive_column() -> None:
    done = incrowd("check", "people.csv", "-q", "age", "--l", "2", "--json")
    assert (done.code, json.loads(done.out)["failures"]) == (1, ["distinct 2-diversity: no sensitive column was named"])


def test_check_takes_words_for_missing() -> None:
    Path("t.csv").write_text("age|ill\n?|a\n|b\n", encoding="utf-8")
    done = incrowd("check", "t.csv", "-q", "age", "--missing", "?", "--separator", "|", "--json")
    assert json.loads(done.out)["k"] == 2


def test_column_names_are_not_markup() -> None:
    Path("t.csv").write_text("[red],[/red]\n1,a\n1,b\n", encoding="utf-8")
    done = incrowd("check", "t.csv", "-q", "[red]", "-s", "[/red]")
    assert (done.code, done.err) == (0, "")
    assert "l-diversity of [/red]" in done.out


def lasting(folder: Path) -> dict[str, bytes | None]:
    """What a demo leaves behind, but for how long each way took."""
    return {name: data for name, data in everything(folder).items() if not name.startswith(("results", "comparison"))}


@pytest.mark.usefixtures("few_queries")
def test_the_demo_publishes_checks_compares_and_can_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring_errors, "_QUESTIONS", 40)  # how wrong noisy counts are is another subject
    done = incrowd("demo", "--rows", "200", "--k", "8", "--l", "3", "--jobs", "1")
    assert (done.code, done.err) == (0, "")
    assert sorted(lasting(Path("demo"))) == [
        "audit.html",
        "people.csv",
        "people.recipe.toml",
        "release",
        "release/data.csv",
        "release/labels.json",
        "release/recipe.toml",
        "release/summary.json",
    ]
    checked = ic.check(
        "demo/release/data.csv",
        quasi=["age", "sex", "education", "marital", "race", "birth_place"],
        sensitive=["occupation"],
    )
    assert checked.rows == 200
    assert checked.k >= 8
    assert checked.sensitive["occupation"].distinct_l >= 3
    assert "Singling out".lower() in Path("demo/audit.html").read_text(encoding="utf-8").lower()
    before = lasting(Path("demo"))
    again = incrowd("demo", "--rows", "200", "--k", "8", "--l", "3", "--jobs", "1", "--json")
    assert lasting(Path("demo")) == before
    assert incrowd("publish", "demo/people.recipe.toml", "--force", "-q").code == 0
    assert lasting(Path("demo")) == before
    told = json.loads(again.out)  # and nothing else is printed
    assert (again.code, again.err) == (0, "")
    assert told["before"]["unique_rows"] > 0
    assert told["after"]["k"] >= 8
    assert told["data"] == "demo/release/data.csv"
    compared = told["compared"]
    assert compared["failed"] == []
    assert len({entry["method"] for entry in compared["candidates"]}) >= 6
    assert {entry["form"] for entry in compared["candidates"]} == {
        "generalized", "bucketized", "sliced", "noisy counts",
    }  # fmt: skip


def test_the_demo_of_too_few_people_says_so() -> None:
    done = incrowd("demo", "--rows", "5")
    assert (done.code, done.out) == (4, "")
    assert "10-anonymity: all 5 rows together reach 5" in done.err
    assert not Path("demo/release").exists()


def test_version() -> None:
    done = shell("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"incrowd {ic.__version__}\n", "")


def test_help_tells_every_command_and_every_exit_code() -> None:
    done = incrowd("--help")
    assert done.code == 0
    for word in ("demo", "profile", "hierarchy", "publish", "check", "130 interrupted"):
        assert word in " ".join(done.out.split())
    assert incrowd().out.strip() == done.out.strip()


def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "incrowd", "check", "people.csv", "-q", "age", "--json"]
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=120)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_names_that_the_terminal_cannot_show_are_no_error() -> None:
    Path("t.csv").write_text("Größe,東京\n1,a\n1,b\n", encoding="utf-8")
    done = incrowd("check", "t.csv", "-q", "Größe", "-s", "東京", encoding="ascii")
    assert (done.code, done.err) == (0, "")
    done = incrowd("check", "t.csv", "-q", "Größe", "-s", "東京", "--json", encoding="ascii")
    assert list(json.loads(done.out)["sensitive"]) == ["東京"]


def test_check_judges_a_release_by_the_recipe_that_it_comes_with() -> None:
    table = ic.read("people.csv", quasi=["age", "sex"], sensitive=["occupation"], others="drop")
    method = ic.LocalRecoding(max_distortion=1)
    ic.publish(table, ic.ExpectedConfidence(), method=method, sample=0.8, seed=1).save("confident")
    done = incrowd("check", "confident/data.csv", "--recipe", "confident/recipe.toml")
    assert done.code == 0
    assert "no more confidence than expected" in done.out
    assert "holds, achieved" in done.out
    raw = incrowd("check", "people.csv", "--recipe", "confident/recipe.toml", "--json")
    assert raw.code == 1
    assert json.loads(raw.out)["models"][0]["failing_rows"] > 0


def test_check_asks_for_quasi_identifiers() -> None:
    done = incrowd("check", "people.csv")
    assert done.code == 2
    assert "name the quasi-identifiers" in done.err


def test_check_tells_first_that_a_file_is_not_there() -> None:
    done = incrowd("check", "nowhere")
    assert (done.code, "nowhere: there is no such file" in done.err) == (3, True), done.err
    Path("empty").mkdir()
    done = incrowd("check", "empty")
    assert done.code == 2
    assert "holds no release" in done.err
