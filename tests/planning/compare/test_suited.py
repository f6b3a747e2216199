"""A recipe that names nothing to compare is compared with what suits its table; a winner is shown once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incrowd as ic
from incrowd.cli.app import app
from incrowd.planning.compare import candidates_of
from incrowd.planning.compare.candidates import Candidate
from incrowd.publishing.recipe import Recipe
from incrowd.report.comparison import _winners


def recipe(
    place: Path, columns: str = 'age = "quasi"\nsex = "quasi"\noccupation = "sensitive"', more: str = ""
) -> Path:
    ic.datasets.census(300).select("age", "sex", "occupation").write_csv(place / "table.csv")
    path = place / "r.toml"
    head = 'incrowd = 1\nmodels = [{ name = "k-anonymity", k = 3 }]\n[source]\npath = "table.csv"\n'
    path.write_text(f"{head}[columns]\n{columns}\n")
    return path


def methods(found: list[Candidate]) -> set[str]:
    return {candidate.recipe.get("method", {"name": "mondrian"})["name"] for candidate in found}


def test_families_that_suit_are_tried(tmp_path: Path) -> None:
    found = candidates_of([recipe(tmp_path)])
    assert {"mondrian", "full-domain", "local-recoding", "microaggregation", "anatomy", "slicing"} <= methods(found)
    assert len({candidate.name for candidate in found}) == len(found)
    for candidate in found:
        Recipe.from_dict(dict(candidate.recipe), base=candidate.base)  # each is a recipe


def test_a_table_of_people_is_not_put_into_buckets(tmp_path: Path) -> None:
    path = recipe(tmp_path, 'age = "quasi"\nsex = "quasi"\noccupation = "keep"')
    assert not {"anatomy", "slicing", "marginals"} & methods(candidates_of([path]))


def test_several_recipes_are_compared_as_they_are(tmp_path: Path) -> None:
    one = recipe(tmp_path)
    other = one.with_name("other.toml")
    other.write_text(one.read_text())
    assert len(candidates_of([one, other])) == 2


def entry(name: str, risk: float, loss: float, worst: float = 0.1) -> dict[str, Any]:
    return {"name": name, "risk": risk, "loss": loss, "risks": {"linkability": worst}}


def test_one_candidate_is_one_winner() -> None:
    assert [heading for heading, _ in _winners([entry("a", 0.1, 0.1)])] == ["Least risk, best of both, least loss"]


def test_what_an_attack_always_beats_is_not_the_best_of_both() -> None:
    won = dict(_winners([entry("a", 0.5, 0.0, worst=1.0), entry("b", 0.1, 0.4)]))
    assert won["Least loss"]["name"] == "a"
    assert won["Least risk, best of both"]["name"] == "b"
    assert "both" not in "".join(heading for heading, _ in _winners([entry("a", 0.5, 0.0, worst=1.0)]))
    assert _winners([]) == []


@pytest.mark.parametrize(("command", "said"), [("audit", "[[queries]]"), ("compare", "[[compare]]")])
def test_help_shows_what_it_says(command: str, said: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
    assert said in shown
