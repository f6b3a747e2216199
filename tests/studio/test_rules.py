"""Rules as the library has them, looked at before they are taken; and the ledger that a recipe names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incrowd as ic
from incrowd.common.registry import members
from incrowd.planning.profile import profile
from incrowd.planning.rules import RULES
from tests.studio.running import Browser, running


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "data" / "patients.csv"
    path.parent.mkdir()
    ic.datasets.messy_patients(120).write_csv(path)
    return path


@pytest.fixture(scope="module")
def browser(patients: Path) -> Iterator[Browser]:
    with running(patients.parent) as one:
        yield one.browser()


@pytest.fixture
def project(browser: Browser, patients: Path) -> dict[str, Any]:
    """The table as it was proposed."""
    opened = browser.open(patients)
    steps = f"/api/projects/{opened['id']}/history"
    browser.post(steps, {"version": opened["version"], "place": 0})
    return browser.get(f"/api/projects/{opened['id']}").json


def test_a_rules_recipe_is_the_librarys_and_is_not_applied(
    browser: Browser, project: dict[str, Any], patients: Path
) -> None:
    where = f"/api/projects/{project['id']}"
    found = profile(patients)
    for name in (None, *members(RULES)):
        text = found.recipe(rule=name, path=patients.parent / "patients.recipe.toml")
        told = browser.get(f"{where}/rules/{name or 'none'}").json
        expected = tomllib.loads(text)
        assert told["recipe"] == {**expected, "source": project["recipe"]["source"]}
        assert all(f"# - {line}"[:60] in text for line in told["not_established"])
        assert bool(told["questions"]) == (name is not None)
    assert browser.get(f"{where}/rules/no-such-rule").status == 422
    now = browser.get(where).json
    assert (now["version"], now["recipe"]) == (project["version"], project["recipe"])
    # What a rule says nothing about stays, and taking it is one step.
    changed = browser.patch(project, (["output"], {"directory": "elsewhere"}), (["seed"], 5))
    told = browser.get(f"{where}/rules/ema-0070").json["recipe"]
    assert (told["output"], told["seed"]) == ({"directory": "elsewhere"}, 5)
    taken = browser.ask(
        "PUT", f"{where}/recipe", {"version": changed["version"], "recipe": told, "label": "Rule: EMA"}
    ).json
    assert (taken["recipe"], taken["problems"], taken["can_undo"]) == (told, [], "Rule: EMA")
    undone = browser.post(f"{where}/undo", {"version": taken["version"]}).json
    assert undone["recipe"] == changed["recipe"]


def test_the_ledger_of_a_recipe_is_shown(browser: Browser, project: dict[str, Any], patients: Path) -> None:
    ledger = ic.Ledger.create(patients.parent / "clinic", cap=2)
    ic.Ledger.create(patients.parent.parent / "outside")
    where = f"/api/projects/{project['id']}"
    assert browser.get(where + "/ledger").status == 404
    browser.patch(project, (["ledger"], "clinic"))
    told: dict[str, Any] = browser.get(where + "/ledger").json
    assert (told["spent"], told["cap"], len(told["entries"])) == (str(ledger.spent), "ε = 2", 1)
    job = browser.job(project, "publish", directory=str(patients.parent / "out"), format="csv")
    assert job["state"] == "done", job["error"]
    kinds = [entry["kind"] for entry in browser.get(where + "/ledger").json["entries"]]
    assert kinds == [entry.kind for entry in ledger.entries] == ["begun", "started", "made", "saved"]
    browser.patch(project, (["ledger"], "not-there"))
    assert browser.get(where + "/ledger").status == 422
    now = browser.get(where).json["version"]
    asked = {"version": now, "label": "", "set": [[["ledger"], "../outside"]]}
    assert browser.ask("PATCH", where + "/recipe", asked).status == 403


def test_a_column_that_is_written_as_its_role_alone_can_say_more(browser: Browser, project: dict[str, Any]) -> None:
    name = next(name for name, told in project["recipe"]["columns"].items() if told["role"] == "sensitive")
    browser.patch(project, (["columns", name], "sensitive"))
    change = {"name": "pram", "keep": 0.9}
    changed = browser.patch(project, (["columns", name, "change"], change))
    assert changed["recipe"]["columns"][name] == {"role": "sensitive", "change": change}
    assert changed["problems"] == []
    browser.patch(project, (["columns", name], "sensitive"))
    assert browser.patch(project, (["columns", name, "role"], "drop"))["recipe"]["columns"][name] == {"role": "drop"}
