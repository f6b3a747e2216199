"""The column that tells whose a row is, found by structure and not by its name."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.planning.profile import profile


def visits(people: int = 150, each: int = 4) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    rows = people * each
    return pl.DataFrame(
        {
            "x": np.repeat(rng.permutation(people) * 13 + 7, each),
            "year": np.repeat(rng.integers(1940, 2005, people), each),
            "sex": np.repeat(rng.choice(["F", "M"], people), each),
            "disease": rng.choice(list("abcdefg"), rows),
            "ward": rng.choice(["a", "b", "c"], rows),
        }
    ).sample(fraction=1, shuffle=True, seed=1)


def roles(frame: pl.DataFrame) -> dict[str, str]:
    return {column.name: column.role for column in profile(frame).columns}


def test_it_is_found_whatever_it_is_called() -> None:
    found = profile(visits())
    assert {column.name: column.role for column in found.columns}["x"] == "person"
    assert any("whose a row is?" in note for note in found.notes)


def test_one_row_each_has_none() -> None:
    assert "person" not in roles(visits().unique("x")).values()


def test_places_within_places_are_no_people() -> None:
    rng = np.random.default_rng(0)
    zips = rng.integers(10000, 10300, 3000)
    frame = pl.DataFrame({"zip": zips, "town": zips // 5, "county": zips // 50, "age": rng.integers(20, 80, 3000)})
    assert "person" not in roles(frame).values()


def test_the_proposed_recipe_counts_people(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import incrowd as ic
    from incrowd.planning.profile.writing import recipe_text

    source = tmp_path / "visits.csv"
    visits().write_csv(source)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe_text(profile(source), recipe_path=recipe))
    release = ic.Recipe.load(recipe).run()
    assert release.people is not None
    assert release.people.total == 150


def test_a_household_is_no_person() -> None:
    rng = np.random.default_rng(3)
    homes = rng.integers(0, 300, 900)
    frame = pl.DataFrame(
        {
            "pnr": rng.permutation(900),
            "haushalt_nr": homes,
            "zip": rng.integers(1000, 1020, 300)[homes],
            "rooms": rng.integers(1, 6, 300)[homes],
            "age": rng.integers(0, 90, 900),
        }
    )
    found = roles(frame)
    assert found["haushalt_nr"] == "household"
    assert "person" not in found.values()
    assert roles(frame.rename({"haushalt_nr": "x"}))["x"] == "person"  # by structure alone, it looks like one
