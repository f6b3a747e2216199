"""What is published names no value that only people have who are not published."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.forms.generalized import ShowGeneralized
from incrowd.planning.profile import profile
from incrowd.planning.profile.writing import recipe_text
from incrowd.publishing.opening.open_release import open_release
from incrowd.publishing.recipe import Recipe


def cities(rows: int = 60) -> pl.DataFrame:
    """People of whom everybody lives elsewhere, and has an illness of their own that tells who is published."""
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "city": [f"Y{number:03d}burg" for number in rng.permutation(rows)],
            "weight": np.round(rng.normal(70, 10, rows), 5),
            "ill": [f"ill{row}ill" for row in range(rows)],
        }
    )


def told(place: Path) -> str:
    return "\n".join(file.read_text() for file in sorted(place.iterdir()))


def unpublished(frame: pl.DataFrame, files: str) -> pl.DataFrame:
    published = {int(row) for row in re.findall(r"ill(\d+)ill", files)}
    return frame.filter(~pl.Series([row in published for row in range(frame.height)]))


@pytest.mark.parametrize("labels", ["region", "hierarchy", "tight"])
def test_of_a_sample_labels_name_nobody_who_was_not_drawn(labels: str, tmp_path: Path) -> None:
    frame = cities()
    table = ic.read(frame, quasi=["city", "weight"], sensitive=["ill"])
    release = ic.publish(table, ic.KAnonymity(3), method=ic.Mondrian(labels=labels), sample=0.5, seed=4)
    release.save(tmp_path / "out", format="csv")
    files = told(tmp_path / "out")
    others = unpublished(frame, files)
    assert others.height == 60 - release.rows > 10
    assert not [city for city in others["city"] if city in files]
    assert not [weight for weight in others["weight"] if str(weight) in files]
    assert open_release(tmp_path / "out", original=frame).rows == release.rows


def test_a_profile_s_recipe_is_published_without_the_values_of_people_who_are_withheld(tmp_path: Path) -> None:
    towns = ["Oslo"] * 12 + ["Rome"] * 12 + ["Lonelyville"]
    frame = pl.DataFrame(
        {"city": towns, "age": [30, 31, 32, 33, 34] * 5, "ill": ["flu", "cold", "gout", "flu", "x"] * 5}
    )
    frame.write_csv(tmp_path / "people.csv")
    recipe = tmp_path / "people.recipe.toml"
    recipe.write_text(recipe_text(profile(tmp_path / "people.csv"), recipe_path=recipe))
    described = tomllib.loads(recipe.read_text())["columns"]["city"]
    assert described == {
        "role": "quasi",
        "hierarchy": {"kind": "categories", "taken_from": "data", "tree": ["Lonelyville", "Oslo", "Rome"]},
    }
    found = Recipe.load(recipe)
    method = ic.FullDomain(max_withheld=0.2, max_levels={"city": 0})
    release = ic.publish(found.table(), ic.KAnonymity(4), method=method)
    assert release.withheld == 1
    release.save(tmp_path / "out")
    assert "Lonelyville" not in told(tmp_path / "out")
    published = Recipe.load(tmp_path / "out" / "recipe.toml")
    assert published.hierarchies["city"] == ic.Categories.from_tree(["Oslo", "Rome"], taken_from="release")
    again = ic.publish(published.table(), ic.KAnonymity(4), method=method)
    assert again.to_polars().equals(release.to_polars())
    assert open_release(tmp_path / "out", original=tmp_path / "people.csv").rows == 24


def test_what_the_owner_declares_is_published_whole(tmp_path: Path) -> None:
    frame = pl.DataFrame({"city": ["Oslo"] * 5 + ["Rome"] * 5, "ill": ["flu", "cold"] * 5})
    declared = ic.Categories.from_tree(["Oslo", "Paris", "Rome"])
    table = ic.read(frame, quasi=["city"], sensitive=["ill"], hierarchies={"city": declared})
    ic.publish(table, ic.KAnonymity(10)).save(tmp_path / "out", format="csv")
    assert "Paris" in (tmp_path / "out" / "recipe.toml").read_text()


def test_labels_that_stand_for_too_little_are_made_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected confidence wants labels that many people might have: where names are left out, they hold fewer."""
    rng = np.random.default_rng(228)
    rows, places, illnesses = (int(rng.integers(*bounds)) for bounds in ((4, 40), (3, 30), (1, 5)))
    rng.choice(4)
    frame = pl.DataFrame(
        {
            "city": [f"Y{number:02d}" for number in rng.integers(0, places, rows)],
            "ill": [f"i{number}" for number in rng.integers(0, illnesses, rows)],
        }
    )
    table = ic.read(frame, quasi=["city"], sensitive=["ill"])
    made: list[bool] = []
    wider = ShowGeneralized.show_wider

    def counted(*given: object, **more: object) -> object:
        found = wider(*given, **more)  # type: ignore[arg-type]
        made.append(found is not None)
        return found

    monkeypatch.setattr(ShowGeneralized, "show_wider", counted)
    release = ic.publish(table, ic.ExpectedConfidence(), sample=0.4, seed=228)
    assert made == [True]
    assert release.guarantees[0].basis == "verified"
