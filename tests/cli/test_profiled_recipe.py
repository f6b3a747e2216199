"""What `incrowd profile` writes goes on to advise, plan and publish, without editing or by the lines that are named."""

from __future__ import annotations

import json
import random
import re
import shutil
import tomllib
from contextlib import chdir
from pathlib import Path

import pytest
import tomli_w

from tests.cli.command import incrowd


def german(place: Path) -> Path:
    """A CSV as German offices have them: semicolons, cp1252, names that repeat beside a patient's number."""
    dice = random.Random(4)
    lines = ["Patientennr;Nachname;Alter;Größe;Geschlecht;PLZ;Diagnose"]
    for number in range(400):
        name, code = dice.choice(["Müller", "Groß", "Jäger"]), dice.choice(["10115", "10117", "20095", "80331"])
        ill = dice.choice(["J45", "E11", "I10", "F32"])
        lines.append(
            f"P{number:05d};{name};{dice.randint(18, 90)};{dice.randint(150, 195)};{dice.choice('mw')};{code};{ill}"
        )
    path = place / "patienten.csv"
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return path


def visits(place: Path) -> Path:
    """Four rows for each patient."""
    dice = random.Random(5)
    rows = []
    for person in range(150):
        fixed = f"{7000 + person},{dice.randint(18, 90)},{dice.choice('MF')},{dice.choice(['02138', '02139', '02140'])}"
        rows += [f"{fixed},{dice.choice(['flu', 'asthma', 'diabetes', 'none'])}" for _ in range(4)]
    dice.shuffle(rows)
    path = place / "visits.csv"
    path.write_text("\n".join(["patient_id,age,sex,zip,diagnosis", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=[german, visits], ids=["german", "visits"])
def profiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe that was written, beside its table."""
    place = tmp_path_factory.mktemp("profiled") / "place"
    place.mkdir()
    file = request.param(place)
    with chdir(place):
        done = incrowd("profile", file)
    assert done.code == 0, done.err
    return place / f"{file.stem}.recipe.toml"


@pytest.fixture
def recipe(profiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = Path(shutil.copytree(profiled.parent, tmp_path / "place"))
    monkeypatch.chdir(place)
    return place / profiled.name


@pytest.mark.usefixtures("few_queries")
def test_it_is_published_checked_and_audited_as_it_is(recipe: Path) -> None:
    assert incrowd("publish", recipe).code == 0
    release = recipe.parent / f"{recipe.name.removesuffix('.recipe.toml')}-release"
    assert incrowd("check", release).code == 0
    assert incrowd("audit", release, "--no-learning").code == 0
    source = recipe.parent / tomllib.loads(recipe.read_text(encoding="utf-8"))["source"]["path"]
    done = incrowd("audit", release, "--no-learning", "--original", source)
    assert done.code == 0, done.err


def test_advise_takes_it_and_names_lines_that_work(recipe: Path) -> None:
    asked = ("--rate", "1", "--max-distortion", "0.4,0.8", "--seed", 1)
    told = json.loads(incrowd("advise", recipe, *asked, "--json").out)
    assert "would take its place" in told["notes"][0]
    best = [pair for pair in told["pairs"] if pair["best"]]
    assert len(best) == 1
    shown = incrowd("advise", recipe, *asked).out
    lines = shown.partition("In the recipe, write:")[2]
    method = tomllib.loads(re.sub(r"^  ", "", lines, flags=re.M))["method"]
    assert method == {"name": "local-recoding", "max_distortion": best[0]["limit"]}
    changed = {**tomllib.loads(recipe.read_text(encoding="utf-8")), "method": method}
    other = recipe.with_name("other.recipe.toml")
    other.write_text(tomli_w.dumps(changed), encoding="utf-8")
    assert incrowd("publish", other, "--output", recipe.parent / "other", "--seed", 1).code == 0


def test_plan_takes_it_and_what_it_says_to_write_can_be_published(recipe: Path) -> None:
    done = incrowd("plan", recipe, "--epsilon", 2, "--delta", "1e-3", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert any(choice["best"] for choice in told["choices"])
    assert 'name = "sdgs"' in told["write"]
    assert "Before you publish, declare the hierarchy of" in " ".join(told["warnings"])
    assert ("most_rows = 1" in told["write"]) == ("patient_id" in recipe.read_text(encoding="utf-8"))
    lines = [line.partition("     (")[0] for line in told["write"]]
    data = tomllib.loads(recipe.read_text(encoding="utf-8"))
    del data["models"]
    for column in data["columns"].values():
        column.get("hierarchy", {}).pop("taken_from", None)
    other = recipe.with_name("other.recipe.toml")
    other.write_text(tomli_w.dumps({**data, **tomllib.loads("\n".join(lines))}), encoding="utf-8")
    done = incrowd("publish", other, "--output", recipe.parent / "other", "--seed", 1)
    assert done.code == 0, done.err


def test_plan_says_what_it_assumes(recipe: Path) -> None:
    told = json.loads(incrowd("plan", recipe, "--json").out)
    assert (told["epsilon"], told["delta"]) == ("1", "1e-6")
    assert "ε = 1 is assumed" in told["warnings"][0]
    assert "δ = 1e-6 is assumed" in told["warnings"][1]
