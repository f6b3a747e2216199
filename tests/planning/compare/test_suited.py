"""A recipe that names nothing to compare is compared with what suits its table; a winner is shown once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import incrowd as ic
from incrowd.cli.app import app
from incrowd.planning.compare import candidates_of
from incrowd.planning.compare.candidates import Candidate
from incrowd.planning.compare.winning import Point, verdict, winners
from incrowd.publishing.recipe import Recipe
from tests.cli.command import incrowd


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


def test_one_candidate_is_one_winner() -> None:
    points = [Point("a", 0.1, 0.1, 0.2), Point("b", 0.2, 0.3, 0.2)]
    assert winners(points) == {"a": ["least risk", "best of both", "least loss"]}
    assert list(verdict(points)) == ["a is best in everything: of all, it has the least risk and the least loss."]
    assert winners([]) == {}
    assert list(verdict([])) == []


def test_what_an_attack_always_beats_wins_nothing() -> None:
    points = [Point("a", 0.5, 0.0, worst=1.0, attack="linkage"), Point("b", 0.1, 0.4, 0.1), Point("c", 0.6, 0.3, 0.9)]
    assert winners(points) == {"b": ["least risk", "best of both"], "c": ["least loss"]}
    assert list(verdict(points)) == [
        "Least risk and best of both: b.",
        "Least loss: c.",
        "An attack (linkage) always succeeds against a: not among the winners.",
    ]


def test_where_an_attack_always_beats_all_it_is_said() -> None:
    points = [Point("a", 0.5, 0.0, worst=1.0), Point("b", 0.6, 0.4, worst=1.0)]
    assert winners(points) == {"a": ["least risk", "best of both", "least loss"]}
    assert "An attack always succeeds against each of them" in list(verdict(points))[-1]


POINTS = st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.sampled_from([0.2, 0.9, 1.0])), min_size=1, max_size=8)


@given(POINTS)
def test_winners_are_those_of_a_naive_search(drawn: list[tuple[int, int, float]]) -> None:
    points = [Point(f"c{place}", risk, loss, worst) for place, (risk, loss, worst) in enumerate(drawn)]
    won = winners(points)
    allowed = [one for one in points if one.worst < 0.999] or points
    assert sorted(title for titles in won.values() for title in titles) == ["best of both", "least loss", "least risk"]
    by_name = {one.name: one for one in points}
    for name, titles in won.items():
        one = by_name[name]
        assert one in allowed
        if "least risk" in titles:
            assert one.risk == min(other.risk for other in allowed)
        if "least loss" in titles:
            assert one.loss == min(other.loss for other in allowed)
        for other in allowed:
            better = other.risk <= one.risk and other.loss <= one.loss
            assert not (better and (other.risk, other.loss) != (one.risk, one.loss))


def test_a_comparison_in_which_nothing_can_be_made_is_one_error(tmp_path: Path) -> None:
    path = recipe(tmp_path, 'age = "quasi"\nsex = "identifier"\noccupation = "sensitive"')
    done = incrowd("compare", path, "--output", tmp_path / "out", "--jobs", 1)
    assert done.code == 3
    assert done.err.count("names people and repeats") == 1
    assert not (tmp_path / "out" / "comparison.html").exists()


def test_the_winners_are_told_with_the_lines_to_write(tmp_path: Path) -> None:
    done = incrowd("compare", recipe(tmp_path), "--output", tmp_path / "out", "--jobs", 1)
    assert done.code == 0
    told = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    page = (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    worst = {entry["name"]: max(entry["risks"].values()) for entry in told["candidates"]}
    assert any(value < 0.999 for value in worst.values())
    assert all(worst[name] < 0.999 for name in told["winners"])
    assert page.count('class="card"') == len(told["winners"])
    assert all(sentence.split(" ")[0] in done.out for sentence in told["verdict"])
    assert "write in the recipe:" in done.out or "the recipe as it is" in done.out


@pytest.mark.parametrize(("command", "said"), [("audit", "[[queries]]"), ("compare", "[[compare]]")])
def test_help_shows_what_it_says(command: str, said: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
    assert said in shown
