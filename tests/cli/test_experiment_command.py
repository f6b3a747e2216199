"""`incrowd experiment` and `incrowd advise`, from the shell's side."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from tests.cli.command import everything, incrowd

TINY = ["--rows", "300,400", "--time-rows", "300,500", "--queries", "10", "--repeats", "1", "--quick"]
RECIPE = """
incrowd = 1
seed = 3
source = { path = "people.csv" }
others = "drop"
models = [{ name = "expected-confidence" }]
method = { name = "local-recoding", max_distortion = 0.6 }
[columns]
age = { role = "quasi", hierarchy = { kind = "intervals", widths = [5, 10] } }
sex = "quasi"
occupation = "sensitive"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INCROWD_DATA", str(tmp_path / "no data"))
    ic.datasets.census(1000).write_csv("people.csv")
    Path("people.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def test_an_experiment_writes_and_tells_everything() -> None:
    done = incrowd("experiment", "sattar", *TINY, "--only", "2,7", "--only", "10")
    assert (done.code, done.err) == (0, "")
    assert "Which of the paper's claims hold here" in done.out
    assert "Adult is not at hand" in done.out
    names = set(everything(Path("sattar-experiment")))
    assert {"results.csv", "report.md", "experiment.json", "figures/figure-7.png", "figures/figure-10.svg"} <= names
    assert pl.read_csv("sattar-experiment/results.csv")["figure"].unique().sort().to_list() == [2, 7, 10]


def test_json_and_nothing_else() -> None:
    done = incrowd("experiment", "sattar", *TINY, "--only", "2", "--json", "-o", "mine", "--seed", "5")
    told = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert told["report"] == "mine/report.md"
    assert told["settings"]["seed"] == 5
    assert told["settings"]["rows"] == [300, 400]
    holdings = {claim["verdict"] for claim in told["claims"]}
    assert holdings <= {"holds in one run", "holds in part", "does not hold", "not measured"}  # of one run, none holds
    assert incrowd("experiment", "sattar", *TINY, "--only", "2", "-q", "-o", "mine", "--force").out == ""


def test_a_taken_place_is_noticed_before_the_work() -> None:
    Path("mine").mkdir()
    start = time.monotonic()
    done = incrowd("experiment", "sattar", "-o", "mine")
    assert time.monotonic() - start < 60  # the work itself would take many minutes
    assert done.code == 5
    assert "mine exists already" in done.err
    assert incrowd("experiment", "sattar", "-o", "mine", "--force").code == 5  # it is no experiment


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["sattar", "--only", "1"], 3, "there is no figure '1'"),
        (["sattar", "--rows", "many"], 2, "whole numbers"),
        (["sattar", "--rows", "0"], 2, "above 0"),
        (["sattar", "--queries", "0"], 2, "--queries"),
        (["sattar", "--folds", "1"], 2, "--folds"),
        (["slicing", "--repeats", "0"], 2, "--repeats"),
        (["nobody"], 2, "nobody"),
        (["sattar", "--rows", "50", "--only", "4", "--quick"], 3, "small queries were found"),
    ],
)
def test_wrong_usage(arguments: list[str], code: int, message: str) -> None:
    done = incrowd("experiment", *arguments)
    assert done.code == code
    assert message in done.err
    assert "Traceback" not in done.err
    assert not Path("sattar-experiment").exists()


def test_advice_as_a_table_and_a_chart() -> None:
    options = ["--rate", "0.5,0.9", "--max-distortion", "0.3", "--max-distortion", "0.6", "--plot", "a.svg"]
    done = incrowd("advise", "people.toml", *options)
    assert (done.code, done.err) == (0, "")
    assert "● keeps most" in done.out
    marks = [line.split()[0] for line in done.out.splitlines() if line.strip().startswith(("0.5", "0.9", "●", "○"))]
    assert (marks.count("●"), marks.count("○")) == (1, 1)  # at 80 columns, reasons are folded
    assert "sample = 0.9" in done.out
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<svg")


def test_advice_as_json() -> None:
    options = ["--rate", "0.8", "--max-distortion", "0.6", "--json"]
    told = json.loads(incrowd("advise", "people.toml", *options).out)
    (pair,) = told["pairs"]
    assert (pair["rate"], pair["limit"], pair["best"]) == (0.8, 0.6, True)
    assert pair["published"] <= 0.9
    again = json.loads(incrowd("advise", "people.toml", *options).out)
    assert again == told  # the recipe's seed
    other = json.loads(incrowd("advise", "people.toml", *options, "--seed", "9").out)
    assert other != told
    old = json.loads(incrowd("advise", "people.toml", "--rate", "0.8", "--limit", "0.6", "--json").out)
    assert old == told  # what --max-distortion was called
    assert "--limit" not in incrowd("advise", "--help").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.toml"], 3, "cannot be read"),
        (["people.toml", "--plot", "a.pdf"], 2, "ends in .svg or .png"),
        (["people.toml", "--rate", "half"], 2, "shares between 0 and 1"),
        (["people.toml", "--rate", "2"], 3, "sample is a share"),
        (["people.toml", "--rate", "1", "--max-distortion", "0.6", "--plot", "no/such/a.svg"], 5, "cannot be written"),
    ],
)
def test_advice_that_cannot_be_given(arguments: list[str], code: int, message: str) -> None:
    done = incrowd("advise", *arguments)
    assert done.code == code
    assert message in done.err.replace("\n", " ")


def test_advice_for_another_method() -> None:
    other = RECIPE.replace('"local-recoding", max_distortion = 0.6', '"mondrian"')
    Path("people.toml").write_text(other, encoding="utf-8")
    done = incrowd("advise", "people.toml", "--rate", "1", "--max-distortion", "0.6")
    assert done.code == 0
    assert "The recipe's method is mondrian" in done.out


def test_help_loads_nothing_slow() -> None:
    code = (
        "import runpy, sys\n"
        "slow = ('polars', 'numpy', 'sklearn', 'altair', 'vl_convert')\n"
        "for command in (['experiment'], ['experiment', 'sattar'], ['advise']):\n"
        "    sys.argv = ['incrowd', *command, '--help']\n"
        "    try: runpy.run_module('incrowd', run_name='__main__')\n"
        "    except SystemExit: pass\n"
        "    print('loaded:', *[name for name in slow if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    told = [line for line in done.stdout.splitlines() if line.startswith("loaded:")]
    assert told == ["loaded:"] * 3
    assert done.stdout.count("Usage:") == 3
