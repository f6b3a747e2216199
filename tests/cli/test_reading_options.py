"""Every command that reads a table takes the same options of reading it, and uses them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import typer.main

import incrowd as ic
from incrowd.cli.app import app
from incrowd.core.source import Reading
from incrowd.planning.profile import profile
from tests.cli.command import incrowd

READERS = ("profile", "check", "apply", "audit", "attack", "hierarchy")
ROWS = [(20 + row % 30, f"{row % 4 + 1}.{row % 10}00,5", ["flu", "cold", "gout"][row % 3]) for row in range(120)]


def options(command: str) -> set[str]:
    made = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    return {name for parameter in made.params for name in parameter.opts}


@pytest.mark.parametrize("command", READERS)
def test_a_command_has_an_option_for_each_keyword(command: str) -> None:
    assert {"--" + name.replace("_", "-") for name in Reading.__annotations__} <= options(command)


@pytest.fixture(scope="module")
def headless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A German file without a header."""
    path = tmp_path_factory.mktemp("files") / "people.csv"
    path.write_text("".join(f"{age};{pay};{ill}\n" for age, pay, ill in ROWS), encoding="utf-8")
    return path


HOW = ("--header", "age,pay,ill", "--written", "pay=1.234,5")


def test_options_reach_each_command(headless: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "p.toml"
    assert incrowd("profile", headless, *HOW, "--output", recipe, "--no-trial").code == 0
    told = recipe.read_text(encoding="utf-8")
    assert 'header = [\n    "age",' in told or 'header = ["age", "pay", "ill"]' in told
    checked = incrowd("check", headless, *HOW, "--quasi", "age,pay", "--each-row-a-person", "--json")
    assert checked.code == 0
    assert json.loads(checked.out)["rows"] == len(ROWS)
    table = ic.read(
        headless, quasi=["age", "pay"], sensitive=["ill"], header=["age", "pay", "ill"], written={"pay": "1.234,5"}
    )
    ic.publish(table, ic.KAnonymity(4), seed=1).save(tmp_path / "r")
    applied = incrowd("apply", tmp_path / "r", headless, *HOW, "--output", tmp_path / "again", "--json")
    assert applied.code == 0
    rows = json.loads(applied.out)["rows"]
    assert rows["in"] == len(ROWS)
    assert rows["withheld"] == 0
    first, second = (pl.read_csv(tmp_path / name / "data.csv", separator=";")["pay"] for name in ("r", "again"))
    assert set(second) <= set(first)
    # Without them, the file is refused; with them, the table before is known.
    for options in ((), HOW):
        done = incrowd("attack", tmp_path / "r", "--original", headless, *options, "--with", "linkage", "--json")
        assert done.code == 0, done.err
    (tmp_path / "ages.csv").write_text("".join(f"{age};old\n" for age in range(20, 40)), encoding="utf-8")
    done = incrowd("hierarchy", tmp_path / "ages.csv", "--column", "age", "--check", headless, *HOW, "--json")
    assert done.code == 1  # ages from 40 on are not in it
    assert "age" in done.out


def test_options_of_reading_need_a_table_to_read(headless: Path, tmp_path: Path) -> None:
    table = ic.read(pl.DataFrame({"age": [30] * 4}), quasi=["age"])
    ic.publish(table, ic.KAnonymity(2), seed=1).save(tmp_path / "r")
    done = incrowd("audit", tmp_path / "r", "--decimal", ",")
    assert done.code == 2
    assert "--original" in done.err
    (tmp_path / "ages.csv").write_text("20;old\n", encoding="utf-8")
    assert "--check" in incrowd("hierarchy", tmp_path / "ages.csv", "--decimal", ",").err


def test_an_unknown_keyword_is_refused_with_the_nearest(headless: Path) -> None:
    for reader in (ic.read, ic.check, profile):
        with pytest.raises(TypeError, match="did you mean 'separator'"):
            reader(headless, seperator=";")  # type: ignore[operator]
