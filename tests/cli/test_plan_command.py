"""`incrowd plan`: three parameters give the fourth, the paper's table, and what a recipe's table would keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import incrowd as ic
from incrowd.dp.exact_suppression import exact_delta
from tests.cli.command import incrowd

RECIPE = """
incrowd = 1
others = "drop"
[source]
path = "people.csv"
[method]
name = "k-dgs"
k = 20
[columns.sex]
role = "quasi"
hierarchy = {kind = "categories", tree = ["Female", "Male"]}
[columns.age]
role = "quasi"
hierarchy = {kind = "intervals", widths = [5, 10, 20]}
[columns.marital]
role = "sensitive"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    ic.datasets.census(2000).write_csv(tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path / "people.toml"


@pytest.mark.parametrize(
    ("given", "found", "value"),
    [
        (("--epsilon", "1", "--delta", "1e-6", "--rate", "0.1"), "k", 8),
        (("--epsilon", "1", "--k", "20", "--rate", "0.1"), "delta", 2.76069e-15),
        (("--epsilon", "1", "--delta", "4.08e-14", "--k", "20"), "rate", 0.117014),
    ],
)
def test_three_give_the_fourth(given: tuple[str, ...], found: str, value: float) -> None:
    done = incrowd("plan", *given, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["found"] == found
    assert told["plan"][found] == pytest.approx(value, rel=1e-3)
    assert told["warnings"] == []
    assert {point["epsilon"] for point in told["curve"]} >= {told["plan"]["epsilon"]}


def test_the_smallest_epsilon_is_found() -> None:
    told = json.loads(incrowd("plan", "--delta", "4.08e-14", "--k", "20", "--rate", "0.1", "--json").out)
    assert told["found"] == "epsilon"
    epsilon = told["plan"]["epsilon"]
    assert exact_delta(20, "0.1", epsilon) <= 4.08e-14 * (1 + 1e-11) < exact_delta(20, "0.1", epsilon * (1 - 1e-9))
    assert epsilon < 1  # where Table 1 has 4.07e-14


def test_it_is_also_told_in_words() -> None:
    done = incrowd("plan", "--epsilon", "1", "--delta", "1e-6", "--rate", "0.1")
    assert done.code == 0
    assert "8  ← found; theorem 1 alone would say 9" in done.out
    assert "The same k and rate also give" in done.out


def test_a_delta_too_large_for_the_table_is_said() -> None:
    done = incrowd("plan", "--epsilon", "1", "--delta", "1e-4", "--rate", "0.1", "--rows", "30000")
    assert "too large for 30,000 rows" in done.out
    quiet = incrowd("plan", "--epsilon", "1", "--delta", "1e-4", "--rate", "0.1", "--rows", "30000", "-q")
    assert (quiet.code, quiet.out) == (0, "")


def test_table_1_is_as_printed() -> None:
    told = json.loads(incrowd("plan", "--table", "--json").out)["table 1"]
    cells = [[f"{delta:.2e}" for delta in line["delta"].values()] for line in told]
    assert cells == [
        ["6.83e-10", "2.50e-14", "3.19e-17", "1.76e-19", "3.97e-22", "2.00e-24"],
        ["4.19e-06", "1.61e-09", "3.44e-12", "4.07e-14", "3.22e-16", "1.89e-18"],
        ["2.16e-03", "8.02e-06", "1.89e-07", "6.03e-09", "4.79e-11", "1.59e-12"],
    ]
    assert "6.03e-09" in incrowd("plan", "--table").out


def test_a_recipe_is_planned_and_the_look_at_the_table_is_admitted(recipe: Path) -> None:
    done = incrowd("plan", recipe, "--epsilon", "1", "--delta", "1e-5", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert sum(choice["best"] for choice in told["choices"]) == 1
    assert set(told["choices"][0]["levels"]) == {"age", "sex"}
    assert any("not private" in warning for warning in told["warnings"])
    words = incrowd("plan", recipe, "--epsilon", "1", "--delta", "1e-3").out
    assert "●" in words
    assert "not private" in " ".join(words.split())
    assert "too large for 2,000 rows" in " ".join(words.split())


def test_a_recipe_with_a_rate_or_a_k_is_planned_for_it(recipe: Path) -> None:
    rate = incrowd("plan", recipe, "--epsilon", "1", "--delta", "1e-5", "--rate", "0.3", "--json")
    assert {choice["rate"] for choice in json.loads(rate.out)["choices"]} == {0.3}
    k = incrowd("plan", recipe, "--epsilon", "1", "--delta", "1e-5", "--k", "12", "--json")
    assert {choice["k"] for choice in json.loads(k.out)["choices"]} == {12}


def test_nothing_to_publish_is_no_error(recipe: Path) -> None:
    done = incrowd("plan", recipe, "--epsilon", "0.02", "--delta", "1e-300", "--rate", "0.01")
    assert done.code == 0, done.err
    assert "Nothing would be published" in done.out


@pytest.mark.slow
def test_figures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    done = incrowd("plan", "--figures", tmp_path / "figures", "--json")
    assert done.code == 0, done.err
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {f"figure-{number}.{kind}" for number in range(1, 8) for kind in ("png", "svg")}
    assert len(json.loads(done.out)["figures"]) == 14


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "give three of"),
        (("--epsilon", "1"), 2, "give three of"),
        (("--epsilon", "1", "--delta", "1e-6", "--k", "5", "--rate", "0.1"), 2, "give three of"),
        (("--epsilon", "0", "--delta", "1e-6", "--rate", "0.1"), 3, "ε is above 0"),
        (("--epsilon", "1", "--delta", "1", "--rate", "0.1"), 3, "δ is above 0 and below 1"),
        (("--epsilon", "1", "--delta", "1e-6", "--rate", "1"), 3, "between 0 and 1"),
        (("--epsilon", "0.5", "--k", "20", "--rate", "0.5"), 3, "−ln(1−β)"),
        (("--epsilon", "x", "--k", "20", "--rate", "0.5"), 3, "is a number"),
    ],
)
def test_mistakes_are_explained(arguments: tuple[str, ...], code: int, said: str) -> None:
    done = incrowd("plan", *arguments)
    assert done.code == code
    assert said in " ".join(done.err.replace("│", " ").split())
    assert "Traceback" not in done.err


def test_a_recipe_is_planned_for_what_is_usual(recipe: Path) -> None:
    done = incrowd("plan", recipe, "--epsilon", "2")
    assert done.code == 0
    assert "δ = 1e-6 is assumed" in done.out
    assert "ε" not in done.out.partition("is assumed")[0].rpartition("Note:")[2]
    assert incrowd("plan", recipe.with_name("absent.toml"), "--epsilon", "1", "--delta", "1e-6").code == 3
